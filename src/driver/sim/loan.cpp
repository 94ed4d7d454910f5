#include "driver/sim/loan.hpp"

#include <pitsaw/base/check.hpp>
#include <pitsaw/io/buffer.hpp>

#include <cstdio>
#include <cstring>
#include <string_view>

namespace pitsaw::inline v0 {
namespace {

constexpr auto poison = std::byte{0xA5};

enum class use : std::uint8_t { none, written, read };

auto use_of_buffer(op_code code, op_option options) noexcept -> use {
    switch (code) {
    case op_code::receive:
        return has(options, op_option::pooled) ? use::none : use::written;
    case op_code::send:
    case op_code::connect:
        return use::read;
    case op_code::nop:
    case op_code::watch:
    case op_code::accept:
    case op_code::shutdown:
    case op_code::close:
        return use::none;
    }
    return use::none;
}

auto hash_of(std::span<std::byte const> bytes) noexcept -> std::uint64_t {
    auto hash = std::uint64_t{0xcbf29ce484222325};
    auto const mix = [&](std::uint64_t word) {
        hash = (hash ^ word) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 29;
    };
    while (bytes.size() >= sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), sizeof word);
        mix(word);
        bytes = bytes.subspan(sizeof word);
    }
    for (auto const byte : bytes) mix(static_cast<std::uint64_t>(byte) + 0x100);
    return hash;
}

auto is_poisoned(std::span<std::byte const> bytes) noexcept -> bool {
    // All equal to the first, and the first is right: memcmp of the range with itself, shifted by one.
    return bytes.empty() ||
           (bytes[0] == poison && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

auto hash_of_source(operation const& op) noexcept -> std::uint64_t {
    if (!has(op.options, op_option::vectored)) return hash_of(buffer_of(op));
    auto hash = hash_of(std::as_bytes(pieces_of(op)));
    for (auto const& piece : pieces_of(op))
        hash = hash * 31 + hash_of({static_cast<std::byte const*>(piece.address), piece.length});
    return hash;
}

/// The operation may have been overwritten, so the report is of what was lent.
[[noreturn]] void report(op_code code, descriptor target, char const* what) noexcept {
    char text[160];
    std::snprintf(
        text, sizeof text, "driver law 2 (loan): %s of a %s on descriptor %u.%u while it was in flight", what,
        name(code).data(), static_cast<unsigned>(target.index), static_cast<unsigned>(target.generation));
    check_failed(text, std::source_location::current());
}

} // namespace

void sim_loan::begin(operation& op) noexcept {
    code_ = op.code;
    options_ = op.options;
    length_ = op.length;
    target_ = op.target;
    address_ = op.address;
    on_event_ = op.on_event;
    switch (use_of_buffer(op.code, op.options)) {
    case use::none:
        break;
    case use::written:
        if (op.length != 0) std::memset(op.address, static_cast<int>(poison), op.length);
        break;
    case use::read:
        hash_ = hash_of_source(op);
        break;
    }
}

void sim_loan::verify(operation const& op) const noexcept {
    auto const same = op.code == code_ && op.options == options_ && op.length == length_ &&
                      op.target == target_ && op.address == address_ && op.on_event == on_event_;
    if (!same) report(code_, target_, "the owner changed a field");
    switch (use_of_buffer(code_, options_)) {
    case use::none:
        break;
    case use::written:
        if (!is_poisoned(buffer_of(op))) report(code_, target_, "the owner wrote to the buffer");
        break;
    case use::read:
        if (hash_of_source(op) != hash_) report(code_, target_, "the owner changed the bytes");
        break;
    }
}

} // namespace pitsaw::inline v0
