#include "loop/flight_image.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace pitsaw::inline v0 {
namespace {

auto what_is_wrong(flight_header const& header, std::size_t const bytes) -> std::string {
    if (header.magic != flight_header::magic_now) return "it is no record of pitsaw";
    if (header.version != flight_header::version_now)
        return "it is a record of another version: " + std::to_string(header.version) +
               ", this program knows " + std::to_string(flight_header::version_now);
    auto const ring_bytes = std::uint64_t{header.records} * sizeof(flight_record);
    auto const has_ring = std::has_single_bit(header.records) && header.records_at == flight_header::bytes &&
                          header.inputs_at >= header.records_at + ring_bytes && header.inputs_at <= bytes;
    if (!has_ring || header.inputs.end.load(std::memory_order_relaxed) > bytes - header.inputs_at) // a copy
        return "it is cut off or damaged";
    return {};
}

} // namespace

auto flight_image::make(std::vector<std::uint64_t> words, std::size_t const bytes)
    -> std::expected<flight_image, std::string> {
    if (bytes < flight_header::bytes) return std::unexpected("it is no record of pitsaw");
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
    std::vector<std::uint64_t> words;
    std::size_t bytes = 0;
    for (std::size_t count = 1; count != 0; bytes += count) {
        words.resize(bytes / sizeof(std::uint64_t) + (std::size_t{1} << 16));
        auto* const to = reinterpret_cast<std::byte*>(words.data()) + bytes;
        count = std::fread(to, 1, words.size() * sizeof(std::uint64_t) - bytes, file.get());
    }
    auto made = make(std::move(words), bytes);
    if (!made) return std::unexpected(path + ": " + made.error());
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
