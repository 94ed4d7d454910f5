// A chunked body gives the same bytes and the same verdict however it is cut.
#include "fuzz/pieces.hpp"
#include "fuzz/targets.hpp"

#include "http/chunked_decoder.hpp"

#include <string>

namespace pitsaw::fuzz {
namespace {

using step = http::chunked_decoder::step;

struct decoder {
    http::chunked_decoder of;
    step end = step::need_more;
    std::string body;
    std::size_t taken = 0;

    void feed(std::string_view piece) {
        auto const before = piece.size();
        while (end == step::need_more || end == step::data) {
            std::string_view data;
            end = of.next(piece, data);
            require(end == step::data || data.empty(), "data without saying so");
            require(end != step::data || !data.empty(), "a step that brings nothing");
            body += data;
            if (end == step::need_more) {
                require(piece.empty(), "more is wanted though there is more");
                break;
            }
        }
        taken += before - piece.size();
    }
};

} // namespace

void http_chunked(std::string_view const input) {
    pieces cut(input);
    decoder whole, parts;
    whole.feed(cut.whole());
    for (auto piece = cut.next(); !piece.empty(); piece = cut.next()) parts.feed(piece);
    require(whole.end == parts.end && whole.body == parts.body, "a cut changes a chunked body");
    require(whole.end == step::bad || whole.taken == parts.taken, "a cut changes where a body ends");
    require(whole.body.size() <= cut.whole().size(), "a body is longer than what came");
}

} // namespace pitsaw::fuzz
