// What a server answers to bytes, in simulated worlds.
#include <pitsaw/http/server.hpp>

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/world.hpp>

#include "stream_pair.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ps = pitsaw;
namespace http = pitsaw::http;
using namespace std::chrono_literals;
using namespace std::string_literals;
using ps::testing::bytes_of;
using ps::testing::text_of;

namespace {

using result = ps::task<ps::io_result<void>>;

ps::task<http::response> hello(http::request&) {
    co_return http::response(200, "text/plain", http::body::borrowed("hello"));
}
ps::task<http::response> echo(http::request& request) {
    auto all = co_await ps::or_return(http::read_all(request.body(), 1 << 20));
    co_return http::response(200, "text/plain", std::move(all));
}
ps::async_generator<std::string> three() {
    co_yield "one ";
    co_yield "two ";
    co_yield "three";
}
ps::task<http::response> generated(http::request&) {
    co_return http::response::stream(200, http::body(three()));
}
ps::task<http::response> cut_off(http::request&) {
    auto write = [](http::body_writer& to) -> result {
        co_await ps::or_return(to.write("some"));
        co_return std::unexpected(std::make_error_code(std::errc::io_error));
    };
    co_return http::response::stream(200, http::body(http::body::writer(write)));
}
ps::task<http::response> nothing(http::request&) {
    co_return http::response::stream(204, http::body("no content may have a body"s));
}
ps::task<http::response> slow(http::request&) {
    co_await ps::sleep(1s);
    co_return http::response(200, "text/plain", "slow"s);
}
ps::task<http::response> who(http::request& request) {
    auto const peer = co_await ps::or_return(request.peer());
    co_return http::response(200, "text/plain", peer.host().to_string());
}
ps::task<http::response> injected(http::request&) {
    http::response reply(200);
    reply.headers().add("X-Name", "a\r\nSet-Cookie: b");
    co_return reply;
}

http::router all_routes() {
    http::router routes;
    routes.get("/", hello).post("/echo", echo).get("/stream", generated).get("/cut", cut_off);
    routes.get("/nothing", nothing).get("/slow", slow).get("/injected", injected).post("/ignore", hello);
    routes.get("/who", who);
    return routes;
}

/// Sends bytes in two parts and gives all that comes back.
ps::task<ps::io_result<std::string>> exchange(ps::endpoint at, std::string_view bytes, std::size_t cut) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
    co_await ps::or_return(peer.send_all(bytes_of(bytes.substr(0, cut))));
    if (cut != 0) co_await ps::sleep(1ms);
    auto const sent = co_await peer.send_all(bytes_of(bytes.substr(cut)));
    if (sent.has_value()) co_await ps::or_return(peer.shutdown_send());
    std::string answer;
    for (;;) {
        auto const chunk = co_await peer.receive();
        if (!chunk.has_value() || chunk->empty()) co_return ps::io_result<std::string>(std::move(answer));
        answer += text_of(chunk->bytes());
    }
}

ps::task<ps::io_result<std::string>> served(std::string_view bytes, std::size_t cut,
                                            http::server_options how) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    auto routes = all_routes();
    auto first = co_await ps::when_any(http::serve(listener, routes, how), exchange(at, bytes, cut));
    co_return *std::get<1>(first);
}

std::string answer_to(std::string_view bytes, std::size_t cut = 0, http::server_options how = {}) {
    how.clock = nullptr;
    ps::sim::world world({.is_calm = true});
    auto end = world.run(served(bytes, cut, how));
    EXPECT_EQ(world.imbalance(), "");
    return end.has_value() && end.value().has_value() ? *end.value() : "no answer";
}

std::string const plain = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello";

TEST(server, answers_wherever_the_request_is_cut) {
    std::string const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    std::string const post = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
    std::string const chunks = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                               "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
    for (auto const& request : {get, post, chunks, get + post + chunks})
        for (std::size_t cut = 0; cut < request.size(); ++cut)
            EXPECT_EQ(answer_to(request, cut), request.size() < 150 ? plain : plain + plain + plain) << cut;
}

TEST(server, refuses_what_cannot_be_framed_and_closes) { // HT1 HT3 HT4 HT7 HT9 HT19
    struct {
        std::string bytes;
        std::string status;
    } const cases[] = {
        {"GET /x\nHost: a\r\n\r\n", "400"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: "
         "chunked\r\n\r\n0\r\n\r\nX",
         "400"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "501"},
        {"POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n",
         "400"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n", "400"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n100000005\r\nhello", "413"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n", "413"},
        {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", "505"},
        {"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", "501"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n", "417"},
    };
    for (auto const& [bytes, status] : cases) {
        for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
            auto const answer = answer_to(bytes + "GET / HTTP/1.1\r\nHost: a\r\n\r\n", cut);
            EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 " + status) << bytes << " at " << cut;
            EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
            EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << "the next request was answered";
        }
    }
}

TEST(server, sends_no_body_where_none_may_be) { // HT10
    auto const next = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"s;
    EXPECT_EQ(answer_to("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + next),
              plain.substr(0, plain.size() - 5) + plain);
    EXPECT_EQ(answer_to("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n" + next),
              "HTTP/1.1 204 No Content\r\n\r\n" + plain);
    EXPECT_EQ(answer_to("HEAD /unknown HTTP/1.1\r\nHost: a\r\n\r\n" + next),
              "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\n" + plain);
}

TEST(server, streams_in_chunks_to_1_1_and_until_the_close_to_1_0) { // HT19
    EXPECT_EQ(answer_to("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"),
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
              "4\r\none \r\n4\r\ntwo \r\n5\r\nthree\r\n0\r\n\r\n");
    EXPECT_EQ(answer_to("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
              "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\none two three");
    EXPECT_NE(
        answer_to("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").find("Connection: keep-alive\r\n"),
        std::string::npos);
}

TEST(server, a_stream_that_fails_is_not_taken_for_whole) { // LG11
    EXPECT_EQ(answer_to("GET /cut HTTP/1.1\r\nHost: a\r\n\r\n"),
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n");
}

TEST(server, a_field_cannot_be_injected) {
    auto const answer = answer_to("GET /injected HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 500");
    EXPECT_EQ(answer.find("Set-Cookie"), std::string::npos);
}

TEST(server, tells_a_client_to_go_on_when_the_body_is_read) {
    std::string const head =
        "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
    EXPECT_EQ(answer_to(head + "hello", head.size()), "HTTP/1.1 100 Continue\r\n\r\n" + plain);
    std::string const ignored =
        "POST /ignore HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
    auto const answer = answer_to(ignored + "hello", ignored.size());
    EXPECT_EQ(answer.substr(0, 15), "HTTP/1.1 200 OK");
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
}

TEST(server, knows_where_its_client_is) {
    EXPECT_TRUE(answer_to("GET /who HTTP/1.1\r\nHost: a\r\n\r\n").ends_with("\r\n\r\n127.0.0.1"));
}

TEST(server, a_client_that_did_not_wait_to_go_on_is_not_told_to) {
    std::string const all =
        "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello";
    EXPECT_EQ(answer_to(all + all), plain + plain);
}

TEST(server, goes_on_after_a_body_that_nobody_read) {
    std::string const next = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    std::string const head = "POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n";
    EXPECT_EQ(answer_to(head + "hello" + next, head.size() + 2), plain + plain);
}

// ---- Time

ps::task<ps::io_result<std::string>> drip(ps::endpoint at, std::string_view bytes, ps::duration pause,
                                          ps::duration silence) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
    co_await ps::sleep(silence);
    auto const sends = [](ps::tcp_stream& to, std::string_view all, ps::duration wait) -> ps::task<bool> {
        for (auto const& one : all) {
            auto const sent = co_await to.send_all(bytes_of({&one, 1}));
            if (!sent.has_value()) break;
            co_await ps::sleep(wait);
        }
        co_await ps::sleep(1h);
        co_return true;
    };
    auto const reads = [](ps::tcp_stream& from) -> ps::task<std::string> {
        std::string answer;
        for (;;) {
            auto const chunk = co_await from.receive();
            if (!chunk.has_value() || chunk->empty()) co_return answer;
            answer += text_of(chunk->bytes());
        }
    };
    auto first = co_await ps::when_any(reads(peer), sends(peer, bytes, pause));
    if (!std::get<0>(first)) co_return ps::io_result<std::string>("still open");
    co_return ps::io_result<std::string>(std::move(*std::get<0>(first)));
}

struct dripped {
    std::string answer;
    ps::duration after;
};

ps::task<ps::io_result<dripped>> drip_to_server(std::string_view bytes, ps::duration pause,
                                                ps::duration silence) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    auto routes = all_routes();
    auto const before = ps::this_task::now();
    auto first = co_await ps::when_any(http::serve(listener, routes), drip(at, bytes, pause, silence));
    dripped made;
    made.answer = **std::get<1>(first);
    made.after = ps::this_task::now() - before;
    co_return ps::io_result<dripped>(std::move(made));
}

dripped answer_to_drip(std::string_view bytes, ps::duration pause, ps::duration silence = 0s) {
    ps::sim::world world({.is_calm = true});
    auto end = world.run(drip_to_server(bytes, pause, silence));
    return *end.value();
}

TEST(server, bounds_a_head_from_its_first_byte) { // HT16
    auto const end = answer_to_drip("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(100, 'x'), 1s);
    EXPECT_EQ(end.answer.substr(0, 12), "HTTP/1.1 408");
    EXPECT_GE(end.after, 10s);
    EXPECT_LT(end.after, 13s);
}

TEST(server, a_connection_without_a_byte_has_the_idle_time) { // HT16
    auto const end = answer_to_drip("", 1s);
    EXPECT_EQ(end.answer, "");
    EXPECT_GE(end.after, 75s);
    EXPECT_LT(end.after, 76s);
}

TEST(server, empty_lines_gain_a_connection_no_time) { // HT16
    std::string lines;
    for (int i = 0; i < 100; ++i) lines += "\r\n";
    for (auto const pause : {ps::duration(1s), ps::duration(37s)}) {
        auto const end = answer_to_drip(lines, pause);
        EXPECT_GE(end.after, 75s);
        EXPECT_LT(end.after, 78s);
    }
    auto const late =
        answer_to_drip("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 200ms, 70s);
    EXPECT_EQ(late.answer.substr(0, 12), "HTTP/1.1 200");
}

TEST(server, a_connection_opened_early_has_all_of_the_head_time) { // HT16
    auto const end = answer_to_drip("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 200ms, 70s);
    EXPECT_EQ(end.answer.substr(0, 12), "HTTP/1.1 200"); // the last byte came 9 s after the first
}

TEST(server, bounds_a_slow_body) { // HT16
    auto const end = answer_to_drip(
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'x'), 100ms);
    EXPECT_EQ(end.answer.substr(0, 12), "HTTP/1.1 408");
    EXPECT_LT(end.after, 40s);
}

} // namespace
