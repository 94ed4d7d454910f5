// A head that is taken has nothing in it that could be read in two ways, and is found wherever it is cut.
#include "fuzz/pieces.hpp"
#include "fuzz/targets.hpp"

#include "http/characters.hpp"
#include "http/head_parser.hpp"

#include <algorithm>
#include <string>

namespace pitsaw::fuzz {
namespace {

constexpr http::head_limits limits{512, 128, 16};

std::ptrdiff_t find_whole(std::string_view text) {
    http::head_search search;
    return search.look(text, limits);
}
std::ptrdiff_t find_in_parts(pieces cut) {
    http::head_search search;
    std::size_t come = 0;
    std::ptrdiff_t found = 0;
    for (auto piece = cut.next(); found == 0 && !piece.empty(); piece = cut.next()) {
        come += piece.size();
        found = search.look(cut.whole().substr(0, come), limits);
    }
    return found;
}

bool has_control(std::string_view text) {
    return std::ranges::any_of(text, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

void check_fields(http::message_head const& head) {
    require(head.headers.size() <= limits.headers, "more fields than there may be");
    std::size_t lengths = 0, codings = 0;
    for (auto const& [name, value] : head.headers) {
        require(!name.empty() && http::is_all(name, http::is_token), "a name that is none");
        require(!has_control(value), "a value with the end of a line in it");
        lengths += http::is_same_name(name, "content-length") ? 1 : 0;
        codings += http::is_same_name(name, "transfer-encoding") ? 1 : 0;
    }
    bool const is_chunked = head.framing == http::body_end::chunked;
    require(!is_chunked || (codings != 0 && lengths == 0), "chunked, and a length beside it");
    require(head.framing != http::body_end::length || lengths != 0, "a length from nowhere");
}

} // namespace

void http_heads(std::string_view const input) {
    pieces const cut(input);
    auto const found = find_whole(cut.whole());
    auto const in_parts = find_in_parts(cut);
    bool const are_refused = found < 0 && in_parts < 0; // by the fault that is seen first
    require(found == in_parts || are_refused, "a cut changes where a head ends");
    if (found <= 0) return;
    auto const text = cut.whole().substr(0, static_cast<std::size_t>(found));
    require(text.ends_with("\r\n\r\n") || text == "\r\n", "a head without its end");
    http::message_head head;
    if (http::parse_request_head(text, limits, head) == 0) {
        require(!head.target.empty() && !has_control(head.target), "a target that is none");
        require(head.target.find(' ') == head.target.npos, "a target with a space");
        require(head.framing != http::body_end::close, "a request that ends with the connection");
        check_fields(head);
    }
    for (auto const asked : {http::method::get, http::method::head}) {
        if (http::parse_response_head(text, limits, asked, head) != 0) continue;
        require(head.status >= 100 && head.status <= 999, "a status of other than three digits");
        check_fields(head);
    }
}

} // namespace pitsaw::fuzz
