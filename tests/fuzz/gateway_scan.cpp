// What the gateway looks for in the bodies that go through it is the same however they are cut.
#include "fuzz/pieces.hpp"
#include "fuzz/targets.hpp"

#include "gateway/request_facts.hpp"
#include "gateway/token_usage.hpp"

namespace pitsaw::fuzz {
namespace {

void check_request(pieces cut) {
    gateway::request_scan whole, parts;
    whole.feed(cut.whole());
    for (auto piece = cut.next(); !piece.empty(); piece = cut.next()) parts.feed(piece);
    auto const &one = whole.finish(), &other = parts.finish();
    require(one.wrong == other.wrong, "a cut changes whether a request is one");
    if (!one.wrong.empty()) return;
    require(!one.model.empty() && one.model == other.model, "a cut changes the model");
    require(one.is_stream == other.is_stream && one.wants_usage == other.wants_usage &&
                one.tokens_max == other.tokens_max,
            "a cut changes the facts");
}

void check_usage(pieces cut, gateway::usage_scan::of what) {
    gateway::usage_scan whole(what), parts(what);
    whole.feed(cut.whole());
    for (auto piece = cut.next(); !piece.empty(); piece = cut.next()) parts.feed(piece);
    auto const &one = whole.finish(), &other = parts.finish();
    require(one.is_known == other.is_known && one.prompt == other.prompt &&
                one.completion == other.completion,
            "a cut changes the tokens");
}

} // namespace

void gateway_scan(std::string_view const input) {
    check_request(pieces(input));
    check_usage(pieces(input), gateway::usage_scan::of::document);
    check_usage(pieces(input), gateway::usage_scan::of::events);
}

} // namespace pitsaw::fuzz
