#include <pitsaw/net/address.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <span>
#include <system_error>

namespace pitsaw::inline v0 {
namespace {

using group_list = std::array<std::uint16_t, 8>;

/// A whole number without sign, at most `most`.
auto number(std::string_view text, int base, std::uint32_t most) noexcept -> std::optional<std::uint32_t> {
    std::uint32_t value = 0;
    auto const* const end = text.data() + text.size();
    auto const [stopped, error] = std::from_chars(text.data(), end, value, base);
    if (text.empty() || error != std::errc() || stopped != end || value > most) return std::nullopt;
    return value;
}

auto parse_v4(std::string_view text) noexcept -> std::optional<std::array<std::uint8_t, 4>> {
    std::array<std::uint8_t, 4> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        auto const end = i + 1 < bytes.size() ? text.find('.') : text.size();
        if (end == std::string_view::npos) return std::nullopt;
        auto const part = text.substr(0, end);
        // A leading zero means octal to some readers, so it is no number here.
        if (part.size() > 3 || (part.size() > 1 && part.front() == '0')) return std::nullopt;
        auto const value = number(part, 10, 255);
        if (!value) return std::nullopt;
        bytes[i] = static_cast<std::uint8_t>(*value);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return bytes;
}

/// The groups between colons, the last of which may be an IPv4 address. Returns how many there are.
auto parse_groups(std::string_view text, std::span<std::uint16_t> into) noexcept
    -> std::optional<std::size_t> {
    if (text.empty()) return 0;
    for (std::size_t count = 0;;) {
        auto const end = std::min(text.find(':'), text.size());
        auto const part = text.substr(0, end);
        bool const is_last = end == text.size();
        if (is_last && part.find('.') != std::string_view::npos) {
            auto const bytes = parse_v4(part);
            if (!bytes || count + 2 > into.size()) return std::nullopt;
            into[count++] = static_cast<std::uint16_t>((*bytes)[0] << 8 | (*bytes)[1]);
            into[count++] = static_cast<std::uint16_t>((*bytes)[2] << 8 | (*bytes)[3]);
            return count;
        }
        auto const value = number(part, 16, 0xFFFF);
        if (!value || part.size() > 4 || count == into.size()) return std::nullopt;
        into[count++] = static_cast<std::uint16_t>(*value);
        if (is_last) return count;
        text.remove_prefix(end + 1);
    }
}

auto parse_v6(std::string_view text) noexcept -> std::optional<group_list> {
    group_list groups{};
    auto const gap = text.find("::");
    if (gap == std::string_view::npos) {
        if (parse_groups(text, groups) != groups.size()) return std::nullopt;
        return groups;
    }
    auto const front = text.substr(0, gap);
    if (front.find('.') != std::string_view::npos) return std::nullopt; // IPv4 stands last only
    group_list back{};
    auto const before = parse_groups(front, groups);
    auto const after = parse_groups(text.substr(gap + 2), back);
    if (!before || !after || *before + *after >= groups.size()) return std::nullopt;
    std::copy_n(back.begin(), *after, groups.end() - static_cast<std::ptrdiff_t>(*after));
    return groups;
}

auto print_v4(std::span<std::byte const> bytes) -> std::string {
    std::string text;
    for (auto const byte : bytes.first(4))
        text += (text.empty() ? "" : ".") + std::to_string(std::to_integer<int>(byte));
    return text;
}

auto print_v6(std::span<std::byte const> bytes) -> std::string {
    group_list groups{};
    for (std::size_t i = 0; i < groups.size(); ++i)
        groups[i] = static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes[2 * i]) << 8 |
                                               std::to_integer<unsigned>(bytes[2 * i + 1]));
    bool const is_mapped =
        std::all_of(groups.begin(), groups.begin() + 5, [](auto g) { return g == 0; }) && groups[5] == 0xFFFF;
    if (is_mapped) return "::ffff:" + print_v4(bytes.subspan(12));
    std::size_t gap = groups.size(), gap_length = 1; // the first longest run of at least two zeros
    for (std::size_t i = 0; i < groups.size(); ++i) {
        auto const run =
            static_cast<std::size_t>(std::find_if(groups.begin() + static_cast<std::ptrdiff_t>(i),
                                                  groups.end(), [](auto g) { return g != 0; }) -
                                     groups.begin()) -
            i;
        if (run > gap_length) gap = i, gap_length = run;
    }
    std::string text;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i == gap) {
            text += "::";
            i += gap_length - 1;
            continue;
        }
        char digits[4];
        auto const end = std::to_chars(digits, digits + 4, groups[i], 16).ptr;
        if (!text.empty() && text.back() != ':') text += ':';
        text.append(digits, end);
    }
    return text;
}

} // namespace

io_result<address> address::parse(std::string_view text) noexcept {
    if (auto const bytes = parse_v4(text)) return v4(*bytes);
    std::uint32_t scope = 0;
    if (auto const percent = text.find('%'); percent != std::string_view::npos) {
        auto const value = number(text.substr(percent + 1), 10, UINT32_MAX);
        if (!value) return std::unexpected(std::make_error_code(std::errc::invalid_argument));
        scope = *value;
        text = text.substr(0, percent);
    }
    auto const groups = parse_v6(text);
    if (!groups) return std::unexpected(std::make_error_code(std::errc::invalid_argument));
    std::array<std::uint8_t, 16> bytes{};
    for (std::size_t i = 0; i < groups->size(); ++i) {
        bytes[2 * i] = static_cast<std::uint8_t>((*groups)[i] >> 8);
        bytes[2 * i + 1] = static_cast<std::uint8_t>((*groups)[i]);
    }
    return v6(bytes, scope);
}

address address::v4(std::array<std::uint8_t, 4> bytes) noexcept {
    socket_address made{.family = address_family::ipv4};
    std::memcpy(made.bytes.data(), bytes.data(), bytes.size());
    return address(made);
}

address address::v6(std::array<std::uint8_t, 16> bytes, std::uint32_t scope) noexcept {
    socket_address made{.family = address_family::ipv6, .scope = scope};
    std::memcpy(made.bytes.data(), bytes.data(), bytes.size());
    return address(made);
}

bool address::is_loopback() const noexcept {
    if (value_.family == address_family::ipv4) return value_.bytes[0] == std::byte{127};
    std::array<std::byte, 16> one{};
    one[15] = std::byte{1};
    return value_.family == address_family::ipv6 && value_.bytes == one;
}

std::string address::to_string() const {
    if (value_.family == address_family::none) return "none";
    if (value_.family == address_family::ipv4) return print_v4(value_.bytes);
    auto text = print_v6(value_.bytes);
    return value_.scope == 0 ? text : text + "%" + std::to_string(value_.scope);
}

} // namespace pitsaw::inline v0
