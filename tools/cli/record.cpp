#include "record.hpp"

#include "loop/flight_image.hpp"
#include "loop/flight_text.hpp"
#include "os/posix/whole_file.hpp"
#include "other_process.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <expected>
#include <utility>

namespace pitsaw::cli {
namespace {

constexpr int tries = 200; // a worker that writes faster than we read leaves nothing whole

auto fail(std::string const& why) -> int {
    std::fprintf(stderr, "pitsaw record: %s\n", why.c_str());
    return 1;
}

auto copy_of(other_process const& of, memory_range const& where) -> std::expected<flight_image, std::string> {
    auto const from = [&](std::uint64_t offset, std::span<std::byte> to) {
        return of.read(where.begin + offset, to);
    };
    auto made = flight_image::copy(from, where.end - where.begin);
    for (int i = 1; i < tries && (!made || (made->pushed() != 0 && made->records().empty())); ++i)
        made = flight_image::copy(from, where.end - where.begin);
    return made;
}

auto is_recorder(other_process const& of, memory_range const& where) -> bool {
    if (where.end - where.begin < flight_header::bytes) return false;
    std::array<char, 16> begins{};
    return of.read(where.begin, std::as_writable_bytes(std::span(begins))) &&
           begins == flight_header::magic_now;
}

/// Text of a process that may not be ours gives the terminal no orders.
auto printable(std::string text) -> std::string {
    std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
    return text;
}

void print(flight_image const& image, std::string const& whose, other_process const* live) {
    auto const records = image.records();
    auto const& header = image.header();
    auto const* const driver = header.driver.data();
    std::printf("%s, driver %s: the last %zu of %" PRIu64 " records, the oldest first\n", whose.c_str(),
                printable({driver, ::strnlen(driver, header.driver.size())}).c_str(), records.size(),
                image.pushed());
    if (header.inputs_max != 0)
        std::printf("inputs: %" PRIu64 " calls in %zu of %" PRIu64 " bytes%s\n",
                    header.inputs.entries.load(std::memory_order_relaxed), image.inputs().size(), // a copy
                    header.inputs_max,
                    header.inputs.is_full.load(std::memory_order_relaxed) != 0 // a copy
                        ? "; full, so that what came later cannot be executed again"
                        : "");
    for (auto const& each : records) {
        auto const place = live != nullptr && each.kind == flight_kind::ending
                               ? printable(live->place_at(each.subject))
                               : std::string();
        std::puts(to_text(each, place.empty() ? nullptr : place.c_str()).data());
    }
}

auto save(flight_image const& image, std::string const& path) -> int {
    if (auto const result = posix::write_whole_file(path.c_str(), image.bytes()); result != 0)
        return fail(path + ": " + std::strerror(-result));
    std::printf("%s: %zu bytes\n", path.c_str(), image.bytes().size());
    return 0;
}

auto record_of_process(int const number, std::string const& raw) -> int {
    other_process const of(number);
    auto const ranges = of.anonymous_memory();
    if (!ranges) return fail(ranges.error());
    int workers = 0;
    int status = 0;
    for (auto const& each : *ranges) {
        if (!is_recorder(of, each)) continue;
        ++workers;
        auto const nth = "worker " + std::to_string(workers) + " of process " + std::to_string(number);
        auto const image = copy_of(of, each);
        if (!image)
            status = fail(nth + ": " + image.error());
        else if (raw.empty())
            print(*image, nth, &of);
        else if (save(*image, workers == 1 ? raw : raw + "." + std::to_string(workers)) != 0)
            return 1;
    }
    if (workers != 0) return status;
    return fail("process " + std::to_string(number) +
                " has no flight recorder: it runs no runtime of pitsaw, " +
                "or one with runtime_options::recorder.records = 0");
}

} // namespace

auto record(record_options const& options) -> int {
    auto const is_number = !options.from.empty() &&
                           std::ranges::all_of(options.from, [](char c) { return c >= '0' && c <= '9'; }) &&
                           options.from.size() < 10;
    if (is_number) return record_of_process(std::stoi(options.from), options.raw);
    auto const image = flight_image::read(options.from);
    if (!image) return fail(image.error());
    if (!options.raw.empty()) return save(*image, options.raw);
    print(*image, options.from, nullptr);
    return 0;
}

} // namespace pitsaw::cli
