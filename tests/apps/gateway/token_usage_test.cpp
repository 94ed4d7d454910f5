#include "gateway/token_usage.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace {

using gateway::usage_scan;

void expect(usage_scan::of what, std::string_view text, std::uint64_t prompt, std::uint64_t completion) {
    for (std::size_t cut = 0; cut < text.size(); ++cut) {
        usage_scan scan(what);
        scan.feed(text.substr(0, cut));
        scan.feed(text.substr(cut));
        scan.finish();
        EXPECT_TRUE(scan.found().is_known) << cut;
        EXPECT_EQ(scan.found().prompt, prompt) << cut;
        EXPECT_EQ(scan.found().completion, completion) << cut;
    }
}

TEST(token_usage, of_a_document) {
    expect(usage_scan::of::document,
           R"({"choices":[{"usage":{"prompt_tokens":9}}],)"
           R"("usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}})",
           3, 4);
}

TEST(token_usage, of_the_last_event) {
    expect(
        usage_scan::of::events,
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":null}\n\n"
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\ndata: [DONE]\n\n",
        3, 4);
}

TEST(token_usage, that_grows_from_event_to_event_is_counted_once) {
    expect(usage_scan::of::events,
           "data: {\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\r\n\r\n"
           "data: {\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\r\n\r\ndata: [DONE]\r\n\r\n",
           3, 2);
}

TEST(token_usage, inside_of_x_groq) {
    expect(
        usage_scan::of::events,
        "data: {\"x_groq\":{\"id\":\"a\",\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":6}}}\n\ndata: "
        "[DONE]\n\n",
        5, 6);
}

TEST(token_usage, of_a_last_event_without_its_empty_line) { // LG3
    expect(usage_scan::of::events,
           "data: 1\n\ndata: {\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":6}}", 5, 6);
}

TEST(token_usage, is_not_what_the_model_says) {
    usage_scan scan(usage_scan::of::events);
    scan.feed(
        "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"usage\\\":{\\\"prompt_tokens\\\":1}\"}}]}\n\n");
    EXPECT_FALSE(scan.found().is_known);
}

TEST(token_usage, behind_an_event_that_is_too_long) {
    for (std::string const end : {"\n", "\r\n", "\r"}) {
        auto const text = "data: 1" + end + end + "data: " + std::string(70'000, 'x') + end + end +
                          "data: {\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":6}}" + end + end;
        for (std::size_t piece : {1, 7, 4096, 1 << 20}) {
            usage_scan scan(usage_scan::of::events);
            for (std::size_t at = 0; at < text.size(); at += piece)
                scan.feed(std::string_view(text).substr(at, piece));
            EXPECT_EQ(scan.finish().prompt, 5U) << piece;
            EXPECT_EQ(scan.found().completion, 6U) << piece;
        }
    }
}

TEST(token_usage, an_event_of_64_mebibytes_hides_nothing_behind_it) { // LG4
    usage_scan scan(usage_scan::of::events);
    std::string const piece(64 << 10, 'x');
    scan.feed("data: ");
    for (int i = 0; i < 1000; ++i) scan.feed(piece);
    scan.feed("\n\ndata: {\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n");
    EXPECT_EQ(scan.found().prompt, 3U);
}

} // namespace
