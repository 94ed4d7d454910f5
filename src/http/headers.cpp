#include <pitsaw/http/headers.hpp>

#include "http/characters.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <system_error>

namespace pitsaw::inline v0::http {
namespace {

constexpr char to_lower(char const c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

} // namespace

bool is_same_name(std::string_view const a, std::string_view const b) noexcept {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                              [](char x, char y) { return to_lower(x) == to_lower(y); });
}

bool has_token(std::string_view list, std::string_view const token) noexcept {
    while (!list.empty())
        if (is_same_name(take_element(list), token)) return true;
    return false;
}

bool is_hop_by_hop(std::string_view const name) noexcept {
    constexpr std::array<std::string_view, 7> names{
        "connection", "keep-alive", "te", "trailer", "upgrade", "transfer-encoding", "content-length"};
    constexpr std::string_view proxy = "proxy-";
    return is_same_name(name.substr(0, proxy.size()), proxy) ||
           std::any_of(names.begin(), names.end(), [name](auto one) { return is_same_name(name, one); });
}

std::optional<std::string_view> header_view::find(std::string_view const name) const noexcept {
    for (auto const& one : all_)
        if (is_same_name(one.name, name)) return one.value;
    return std::nullopt;
}

io_result<void> headers::try_add(std::string_view const name, std::string_view const value) {
    auto const invalid = std::unexpected(std::make_error_code(std::errc::invalid_argument));
    if (name.empty() || !is_all(name, is_token) || !is_all(value, is_field)) return invalid;
    if (is_same_name(name, "host")) return invalid;
    if (is_hop_by_hop(name)) {
        if (!is_same_name(name, "connection") || !is_same_name(value, "close")) return invalid;
        asks_to_close_ = true; // and is written with the framing
        return {};
    }
    text_.append(name).append(": ").append(value).append("\r\n");
    return {};
}

headers& headers::add(std::string_view const name, std::string_view const value) {
    if (!try_add(name, value))
        throw std::invalid_argument("http::headers::add: no valid field, or one that is the library's");
    return *this;
}

headers& headers::add_end_to_end(header_view const received) {
    auto const is_named = [received](std::string_view name) {
        return std::any_of(received.begin(), received.end(), [name](header const& one) {
            return is_same_name(one.name, "connection") && has_token(one.value, name);
        });
    };
    auto const is_own = [](std::string_view name) {
        return is_same_name(name, "date") || is_same_name(name, "expect") || is_same_name(name, "host");
    };
    for (auto const& [name, value] : received)
        if (!is_hop_by_hop(name) && !is_own(name) && !is_named(name)) add(name, value);
    return *this;
}

std::optional<std::string_view> headers::find(std::string_view const name) const noexcept {
    std::string_view left = text_;
    while (!left.empty()) {
        auto const line = left.substr(0, left.find("\r\n"));
        left.remove_prefix(line.size() + 2);
        auto const colon = line.find(':');
        if (is_same_name(line.substr(0, colon), name)) return line.substr(colon + 2);
    }
    return std::nullopt;
}

} // namespace pitsaw::inline v0::http
