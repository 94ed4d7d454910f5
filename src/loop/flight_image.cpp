#include "loop/flight_image.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <tuple>
#include <utility>

namespace pitsaw::inline v0 {
namespace {

constexpr auto cut_off = "it is cut off or damaged";
constexpr auto no_record = "it is no record of pitsaw";
constexpr auto gone = "it went while it was read";
constexpr auto another_came = "another came to its place while it was read";

/// The first page of a recorder's memory, or all of it.
auto header_of(std::vector<std::uint64_t> const& words) noexcept -> flight_header const& {
    return *reinterpret_cast<flight_header const*>(words.data());
}

auto bytes_of(std::vector<std::uint64_t>& words) noexcept { return std::as_writable_bytes(std::span(words)); }

auto page_for_a_header() -> std::vector<std::uint64_t> {
    return std::vector<std::uint64_t>(flight_header::bytes / sizeof(std::uint64_t));
}

auto words_for(std::uint64_t const bytes) -> std::vector<std::uint64_t> {
    return std::vector<std::uint64_t>((bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
}

/// What everybody asks before he uses a size of a header's, which stands before at most so many bytes.
auto what_is_wrong(flight_header const& header, std::uint64_t const bytes) -> std::string {
    if (header.magic != flight_header::magic_now) return no_record;
    if (header.version != flight_header::version_now)
        return "it is a record of another version: " + std::to_string(header.version) +
               ", this program knows " + std::to_string(flight_header::version_now);
    auto const ring_bytes = std::uint64_t{header.records} * sizeof(flight_record);
    auto const has_ring =
        std::has_single_bit(header.records) && header.records <= flight_header::records_max &&
        header.records_at == flight_header::ring_at && header.inputs_at >= header.records_at + ring_bytes &&
        header.inputs_at % flight_header::bytes == 0;
    auto const bytes_there = std::min(bytes, flight_header::bytes_max);
    if (!has_ring || header.inputs_at > bytes_there) return cut_off;
    auto const end = header.inputs.end.load(std::memory_order_relaxed); // a copy
    return end > header.inputs_max || end > bytes_there - header.inputs_at ? cut_off : "";
}

/// Of a header with which nothing is wrong.
auto used_bytes(flight_header const& header) noexcept -> std::uint64_t {
    return header.inputs_at + header.inputs.end.load(std::memory_order_relaxed); // a copy
}

/// Whether what was `before` has only been written on since: a runtime may end, and another's recorder may
/// come to its place.
auto is_continued(flight_header const& before, flight_header const& after) noexcept -> bool {
    auto const set_once = [](flight_header const& of) {
        return std::tie(of.magic, of.version, of.records, of.records_at, of.inputs_at, of.inputs_max,
                        of.driver);
    };
    auto const relaxed = std::memory_order_relaxed; // copies
    return set_once(before) == set_once(after) && before.head.load(relaxed) <= after.head.load(relaxed) &&
           before.inputs.end.load(relaxed) <= after.inputs.end.load(relaxed);
}

} // namespace

auto flight_image::make(std::vector<std::uint64_t> words, std::size_t const bytes)
    -> std::expected<flight_image, std::string> {
    if (bytes < flight_header::bytes || bytes > words.size() * sizeof(std::uint64_t))
        return std::unexpected(no_record);
    flight_image made;
    made.words_ = std::move(words);
    made.bytes_ = bytes;
    if (auto wrong = what_is_wrong(made.header(), bytes); !wrong.empty()) return std::unexpected(wrong);
    return made;
}

auto flight_image::read(std::string const& path) -> std::expected<flight_image, std::string> {
    struct closer {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, closer> const file(std::fopen(path.c_str(), "rb"));
    if (!file) return std::unexpected(path + ": " + std::strerror(errno));
    auto const refused = [&](std::string const& why) {
        auto const error = errno;
        return std::unexpected(path + ": " + (std::ferror(file.get()) != 0 ? std::strerror(error) : why));
    };
    auto head = page_for_a_header();
    if (std::fread(head.data(), flight_header::bytes, 1, file.get()) != 1) return refused(no_record);
    if (auto const wrong = what_is_wrong(header_of(head), flight_header::bytes_max); !wrong.empty())
        return refused(wrong);
    auto const used = used_bytes(header_of(head));
    auto words = words_for(used);
    std::ranges::copy(head, words.begin());
    auto const rest = bytes_of(words).first(used).subspan(flight_header::bytes);
    if (std::fread(rest.data(), 1, rest.size(), file.get()) != rest.size()) return refused(cut_off);
    auto made = make(std::move(words), used);
    if (!made) return refused(made.error());
    return made;
}

auto flight_image::copy(reader const& from, std::uint64_t const bytes)
    -> std::expected<flight_image, std::string> {
    auto head = page_for_a_header();
    if (bytes < flight_header::bytes) return std::unexpected(no_record);
    if (!from(0, bytes_of(head))) return std::unexpected(gone);
    if (auto wrong = what_is_wrong(header_of(head), bytes); !wrong.empty()) return std::unexpected(wrong);
    auto const used = used_bytes(header_of(head));
    auto words = words_for(used);
    auto now = page_for_a_header();
    if (!from(0, bytes_of(now))) return std::unexpected(gone); // again: memory took its time
    if (!is_continued(header_of(head), header_of(now))) return std::unexpected(another_came);
    if (!from(0, bytes_of(words).first(used))) return std::unexpected(gone);
    // Sizes that were checked, and a head that was there before the copy began; the slots are the copy's.
    std::copy_n(head.begin(), sizeof(flight_header) / sizeof(std::uint64_t), words.begin());
    auto const relaxed = std::memory_order_relaxed; // copies
    reinterpret_cast<flight_header*>(words.data())->head.store(header_of(now).head.load(relaxed), relaxed);
    if (!from(0, bytes_of(now))) return std::unexpected(gone);
    auto made = make(std::move(words), used);
    if (!made) return made;
    if (!is_continued(made->header(), header_of(now))) return std::unexpected(another_came);
    made->forget_before(header_of(now).head.load(relaxed));
    return made;
}

auto flight_image::pushed() const noexcept -> std::uint64_t {
    return header().head.load(std::memory_order_relaxed); // a copy, which nobody writes
}

auto flight_image::slot(std::uint64_t const number) const noexcept -> std::size_t {
    auto const words_of_a_slot = flight_ring::words_of_a_slot;
    return header().records_at / sizeof(std::uint64_t) + (number & (header().records - 1)) * words_of_a_slot;
}

auto flight_image::records() const -> std::vector<flight_record> {
    std::vector<flight_record> found;
    auto const end = pushed();
    for (auto number = end - std::min<std::uint64_t>(end, header().records); number != end; ++number) {
        std::array<std::uint64_t, flight_ring::words_of_a_slot> copy;
        std::copy_n(words_.begin() + static_cast<std::ptrdiff_t>(slot(number)), copy.size(), copy.begin());
        auto const each = std::bit_cast<flight_record>(copy);
        if (each != flight_record()) found.push_back(each);
    }
    return found;
}

void flight_image::forget_before(std::uint64_t const pushed_since) noexcept {
    auto const size = std::uint64_t{header().records};
    if (pushed_since < size) return;
    auto const end = pushed();
    auto const first_whole = pushed_since - size + 1;
    for (auto number = end - std::min(end, size); number < std::min(first_whole, end); ++number)
        std::fill_n(words_.begin() + static_cast<std::ptrdiff_t>(slot(number)), flight_ring::words_of_a_slot,
                    std::uint64_t{0});
}

auto flight_image::inputs() const noexcept -> std::span<std::byte const> {
    auto const end = header().inputs.end.load(std::memory_order_relaxed); // a copy, which nobody writes
    return bytes().subspan(header().inputs_at, end);
}

auto flight_image::bytes() const noexcept -> std::span<std::byte const> {
    return std::as_bytes(std::span(words_)).first(bytes_);
}

} // namespace pitsaw::inline v0
