// What goes through the gateway goes through as it is.
#include "apps/gateway/simulated.hpp"

#include <gtest/gtest.h>

using namespace gateway::testing;
using namespace std::chrono_literals;

namespace {

upstream_script whole_answer(std::string_view body) {
    return {
        {{1ms, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Request-Id: r1\r\nContent-Length: " +
                   std::to_string(body.size()) + "\r\n\r\n" + std::string(body)}},
        false};
}

constexpr std::string_view odd_call =
    R"( {"z":1e3,"a":1.0,"unknown":{"model":"x"},"messages":[{"role":"user","content":"{\"a"}],)"
    R"("model":"m","\u0061b":null} )";
constexpr std::string_view odd_answer = R"({"usage":{"prompt_tokens":3,"completion_tokens":4},"z":1.0,)"
                                        R"("tool_calls":[{"index":0,"arguments":"\":\"\ud83d"}],"b":1e3})";

TEST(gateway, passes_a_call_and_its_answer_byte_by_byte) { // LG15
    simulated_gateway world(whole_answer(odd_answer));
    world.run([&](endpoint at) -> task<io_result<void>> {
        auto const got = co_await pitsaw::or_return(talk(at, call_of(odd_call)));
        EXPECT_TRUE(got.starts_with("HTTP/1.1 200 OK\r\n")) << got;
        EXPECT_TRUE(got.ends_with("\r\n\r\n" + std::string(odd_answer))) << got;
        EXPECT_NE(got.find("X-Request-Id: r1\r\n"), std::string::npos);
        co_return {};
    });
    EXPECT_TRUE(world.upstream.received.ends_with("\r\n\r\n" + std::string(odd_call)))
        << world.upstream.received;
    EXPECT_TRUE(
        world.upstream.received.starts_with("POST /v1/chat/completions HTTP/1.1\r\nHost: upstream\r\n"));
    ASSERT_EQ(world.log.size(), 1U);
    EXPECT_NE(world.log[0].find(R"("end":"ok")"), std::string::npos) << world.log[0];
    EXPECT_NE(world.log[0].find(R"("prompt_tokens":3,"completion_tokens":4)"), std::string::npos)
        << world.log[0];
}

// Endings of lines, a byte-order mark, comments, a last event without its empty line.
constexpr std::string_view odd_events =
    "\xef\xbb\xbf"
    "data: a\r\n\r\ndata:b\r\rdata: c\n\n: ping\n\nevent: x\ndata: 1\ndata: 2\n\ndata: [DONE]";

TEST(gateway, passes_a_stream_byte_by_byte_however_it_is_cut) { // LG3
    for (std::size_t cut = 1; cut < odd_events.size(); cut += 5) {
        simulated_gateway world({{{1ms, std::string(stream_head) + chunk(odd_events.substr(0, cut))},
                                  {2ms, chunk(odd_events.substr(cut)) + "0\r\n\r\n"}},
                                 false});
        world.run([&](endpoint at) -> task<io_result<void>> {
            auto const got = co_await pitsaw::or_return(talk(at, call_of(R"({"model":"m","stream":true})")));
            auto const body = body_of_chunked(got);
            EXPECT_EQ(body.bytes, odd_events);
            EXPECT_TRUE(body.is_whole);
            co_return {};
        });
    }
}

TEST(gateway, passes_each_piece_of_a_stream_at_once_and_asks_proxies_to_do_so) { // HT18
    simulated_gateway world(
        {{{10ms, std::string(stream_head) + chunk("data: 1\n\n")}, {50ms, chunk("data: 2\n\n")}}, false},
        {.seed = 0, .is_calm = true});
    world.run([&](endpoint at) -> task<io_result<void>> {
        auto peer = co_await pitsaw::or_return(tcp_stream::connect(at));
        auto const call = call_of(R"({"model":"m","stream":true})");
        co_await pitsaw::or_return(peer.send_all(std::as_bytes(std::span(call))));
        auto const first = co_await pitsaw::or_return(receive_for(peer, 15ms));
        EXPECT_NE(first.find("X-Accel-Buffering: no\r\n"), std::string::npos) << first;
        EXPECT_NE(first.find("Cache-Control: no-cache\r\n"), std::string::npos) << first;
        EXPECT_EQ(body_of_chunked(first).bytes, "data: 1\n\n");
        auto const silence = co_await pitsaw::or_return(receive_for(peer, 40ms));
        EXPECT_EQ(silence, "");
        auto const second = co_await pitsaw::or_return(receive_for(peer, 10ms));
        EXPECT_EQ(second, "9\r\ndata: 2\n\n\r\n");
        co_return {};
    });
}

TEST(gateway, passes_an_event_of_two_mebibytes) { // LG4
    auto const event = "data: " + std::string(2 << 20, 'x') + "\n\n";
    simulated_gateway world({{{1ms, std::string(stream_head) + chunk(event) + "0\r\n\r\n"}}, false});
    world.run([&](endpoint at) -> task<io_result<void>> {
        auto const got = co_await pitsaw::or_return(talk(at, call_of(R"({"model":"m","stream":true})")));
        EXPECT_EQ(body_of_chunked(got).bytes.size(), event.size());
        EXPECT_TRUE(body_of_chunked(got).bytes == event);
        co_return {};
    });
}

TEST(gateway, passes_a_body_that_does_not_fit_in_its_memory_with_the_model_at_its_end) {
    auto const body = R"({"messages":[{"content":")" + std::string(3 << 20, 'A') + R"("}],"model":"m"})";
    simulated_gateway world(whole_answer("{}"));
    world.how.body_memory_bytes = 64 << 10;
    world.run([&](endpoint at) -> task<io_result<void>> {
        auto const got = co_await pitsaw::or_return(talk(at, call_of(body)));
        EXPECT_TRUE(got.starts_with("HTTP/1.1 200 OK\r\n")) << got.substr(0, 200);
        co_return {};
    });
    EXPECT_TRUE(world.upstream.received.ends_with(body));
    EXPECT_NE(world.upstream.received.find("Content-Length: " + std::to_string(body.size())),
              std::string::npos);
}

TEST(gateway, passes_an_answer_that_is_too_long_to_be_held) {
    std::string const body(1 << 20, 'b');
    simulated_gateway world(whole_answer(body));
    world.run([&](endpoint at) -> task<io_result<void>> {
        auto const got = co_await pitsaw::or_return(talk(at, call_of(R"({"model":"m"})")));
        EXPECT_EQ(body_of_chunked(got).bytes.size(), body.size());
        EXPECT_TRUE(body_of_chunked(got).is_whole);
        co_return {};
    });
}

TEST(gateway, does_not_pass_what_concerns_one_connection) { // HT22
    simulated_gateway world(
        {{{1ms, "HTTP/1.1 200 OK\r\nSet-Cookie: account=1\r\nContent-Length: 2\r\n\r\n{}"}}, false});
    world.run([&](endpoint at) -> task<io_result<void>> {
        auto const call =
            call_of(R"({"model":"m"})", "Connection: close, X-Secret\r\nX-Secret: 1\r\nTE: trailers\r\n"
                                        "Proxy-Authorization: a\r\nKeep-Alive: 1\r\nAccept-Encoding: gzip\r\n"
                                        "Cookie: c\r\nX-Kept: 2\r\n");
        auto const got = co_await pitsaw::or_return(talk(at, call));
        EXPECT_TRUE(got.starts_with("HTTP/1.1 200 OK\r\n"));
        EXPECT_EQ(got.find("Set-Cookie"), std::string::npos) << got;
        co_return {};
    });
    for (auto const* const field : {"X-Secret", "TE:", "Proxy-", "Keep-Alive", "Accept-Encoding", "Cookie"})
        EXPECT_EQ(world.upstream.received.find(field), std::string::npos) << field;
    EXPECT_NE(world.upstream.received.find("X-Kept: 2\r\n"), std::string::npos);
}

TEST(gateway, pauses_an_upstream_whose_client_does_not_read) { // HT21
    upstream_script endless{{{1ms, std::string(stream_head)}}, false};
    constexpr std::size_t piece = 64 << 10, pieces = 512;
    for (std::size_t i = 0; i < pieces; ++i)
        endless.steps.push_back({0ms, chunk("data: " + std::string(piece, 'x') + "\n\n")});
    simulated_gateway world(endless, {.seed = 0, .is_calm = true});
    world.run([&](endpoint at) -> task<io_result<void>> {
        auto peer = co_await pitsaw::or_return(tcp_stream::connect(at));
        auto const call = call_of(R"({"model":"m","stream":true})");
        co_await pitsaw::or_return(peer.send_all(std::as_bytes(std::span(call))));
        co_await pitsaw::sleep(5s);
        auto const before = world.upstream.sent;
        EXPECT_GT(before, 0U);
        EXPECT_LT(before, 2U << 20);
        co_await pitsaw::sleep(5s);
        EXPECT_EQ(world.upstream.sent, before);
        co_return {};
    });
    EXPECT_NE(world.log.at(0).find(R"("end":"client_closed")"), std::string::npos);
}

} // namespace
