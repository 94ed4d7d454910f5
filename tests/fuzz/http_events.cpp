// A stream of events gives the same events however it is cut.
#include "fuzz/pieces.hpp"
#include "fuzz/targets.hpp"

#include <pitsaw/http/event_stream.hpp>

#include <string>
#include <vector>

namespace pitsaw::fuzz {
namespace {

constexpr std::size_t bytes_max = 256;

struct events {
    http::event_parser parser{bytes_max};
    std::vector<http::server_event> all;

    void feed(std::string_view piece) {
        while (auto one = parser.next(piece)) take(*one);
        require(piece.empty(), "bytes are left over");
    }
    void finish() {
        if (auto const last = parser.finish()) take(*last);
    }
    void take(http::server_event const& one) {
        auto const breaks = [](std::string_view text) { return text.find_first_of("\r\n") != text.npos; };
        require(!breaks(one.type) && !breaks(one.id), "a type or an id with the end of a line in it");
        require(one.id.find('\0') == one.id.npos, "an id with a zero byte");
        require(one.data.find('\r') == one.data.npos, "data with half of a line's end");
        require(one.data.size() <= bytes_max, "an event above its limit");
        all.push_back(one);
    }
};

bool is_same(events const& a, events const& b) {
    if (a.all.size() != b.all.size() || a.parser.is_too_long() != b.parser.is_too_long()) return false;
    for (std::size_t i = 0; i < a.all.size(); ++i) {
        auto const &one = a.all[i], &other = b.all[i];
        if (one.data != other.data || one.type != other.type || one.id != other.id) return false;
    }
    return a.parser.retry_ms() == b.parser.retry_ms();
}

} // namespace

void http_events(std::string_view const input) {
    pieces cut(input);
    events whole, parts;
    whole.feed(cut.whole());
    whole.finish();
    for (auto piece = cut.next(); !piece.empty(); piece = cut.next()) parts.feed(piece);
    parts.finish();
    require(is_same(whole, parts), "a cut changes the events");
}

} // namespace pitsaw::fuzz
