// Fields that are sent: what is refused, and what is passed on.
#include <pitsaw/http/headers.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace http = pitsaw::http;
using namespace std::string_view_literals;

namespace {

TEST(headers, refuse_what_would_be_another_field_or_message) {
    http::headers fields;
    for (auto const value : {"a\r\nB: c"sv, "a\nb"sv, "a\rb"sv, "a\0b"sv, "a\x7f"sv}) {
        EXPECT_FALSE(fields.try_add("X", value).has_value());
        EXPECT_THROW(fields.add("X", value), std::invalid_argument);
    }
    for (auto const name : {""sv, "a b"sv, "a:"sv, "a\r\n"sv, "a\0"sv, "\xc3\xa9"sv})
        EXPECT_FALSE(fields.try_add(name, "v").has_value()) << name;
    EXPECT_EQ(fields.text(), "");
}

TEST(headers, leave_the_framing_to_the_library) {
    http::headers fields;
    for (auto const name :
         {"Content-Length"sv, "transfer-encoding"sv, "Connection"sv, "Upgrade"sv, "TE"sv, "host"sv})
        EXPECT_FALSE(fields.try_add(name, "5").has_value()) << name;
    EXPECT_FALSE(fields.asks_to_close());
    EXPECT_TRUE(fields.try_add("connection", "Close").has_value());
    EXPECT_TRUE(fields.asks_to_close());
    EXPECT_EQ(fields.text(), "");
}

TEST(headers, find_names_in_any_case) {
    http::headers fields;
    fields.add("A", "1").add("B-C", "2 3").add("a", "4");
    EXPECT_EQ(fields.text(), "A: 1\r\nB-C: 2 3\r\na: 4\r\n");
    EXPECT_EQ(fields.find("a"), "1");
    EXPECT_EQ(fields.find("b-c"), "2 3");
    EXPECT_FALSE(fields.find("c").has_value());
}

TEST(headers, pass_on_what_is_end_to_end) { // HT22
    http::header const received[] = {
        {"Connection", "close, X-Secret"},
        {"X-Secret", "1"},
        {"TE", "trailers"},
        {"Trailer", "A"},
        {"Proxy-Authorization", "k"},
        {"Keep-Alive", "5"},
        {"Content-Length", "5"},
        {"Host", "a"},
        {"Expect", "100-continue"},
        {"Date", "now"},
        {"Content-Type", "t"},
        {"Transfer-Encoding", "chunked"},
        {"ETag", "\"x\""},
    };
    http::headers fields;
    fields.add_end_to_end(http::header_view(received));
    EXPECT_EQ(fields.text(), "Content-Type: t\r\nETag: \"x\"\r\n");
}

} // namespace
