#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace pitsaw::inline v0::http {

// Which characters may stand where.
inline constexpr std::uint8_t is_token = 1;  // RFC 9110 section 5.6.2
inline constexpr std::uint8_t is_field = 2;  // in a value: visible, space, tab, and bytes above 127
inline constexpr std::uint8_t is_target = 4; // RFC 3986: visible ASCII
inline constexpr std::uint8_t is_host = 8;   // RFC 3986 section 3.2.2, with a port

inline constexpr auto character_kinds = [] {
    std::array<std::uint8_t, 256> kinds{};
    for (unsigned c = 0; c < 256; ++c) {
        bool const is_alphanumeric =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        auto const is_one_of = [c](std::string_view set) {
            return c != 0 && c < 128 && set.find(static_cast<char>(c)) != std::string_view::npos;
        };
        if (is_alphanumeric || is_one_of("!#$%&'*+-.^_`|~")) kinds[c] |= is_token;
        if (c == '\t' || (c >= ' ' && c != 127)) kinds[c] |= is_field;
        if (c > ' ' && c < 127) kinds[c] |= is_target;
        if (is_alphanumeric || is_one_of("-._~!$&'()*+;=:[]%")) kinds[c] |= is_host;
    }
    return kinds;
}();

[[nodiscard]] constexpr bool is_kind(char const c, std::uint8_t const kind) noexcept {
    return (character_kinds[static_cast<unsigned char>(c)] & kind) != 0;
}
[[nodiscard]] constexpr bool is_all(std::string_view const text, std::uint8_t const kind) noexcept {
    std::uint8_t all = kind;
    for (char const c : text) all &= character_kinds[static_cast<unsigned char>(c)];
    return all == kind;
}

/// Of a hexadecimal digit; -1: it is none.
[[nodiscard]] constexpr int digit_of(char const c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// Without white space at both ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// Cuts the first element off a list between commas.
[[nodiscard]] constexpr std::string_view take_element(std::string_view& list) noexcept {
    auto const comma = list.find(',');
    auto const element = trimmed(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    return element;
}

} // namespace pitsaw::inline v0::http
