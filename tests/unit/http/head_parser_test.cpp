// What a head may look like, and what is refused: whole, and cut at every position.
#include "http/head_parser.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace http = pitsaw::http;
using namespace std::string_literals;

namespace {

constexpr int incomplete = 0, complete = 200;

/// What becomes of bytes that come in two parts: `complete`, `incomplete`, or the status that refuses them.
int verdict(std::string const& input, std::size_t const cut, http::head_limits const& limits = {}) {
    http::head_search search;
    for (auto const size : {cut, input.size()}) {
        auto const text = std::string_view(input).substr(0, size);
        auto const found = search.look(text, limits);
        if (found < 0) return static_cast<int>(-found);
        if (found == 0) continue;
        http::message_head head;
        int const refused =
            http::parse_request_head(text.substr(0, static_cast<std::size_t>(found)), limits, head);
        return refused != 0 ? refused : complete;
    }
    return incomplete;
}

struct input {
    char const* id;
    std::string bytes;
    int wanted;
};

std::string post(std::string const& fields) { return "POST / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n"; }
std::string get(std::string const& fields) { return "GET / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n"; }

std::vector<input> inputs() {
    return {
        {"HT1", "GET /x\nHost: a\r\nContent-Length: 5\r\n\r\nhello", 400},
        {"HT1", "GET / HTTP/1.1\nHost: a\r\n\r\n", 400},
        {"HT1", "GET / HTTP/1.1\r\nHost: a\n\r\n", 400},
        {"HT1", "GET /x\r\nHost: a\r\n\r\n", 400},
        {"HT3", post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n"), 400},
        {"HT3", post("Transfer-Encoding: chunked\r\nContent-Length: 6\r\n"), 400},
        {"HT4", post("Transfer-Encoding: gzip, chunked\r\n"), 501},
        {"HT4", post("Transfer-Encoding: chunked, identity\r\n"), 400},
        {"HT4", post("Transfer-Encoding: xchunked\r\n"), 400},
        {"HT4", post("Transfer-Encoding: chunked, chunked\r\n"), 400},
        {"HT4", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
        {"HT4", post("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"), 400},
        {"HT4", post("Transfer-Encoding : chunked\r\n"), 400},
        {"HT4",
         post("Transfer-Encoding:\x0b"
              "chunked\r\n"),
         400},
        {"HT4", post("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n"), 400},
        {"HT4", post("Transfer-Encoding:\r\n"), 400},
        {"HT4", post("tRANSFER-ENCODING: chunked\r\n"), complete},
        {"HT19", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"obs-fold", get("X: 1\r\n 2\r\n"), 400},
        {"obs-fold", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400},
        {"control", get("X: a\x01z\r\n"), 400},
        {"control", get("X: a\0z\r\n"s), 400},
        {"control", get("X: a\x7fz\r\n"), 400},
        {"control", get("X: a\rz\r\n"), 400},
        {"control", "GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"obs-text", get("X: caf\xc3\xa9\r\n"), complete},
        {"length", post("Content-Length: 5\r\nContent-Length: 5\r\n"), 400},
        {"length", post("Content-Length: 5, 5\r\n"), 400},
        {"length", post("Content-Length: +5\r\n"), 400},
        {"length", post("Content-Length: -1\r\n"), 400},
        {"length", post("Content-Length: 0x5\r\n"), 400},
        {"length", post("Content-Length:\r\n"), 400},
        {"length", post("Content-Length: 99999999999999999999\r\n"), 400},
        {"length", post("Content-Length:  5 \r\n"), complete},
        {"version", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505},
        {"version", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
        {"version", "GET / http/1.1\r\nHost: a\r\n\r\n", 400},
        {"version", "GET / HTTP/1.10\r\nHost: a\r\n\r\n", 400},
        {"host", "GET / HTTP/1.1\r\n\r\n", 400},
        {"host", get("Host: b\r\n"), 400},
        {"host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
        {"host", "GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", 400},
        {"host", "GET / HTTP/1.0\r\n\r\n", complete},
        {"host", "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", complete},
        {"line", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"line", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
        {"line", " GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"line", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"line", "GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"line", "GET http://a/b HTTP/1.1\r\nHost: a\r\n\r\n", complete},
        {"line", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", complete},
        {"method", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
        {"method", "get / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
        {"field", get("X\r\n"), 400},
        {"field", get(": 1\r\n"), 400},
        {"field", get("X Y: 1\r\n"), 400},
        {"expect", post("Expect: 100-continue\r\n"), complete},
        {"expect", post("Expect: more\r\n"), 417},
        {"incomplete", "GET / HTTP/1.1\r\nHost: a\r\n\r", incomplete},
    };
}

TEST(head_parser, gives_the_same_verdict_wherever_the_bytes_are_cut) { // HT1 HT3 HT4 HT19
    for (auto const& one : inputs())
        for (std::size_t cut = 0; cut <= one.bytes.size(); ++cut)
            EXPECT_EQ(verdict(one.bytes, cut), one.wanted) << one.id << " at " << cut << ": " << one.bytes;
}

TEST(head_parser, refuses_what_is_too_long_before_its_end_has_come) {
    http::head_limits limits;
    limits.bytes = 200;
    limits.target_bytes = 50;
    limits.headers = 3;
    auto const all = [&](std::string const& bytes) { return verdict(bytes, 0, limits); };
    EXPECT_EQ(all("GET /" + std::string(100, 'a')), 414);
    EXPECT_EQ(all("GET /" + std::string(60, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 414);
    EXPECT_EQ(all(get("X: " + std::string(200, 'a'))), 431);
    EXPECT_EQ(all("GET / HTTP/1.1\r\nX: " + std::string(200, 'a')), 431);
    EXPECT_EQ(all(get("A: 1\r\nB: 2\r\n")), complete);
    EXPECT_EQ(all(get("A: 1\r\nB: 2\r\nC: 3\r\n")), 431);
}

TEST(head_parser, gives_what_a_request_says) {
    std::string const text = "POST /a/b?c=d HTTP/1.0\r\nHost:h\r\nX-Y:  some text \t\r\n"
                             "Connection: Keep-Alive\r\nContent-Length: 12\r\n\r\n";
    http::message_head head;
    ASSERT_EQ(http::parse_request_head(text, {}, head), 0);
    EXPECT_EQ(head.what, http::method::post);
    EXPECT_EQ(head.target, "/a/b?c=d");
    EXPECT_EQ(head.minor, 0);
    EXPECT_FALSE(head.asks_to_close);
    EXPECT_EQ(head.framing, http::body_end::length);
    EXPECT_EQ(head.length, 12u);
    http::header_view const view(head.headers);
    EXPECT_EQ(view.size(), 4u);
    EXPECT_EQ(view.find("x-y"), "some text");
    EXPECT_EQ(view.find("x"), std::nullopt);
}

http::body_end framing_of(std::string const& text, http::method to) {
    http::message_head head;
    EXPECT_EQ(http::parse_response_head(text, {}, to, head), 0) << text;
    return head.framing;
}

TEST(head_parser, keeps_nothing_of_the_head_before) {
    http::message_head head;
    EXPECT_EQ(http::parse_request_head(post("Expect: 100-continue\r\nContent-Length: 5\r\n"), {}, head), 0);
    EXPECT_TRUE(head.expects_continue);
    EXPECT_EQ(http::parse_request_head(post("Content-Length: 5\r\n"), {}, head), 0);
    EXPECT_FALSE(head.expects_continue);
    EXPECT_EQ(http::parse_request_head("nonsense\r\n\r\n", {}, head), 400);
    EXPECT_EQ(std::string(head.method_name) + std::string(head.target), "");
    EXPECT_EQ(http::parse_request_head("PUT /x HTTP/2.0\r\n\r\n", {}, head), 505);
    EXPECT_EQ(std::string(head.method_name) + std::string(head.target), "PUT/x");
}

TEST(head_parser, knows_which_responses_have_no_body) { // HT10
    using http::body_end;
    using http::method;
    auto const ok = "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n"s;
    EXPECT_EQ(framing_of(ok, method::head), body_end::none);
    EXPECT_EQ(framing_of(ok, method::get), body_end::length);
    EXPECT_EQ(framing_of("HTTP/1.1 304 Not Modified\r\n\r\n", method::get), body_end::none);
    EXPECT_EQ(framing_of("HTTP/1.1 204\r\n\r\n", method::get), body_end::none);
    EXPECT_EQ(framing_of("HTTP/1.1 200 OK\r\n\r\n", method::get), body_end::close);
    EXPECT_EQ(framing_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", method::get),
              body_end::chunked);
}

TEST(head_parser, refuses_responses_that_two_readers_would_frame_in_two_ways) {
    http::message_head head;
    for (auto const* const text : {
             "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
             "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
             "HTTP/1.1 2000 OK\r\n\r\n",
             "HTTP/1.1 20 OK\r\n\r\n",
             "HTTP/2 200\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
         })
        EXPECT_EQ(http::parse_response_head(text, {}, http::method::get, head), 502) << text;
}

} // namespace
