#include "gateway/request_facts.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace {

gateway::request_facts facts_of(std::string_view text, std::size_t cut) {
    gateway::request_scan scan;
    scan.feed(text.substr(0, cut));
    scan.feed(text.substr(cut));
    return scan.finish();
}

/// The same however the text is cut.
gateway::request_facts facts_of(std::string_view text) {
    auto const whole = facts_of(text, 0);
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
        auto const made = facts_of(text, cut);
        EXPECT_EQ(made.model, whole.model) << cut;
        EXPECT_EQ(made.wrong, whole.wrong) << cut;
        EXPECT_EQ(made.is_stream, whole.is_stream) << cut;
        EXPECT_EQ(made.tokens_max, whole.tokens_max) << cut;
        EXPECT_EQ(made.wants_usage, whole.wants_usage) << cut;
    }
    return whole;
}

TEST(request_facts, are_found_wherever_they_stand) {
    auto const made =
        facts_of(R"({"messages":[{"role":"user","content":"\"model\":\"x\"","model":"no"}],"stream":true,)"
                 R"("tools":{"model":"no","stream":false},"max_tokens":7,)"
                 R"("stream_options":{"include_usage":true},"model":"a\u002db"})");
    EXPECT_EQ(made.wrong, "");
    EXPECT_EQ(made.model, "a-b");
    EXPECT_TRUE(made.is_stream);
    EXPECT_TRUE(made.wants_usage);
    EXPECT_EQ(made.tokens_max, 7U);
}

TEST(request_facts, of_a_stream_that_is_null_are_those_of_none) {
    EXPECT_FALSE(facts_of(R"({"model":"a","stream":null})").is_stream);
}

TEST(request_facts, say_what_is_wrong) {
    constexpr std::string_view no_object = "the request's body is not a JSON object";
    for (auto const* const text :
         {"", "5", "\"a\"", "[{\"model\":\"a\"}]", "{\"model\":\"a\"", "{\"model\":\"a\"} x", "{model:1}"})
        EXPECT_EQ(facts_of(text).wrong, no_object) << text;
    EXPECT_EQ(facts_of("{}").wrong, "the request names no model: it needs a text 'model'");
    EXPECT_EQ(facts_of(R"({"a":{"model":"a"}})").wrong,
              "the request names no model: it needs a text 'model'");
    for (auto const* const text : {R"({"model":""})", R"({"model":1})", R"({"model":null})"})
        EXPECT_EQ(facts_of(text).wrong, "'model' must be a text of 1 to 256 bytes") << text;
    EXPECT_EQ(facts_of(R"({"model":"a","x":1,"model":"b"})").wrong, "the request names a model twice");
    for (auto const* const text : {R"({"model":"a","model":["b"]})", R"({"model":{"a":1}})"})
        EXPECT_EQ(facts_of(text).wrong, "'model' must be a text of 1 to 256 bytes") << text;
    auto const long_name = R"({"model":")" + std::string(257, 'a') + "\"}";
    EXPECT_EQ(facts_of(long_name).wrong, "'model' must be a text of 1 to 256 bytes");
}

TEST(request_facts, are_not_taken_from_keys_that_look_like_a_path) {
    EXPECT_EQ(facts_of(R"({"":{"model":"x"}})").wrong, "the request names no model: it needs a text 'model'");
    EXPECT_EQ(facts_of(R"({"":{"model":"x"},"model":"y"})").model, "y");
    EXPECT_FALSE(facts_of(R"({"model":"y","stream_options.include_usage":true})").wants_usage);
}

TEST(request_facts, nested_too_deep_are_refused) {
    auto const nested = [](std::size_t deep) {
        return R"({"model":"a","x":)" + std::string(deep, '[') + std::string(deep, ']') + "}";
    };
    EXPECT_EQ(facts_of(nested(200)).wrong, "");
    EXPECT_NE(facts_of(nested(300)).wrong, "");
}

} // namespace
