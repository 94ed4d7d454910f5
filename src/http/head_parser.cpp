#include "http/head_parser.hpp"

#include "http/characters.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace pitsaw::inline v0::http {
namespace {

constexpr std::size_t around_target = 32; // a method, a version and two spaces

/// Cuts a line, which is known to be there, off the text; without its CRLF.
std::string_view take_line(std::string_view& text) noexcept {
    auto const end = static_cast<std::size_t>(
        static_cast<char const*>(std::memchr(text.data(), '\n', text.size())) - text.data());
    auto const line = text.substr(0, end - 1);
    text.remove_prefix(end + 1);
    return line;
}

/// "HTTP/1.1": 0; another version of that shape: 505; else 400.
int parse_version(std::string_view const text, message_head& into) noexcept {
    if (text == "HTTP/1.1" || text == "HTTP/1.0") {
        into.minor = text.back() == '1' ? 1 : 0;
        return 0;
    }
    auto const is_digit = [](char c) { return c >= '0' && c <= '9'; };
    bool const is_one = text.size() == 8 && text.starts_with("HTTP/") && is_digit(text[5]) &&
                        text[6] == '.' && is_digit(text[7]);
    return is_one ? 505 : 400;
}

/// What it cannot take stays empty.
int parse_request_line(std::string_view line, head_limits const& limits, message_head& into) noexcept {
    auto const space = line.find(' ');
    if (space == std::string_view::npos || space == 0) return 400;
    auto const method_name = line.substr(0, space);
    if (!is_all(method_name, is_token)) return 400;
    into.method_name = method_name;
    into.what = method_of(method_name);
    line.remove_prefix(space + 1);
    auto const second = line.find(' ');
    if (second == std::string_view::npos || second == 0) return 400;
    auto const target = line.substr(0, second);
    if (target.size() > limits.target_bytes) return 414;
    if (!is_all(target, is_target)) return 400;
    into.target = target;
    if (int const refused = parse_version(line.substr(second + 1), into)) return refused;
    bool const is_form_known = into.target.front() == '/' || into.what == method::connect ||
                               into.target.starts_with("http://") || into.target.starts_with("https://") ||
                               (into.what == method::options && into.target == "*");
    return is_form_known ? 0 : 400;
}

int parse_status_line(std::string_view const line, message_head& into) noexcept {
    // HTTP-version SP 3DIGIT [SP reason]
    if (line.size() < 12 || parse_version(line.substr(0, 8), into) != 0 || line[8] != ' ') return 400;
    unsigned status = 0;
    for (char const c : line.substr(9, 3)) {
        if (c < '0' || c > '9') return 400;
        status = status * 10 + static_cast<unsigned>(c - '0');
    }
    if (status < 100 || (line.size() > 12 && line[12] != ' ')) return 400;
    into.status = static_cast<std::uint16_t>(status);
    into.reason = line.substr(std::min<std::size_t>(line.size(), 13));
    return is_all(into.reason, is_field) ? 0 : 400;
}

/// What the fields say of the message as a whole.
struct seen {
    bool length = false, coding = false, host = false;
    bool close = false, keep_alive = false;
    bool is_chunked = false;
};

int parse_length(std::string_view const value, message_head& into) noexcept {
    constexpr std::size_t length_digits_max = 18; // fits in 63 bits, and is more than anybody has
    if (value.empty() || value.size() > length_digits_max) return 400;
    into.length = 0;
    for (char const c : value) {
        if (c < '0' || c > '9') return 400;
        into.length = into.length * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return 0;
}

/// Exactly `chunked` is understood; what else ends with it is a coding that we lack.
int parse_coding(std::string_view value, seen& of) noexcept {
    std::size_t codings = 0, chunked = 0;
    bool is_last = false;
    while (!value.empty()) {
        auto const coding = take_element(value);
        if (coding.empty()) return 400;
        ++codings;
        is_last = is_same_name(coding, "chunked");
        chunked += is_last ? 1 : 0;
    }
    if (!is_last || chunked != 1) return 400;
    of.is_chunked = true;
    return codings == 1 ? 0 : 501;
}

int note_connection(std::string_view value, seen& of) noexcept {
    while (!value.empty()) {
        auto const token = take_element(value);
        if (is_same_name(token, "close")) of.close = true;
        if (is_same_name(token, "keep-alive")) of.keep_alive = true;
    }
    return 0;
}

/// `Keep-Alive: timeout=5, max=100`. What cannot be read says nothing.
int note_keep_alive(std::string_view value, message_head& into) noexcept {
    constexpr std::string_view name = "timeout=";
    while (!value.empty()) {
        auto element = take_element(value);
        if (!is_same_name(element.substr(0, name.size()), name)) continue;
        element.remove_prefix(name.size());
        std::from_chars(element.data(), element.data() + element.size(), into.keep_alive_s);
    }
    return 0;
}

int note_field(header const& field, seen& of, message_head& into) noexcept {
    switch (field.name.size()) { // most fields are told apart by the length of their name alone
    case 4:
        if (!is_same_name(field.name, "host")) return 0;
        return std::exchange(of.host, true) || !is_all(field.value, is_host) ? 400 : 0;
    case 6:
        if (is_same_name(field.name, "expect")) {
            if (!is_same_name(field.value, "100-continue")) return 417;
            into.expects_continue = true;
        }
        return 0;
    case 10:
        if (is_same_name(field.name, "connection")) return note_connection(field.value, of);
        return is_same_name(field.name, "keep-alive") ? note_keep_alive(field.value, into) : 0;
    case 14:
        if (!is_same_name(field.name, "content-length")) return 0;
        return std::exchange(of.length, true) ? 400 : parse_length(field.value, into);
    case 17:
        if (!is_same_name(field.name, "transfer-encoding")) return 0;
        return std::exchange(of.coding, true) ? 400 : parse_coding(field.value, of);
    default:
        return 0;
    }
}

int parse_fields(std::string_view text, head_limits const& limits, seen& of, message_head& into) {
    into.headers.clear();
    into.headers.reserve(16);
    int refused = 0; // later than what is wrong with the bytes: who cannot be understood gets a 400
    for (;;) {
        auto const line = take_line(text);
        if (line.empty()) return refused;
        auto const colon = line.find(':');
        if (colon == std::string_view::npos || colon == 0) return 400;
        header const field{line.substr(0, colon), trimmed(line.substr(colon + 1))};
        // A name that begins with white space would be a continued line.
        if (!is_all(field.name, is_token) || !is_all(field.value, is_field)) return 400;
        if (into.headers.size() == limits.headers) return 431;
        into.headers.push_back(field);
        int const noted = note_field(field, of, into);
        if (noted == 400) return 400;
        if (refused == 0) refused = noted;
    }
}

} // namespace

std::ptrdiff_t head_search::look(std::string_view const text, head_limits const& limits) noexcept {
    while (looked_at_ < text.size()) {
        auto const* const found =
            static_cast<char const*>(std::memchr(text.data() + looked_at_, '\n', text.size() - looked_at_));
        if (found == nullptr) {
            looked_at_ = text.size();
            break;
        }
        auto const at = static_cast<std::size_t>(found - text.data());
        if (at == 0 || text[at - 1] != '\r') return -400;
        looked_at_ = at + 1;
        bool const is_empty = at - 1 == line_;
        if (line_ == 0 && at > limits.target_bytes + around_target) return -414;
        if (looked_at_ > limits.bytes) return -431;
        line_ = looked_at_;
        if (is_empty) return static_cast<std::ptrdiff_t>(looked_at_);
    }
    if (line_ == 0 && text.size() > limits.target_bytes + around_target) return -414;
    return text.size() >= limits.bytes ? -431 : 0;
}

int parse_request_head(std::string_view text, head_limits const& limits, message_head& into) {
    seen of;
    into.what = method::other;
    into.method_name = into.target = {};
    into.expects_continue = false;
    if (int const refused = parse_request_line(take_line(text), limits, into)) return refused;
    int const refused = parse_fields(text, limits, of, into);
    if (refused == 400 || refused == 431) return refused;
    if (of.coding && (of.length || into.minor == 0)) return 400;
    if (!of.host && into.minor != 0) return 400;
    if (refused != 0) return refused;
    into.has_length = of.length;
    into.framing = of.coding                       ? body_end::chunked
                   : of.length && into.length != 0 ? body_end::length
                                                   : body_end::none;
    into.asks_to_close = of.close || (into.minor == 0 && !of.keep_alive);
    if (into.minor == 0) into.expects_continue = false;
    return into.what == method::other || into.what == method::connect || into.what == method::trace ? 501 : 0;
}

int parse_response_head(std::string_view text, head_limits const& limits, method const to,
                        message_head& into) {
    seen of;
    into.keep_alive_s = UINT32_MAX;
    if (parse_status_line(take_line(text), into) != 0) return 502;
    if (int const refused = parse_fields(text, limits, of, into)) return refused == 431 ? 431 : 502;
    if (of.coding && (of.length || into.minor == 0)) return 502;
    into.asks_to_close = of.close || (into.minor == 0 && !of.keep_alive);
    into.has_length = of.length;
    bool const is_empty = to == method::head || into.status < 200 || into.status == 204 || into.status == 304;
    if (is_empty)
        into.framing = body_end::none;
    else if (of.coding)
        into.framing = body_end::chunked;
    else if (of.length)
        into.framing = into.length == 0 ? body_end::none : body_end::length;
    else
        into.framing = body_end::close;
    return 0;
}

} // namespace pitsaw::inline v0::http
