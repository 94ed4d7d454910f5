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
#include <optional>
#include <utility>

namespace pitsaw::cli {
namespace {

constexpr int tries = 20; // a worker that writes faster than we read leaves nothing whole

auto fail(std::string const& why) -> int {
    std::fprintf(stderr, "pitsaw record: %s\n", why.c_str());
    return 1;
}

/// `bytes` from `at` on, in words; empty: gone.
auto words_at(other_process const& of, std::uint64_t at, std::uint64_t bytes) -> std::vector<std::uint64_t> {
    std::vector<std::uint64_t> words((bytes + 7) / 8);
    auto const to = std::as_writable_bytes(std::span(words)).first(bytes);
    if (!of.read(at, to)) words.clear();
    return words;
}

struct found_image {
    std::optional<flight_image> image;
    std::string why; // there is none
};

/// Copies the header, then all that it speaks of, then looks how far the writer has come meanwhile.
auto copy_of(other_process const& of, memory_range const& where) -> found_image {
    auto const head = words_at(of, where.begin, flight_header::bytes);
    if (head.empty()) return {{}, "it went while it was read"};
    auto const& header = *reinterpret_cast<flight_header const*>(head.data());
    auto const used = header.inputs_at + header.inputs.end.load(std::memory_order_relaxed); // a copy
    if (used > where.end - where.begin) return {{}, "a record is damaged"};
    auto words = words_at(of, where.begin, used);
    if (words.empty()) return {{}, "it went while it was read"};
    std::copy(head.begin(), head.end(), words.begin()); // what this says was there before the copy began
    auto image = flight_image::make(std::move(words), used);
    if (!image) return {{}, "in a record of it: " + image.error()};
    auto const after = words_at(of, where.begin, flight_header::bytes);
    if (after.empty()) return {{}, "it went while it was read"};
    image->forget_before(
        reinterpret_cast<flight_header const*>(after.data())->head.load(std::memory_order_relaxed)); // a copy
    return {std::move(*image), {}};
}

auto is_recorder(other_process const& of, memory_range const& where) -> bool {
    if (where.end - where.begin < 2 * flight_header::bytes) return false;
    std::array<char, 16> begins{};
    return of.read(where.begin, std::as_writable_bytes(std::span(begins))) &&
           begins == flight_header::magic_now;
}

void print(flight_image const& image, std::string const& whose, other_process const* live) {
    auto const records = image.records();
    auto const& header = image.header();
    std::printf("%s, driver %.*s: the last %zu of %" PRIu64 " records, the oldest first\n", whose.c_str(),
                static_cast<int>(header.driver.size()), header.driver.data(), records.size(), image.pushed());
    if (header.inputs_max != 0)
        std::printf("inputs: %" PRIu64 " calls in %zu of %" PRIu64 " bytes%s\n",
                    header.inputs.entries.load(std::memory_order_relaxed), image.inputs().size(), // a copy
                    header.inputs_max,
                    header.inputs.is_full.load(std::memory_order_relaxed) != 0 // a copy
                        ? "; full, so that what came later cannot be executed again"
                        : "");
    for (auto const& each : records) {
        auto const place = live != nullptr && each.kind == flight_kind::ending ? live->place_at(each.subject)
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
    for (auto const& each : *ranges) {
        if (!is_recorder(of, each)) continue;
        ++workers;
        found_image found;
        for (int i = 0; i < tries && (!found.image || found.image->records().empty()); ++i)
            found = copy_of(of, each);
        if (!found.image) return fail("process " + std::to_string(number) + ": " + found.why);
        auto const nth = "worker " + std::to_string(workers) + " of process " + std::to_string(number);
        if (raw.empty())
            print(*found.image, nth, &of);
        else if (auto const status =
                     save(*found.image, workers == 1 ? raw : raw + "." + std::to_string(workers));
                 status != 0)
            return status;
    }
    if (workers != 0) return 0;
    return fail("process " + std::to_string(number) +
                " has no flight recorder: it runs no runtime of pitsaw, " +
                "or one with runtime_options::recorder.records = 0");
}

} // namespace

auto record(record_options const& options) -> int {
    auto const is_number = std::ranges::all_of(options.from, [](char c) { return c >= '0' && c <= '9'; }) &&
                           options.from.size() < 10;
    if (is_number) return record_of_process(std::stoi(options.from), options.raw);
    auto const image = flight_image::read(options.from);
    if (!image) return fail(image.error());
    if (!options.raw.empty()) return save(*image, options.raw);
    print(*image, options.from, nullptr);
    return 0;
}

} // namespace pitsaw::cli
