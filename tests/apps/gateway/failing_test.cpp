// What a client is told when something goes wrong.
#include "apps/gateway/simulated.hpp"

#include <gtest/gtest.h>

#include <string>

using namespace gateway::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view plain = R"({"model":"m"})";
constexpr std::string_view streamed = R"({"model":"m","stream":true})";

/// What comes back of one call.
std::string answer_to(simulated_gateway& world, std::string call) {
    std::string got;
    world.run([&](endpoint at) -> task<io_result<void>> {
        got = co_await pitsaw::or_return(talk(at, call));
        co_return {};
    });
    return got;
}

bool has(std::string const& text, std::string_view what) { return text.find(what) != std::string::npos; }

TEST(gateway_error, has_the_form_of_the_api) {
    simulated_gateway world({});
    auto const got = answer_to(world, call_of(R"({"model":"unknown"})"));
    EXPECT_TRUE(got.starts_with("HTTP/1.1 404 ")) << got;
    EXPECT_TRUE(got.ends_with(
        R"({"error":{"message":"nobody here answers for this model","type":"invalid_request_error",)"
        R"("param":null,"code":"model_not_found"}})"))
        << got;
    EXPECT_TRUE(has(world.log.at(0), R"("end":"refused")"));
    EXPECT_FALSE(has(world.log.at(0), "unknown")); // it may be anything
}

TEST(gateway_error, for_a_body_that_is_no_json) {
    simulated_gateway world({});
    EXPECT_TRUE(answer_to(world, call_of("{")).starts_with("HTTP/1.1 400 "));
    EXPECT_EQ(world.upstream.calls, 0);
}

TEST(gateway_error, without_a_key) {
    simulated_gateway world({});
    world.how.keys.emplace_back("key-one-of-ours");
    auto const got = answer_to(world, call_of(plain, "Authorization: Bearer key-two-of-theirs\r\n"));
    EXPECT_TRUE(got.starts_with("HTTP/1.1 401 ")) << got;
    EXPECT_TRUE(has(got, R"("code":"invalid_api_key")"));
    EXPECT_FALSE(has(got, "key-two"));
}

TEST(gateway_error, of_an_upstream_that_refuses_connections) {
    simulated_gateway world({});
    world.is_upstream_there = false;
    auto const got = answer_to(world, call_of(plain));
    EXPECT_TRUE(got.starts_with("HTTP/1.1 502 ")) << got;
    EXPECT_TRUE(has(got, R"("code":"upstream_error")"));
    EXPECT_TRUE(has(world.log.at(0), R"("end":"upstream_failed")"));
}

TEST(gateway_error, of_an_upstream_that_breaks_off_a_whole_answer) { // LG11
    simulated_gateway world({{{1ms, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"}}, true});
    auto const got = answer_to(world, call_of(plain));
    EXPECT_TRUE(got.starts_with("HTTP/1.1 502 ")) << got;
    EXPECT_TRUE(has(got, R"("type":"server_error")"));
    EXPECT_TRUE(has(world.log.at(0), R"("end":"upstream_failed")"));
}

TEST(gateway_error, of_an_upstream_that_breaks_off_a_stream_is_a_stream_that_breaks_off) { // LG11
    simulated_gateway world(
        {{{1ms, std::string(stream_head) + chunk("data: 1\n\n")}, {5ms, "100\r\ndata"}}, true});
    auto const got = answer_to(world, call_of(streamed));
    EXPECT_TRUE(got.starts_with("HTTP/1.1 200 ")) << got;
    EXPECT_FALSE(body_of_chunked(got).is_whole) << got;
    EXPECT_FALSE(got.ends_with("0\r\n\r\n")) << got;
    EXPECT_TRUE(has(world.log.at(0), R"("end":"upstream_failed")"));
}

TEST(gateway_error, of_a_first_token_that_is_late) { // LG9
    simulated_gateway world({{{1ms, std::string(stream_head)}, {3s, chunk("data: 1\n\n")}}, false},
                            {.seed = 0, .is_calm = true});
    world.provider.first_token_timeout = 1s;
    world.provider.idle_timeout = 10s;
    pitsaw::time_point told{}, asked{};
    std::string got;
    world.run([&](endpoint at) -> task<io_result<void>> {
        asked = pitsaw::this_task::now();
        auto peer = co_await pitsaw::or_return(tcp_stream::connect(at));
        auto const call = call_of(streamed);
        co_await pitsaw::or_return(peer.send_all(std::as_bytes(std::span(call))));
        auto const some = co_await pitsaw::or_return(peer.receive());
        told = pitsaw::this_task::now();
        got.assign(reinterpret_cast<char const*>(some.bytes().data()), some.size());
        co_return {};
    });
    EXPECT_TRUE(got.starts_with("HTTP/1.1 504 ")) << got;
    EXPECT_GE(told - asked, 1s);
    EXPECT_LE(told - asked, 1050ms);
    EXPECT_TRUE(has(world.log.at(0), R"("end":"timed_out")"));
}

TEST(gateway_error, of_a_first_token_is_not_put_off_by_comments) { // LG9
    upstream_script does{{{1ms, std::string(stream_head)}}, false};
    for (int i = 0; i < 100; ++i) does.steps.push_back({100ms, chunk(": ping\n\n")});
    simulated_gateway world(does, {.seed = 0, .is_calm = true});
    world.provider.first_token_timeout = 1s;
    auto const got = body_of_chunked(answer_to(world, call_of(streamed)));
    EXPECT_EQ(got.bytes.size(), 9 * std::string_view(": ping\n\n").size()); // passed on nevertheless
    EXPECT_FALSE(got.is_whole);
    EXPECT_TRUE(has(world.log.at(0), R"("end":"timed_out")")) << world.log.at(0);
    EXPECT_FALSE(has(world.log.at(0), "first_token_us"));
}

TEST(gateway_error, of_a_first_token_is_none_for_an_event_that_is_too_long_to_be_looked_at) { // LG4
    simulated_gateway world({{{1ms, std::string(stream_head)},
                              {1ms, chunk("data: " + std::string(100'000, 'x'))},
                              {2s, chunk("\n\n")},
                              {1ms, "0\r\n\r\n"}},
                             false});
    world.provider.first_token_timeout = 1s;
    EXPECT_TRUE(body_of_chunked(answer_to(world, call_of(streamed))).is_whole);
    EXPECT_TRUE(has(world.log.at(0), R"("end":"ok")")) << world.log.at(0);
}

TEST(gateway_error, of_a_late_provider_leaves_out_the_time_of_the_upload) {
    simulated_gateway world({{{500ms, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"}}, false});
    world.provider.total_timeout = 1s;
    world.run([&](endpoint at) -> task<io_result<void>> {
        auto peer = co_await pitsaw::or_return(tcp_stream::connect(at));
        auto const call = call_of(plain);
        auto const bytes = std::as_bytes(std::span(call));
        co_await pitsaw::or_return(peer.send_all(bytes.first(call.size() - 2)));
        co_await pitsaw::sleep(3s);
        co_await pitsaw::or_return(peer.send_all(bytes.last(2)));
        auto const got = co_await pitsaw::or_return(receive_for(peer, 10s));
        EXPECT_TRUE(got.starts_with("HTTP/1.1 200 ")) << got;
        co_return {};
    });
}

TEST(gateway, tries_each_address_of_a_name) {
    for (int call = 0; call < 2; ++call) {
        simulated_gateway world({{{1ms, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"}}, false});
        world.first_address = endpoint::loopback(1); // nobody is there
        EXPECT_TRUE(answer_to(world, call_of(plain)).starts_with("HTTP/1.1 200 "));
    }
}

TEST(gateway_error, of_a_spool_that_is_full) {
    simulated_gateway world({});
    world.how.spool_bytes_max = 1000;
    world.how.body_memory_bytes = 4096;
    auto const body = R"({"model":"m","x":")" + std::string(5200, 'y') + "\"}";
    auto const got = answer_to(world, call_of(body));
    EXPECT_TRUE(got.starts_with("HTTP/1.1 503 ")) << got;
    EXPECT_TRUE(has(got, R"("code":"no_space")")) << got;
}

TEST(gateway_error, of_a_pause_comes_only_after_the_first_token) { // LG9
    simulated_gateway world(
        {{{1ms, std::string(stream_head)}, {3s, chunk("data: 1\n\n")}, {3s, chunk("data: 2\n\n")}}, false});
    world.provider.idle_timeout = 1s;
    auto const got = answer_to(world, call_of(streamed));
    EXPECT_TRUE(got.starts_with("HTTP/1.1 200 ")) << got;
    EXPECT_TRUE(has(got, "data: 1")) << got;
    EXPECT_FALSE(has(got, "data: 2")) << got;
    EXPECT_TRUE(has(world.log.at(0), R"("end":"timed_out")"));
}

TEST(gateway_error, of_a_call_that_takes_too_long_as_a_whole) {
    upstream_script does{{{1ms, std::string(stream_head)}}, false};
    for (int i = 0; i < 100; ++i) does.steps.push_back({100ms, chunk("data: 1\n\n")});
    simulated_gateway world(does, {.seed = 0, .is_calm = true});
    world.provider.total_timeout = 1s;
    auto const got = answer_to(world, call_of(streamed));
    EXPECT_EQ(body_of_chunked(got).bytes.size(), 9 * std::string_view("data: 1\n\n").size());
    EXPECT_FALSE(body_of_chunked(got).is_whole);
}

TEST(gateway_key, is_nowhere_but_with_the_provider) { // LG12
    constexpr std::string_view canary = "CANARY";
    for (int const status : {200, 400, 401, 429, 500}) {
        auto const body = R"({"error":{"message":"Incorrect API key provided: CANARY-up, CANARY-down"}})";
        simulated_gateway world(
            {{{1ms, "HTTP/1.1 " + std::to_string(status) +
                        " X\r\nContent-Type: application/json\r\nContent-Length: " +
                        std::to_string(std::string_view(body).size()) + "\r\n\r\n" + body}},
             false});
        world.how.keys.emplace_back("CANARY-down");
        world.provider.api_key = gateway::secret("CANARY-up");
        auto const call = "POST /v1/chat/completions?key=CANARY-query HTTP/1.1\r\nHost: a\r\nAuthorization: "
                          "Bearer CANARY-down\r\n"
                          "X-Api-Key: CANARY-x\r\nContent-Length: 13\r\n\r\n" +
                          std::string(plain);
        auto const got = answer_to(world, call);
        EXPECT_TRUE(got.starts_with("HTTP/1.1 " + std::to_string(status))) << got;
        EXPECT_EQ(has(got, canary), status == 200) << got; // what a model says is its own business
        EXPECT_FALSE(has(world.log.at(0), canary)) << world.log.at(0);
        EXPECT_FALSE(has(world.metrics, canary));
        EXPECT_TRUE(has(world.upstream.received, "Authorization: Bearer CANARY-up\r\n"));
        EXPECT_FALSE(has(world.upstream.received, "CANARY-down"));
        EXPECT_FALSE(has(world.upstream.received, "CANARY-x"));
        EXPECT_FALSE(has(world.upstream.received, "CANARY-query"));
    }
}

TEST(gateway_key, is_in_no_field_and_no_event_of_an_error) { // LG12
    std::string const events = "data: 1\n\n", quoting = "data: {\"error\":\"CANARY-up\"}\n\n";
    simulated_gateway world(
        {{{1ms, "HTTP/1.1 401 X\r\nContent-Type: text/event-stream\r\nX-Echo: Bearer CANARY-up\r\n"
                "X-Kept: 1\r\nTransfer-Encoding: chunked\r\n\r\n" +
                    chunk(events)},
          {1ms, chunk(quoting) + "0\r\n\r\n"}},
         false});
    world.provider.api_key = gateway::secret("CANARY-up");
    auto const got = answer_to(world, call_of(streamed));
    EXPECT_TRUE(got.starts_with("HTTP/1.1 401 ")) << got;
    EXPECT_FALSE(has(got, "CANARY")) << got;
    EXPECT_TRUE(has(got, "X-Kept: 1")) << got;
    EXPECT_TRUE(has(got, "data: {\"error\":\"***\"}")) << got;
}

TEST(gateway_key, that_looks_like_what_hides_it_is_no_trap) {
    for (auto const* const key : {"*", "***", "********", "a"}) {
        simulated_gateway world(
            {{{1ms, "HTTP/1.1 400 X\r\nContent-Length: 15\r\n\r\n********* a ***"}}, false});
        auto const got =
            answer_to(world, call_of(plain, "Authorization: Bearer " + std::string(key) + "\r\n"));
        EXPECT_TRUE(got.starts_with("HTTP/1.1 400 ")) << got;
    }
}

TEST(gateway_key, that_is_no_key_for_it_is_too_short_hides_nothing) {
    simulated_gateway world({{{1ms, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                    "Content-Length: 2\r\n\r\n{}"}},
                             false});
    auto const got = answer_to(world, call_of(plain, "Authorization: Bearer t\r\n"));
    EXPECT_TRUE(has(got, "Content-Type: application/json\r\n")) << got;
}

TEST(gateway_error, of_the_server_has_the_form_of_the_api_and_a_line_in_the_log) {
    struct refused {
        unsigned status;
        std::string_view code, route, request;
    };
    constexpr refused all[] = {
        {404, R"("code":"unknown_url")", R"("route":"")", "GET /v2?key=CANARY HTTP/1.1\r\nHost: a\r\n\r\n"},
        {405, R"("code":"method_not_allowed")", R"("route":"/v1/completions")",
         "GET /v1/completions HTTP/1.1\r\nHost: a\r\n\r\n"},
        {413, R"("code":"request_too_large")", R"("route":"/v1/embeddings")",
         "POST /v1/embeddings HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n"},
        {413, R"("code":"request_too_large")", R"("route":"/v1/embeddings")",
         "POST /v1/embeddings HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3e9\r\n"},
        {400, R"("code":null)", R"("route":"/v1/embeddings")",
         "POST /v1/embeddings HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"},
        {408, R"("code":null)", R"("route":"/v1/embeddings")",
         "POST /v1/embeddings HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n1"},
        {400, R"("code":null)", R"("route":"")", "nonsense\r\n\r\n"},
    };
    for (auto const& [status, code, route, request] : all) {
        simulated_gateway world({});
        world.how.body_bytes_max = 1000;
        auto const got = answer_to(world, std::string(request));
        EXPECT_TRUE(got.starts_with("HTTP/1.1 " + std::to_string(status) + " ")) << got;
        EXPECT_TRUE(has(got, code)) << got;
        EXPECT_TRUE(has(got, R"("type":"invalid_request_error")")) << got;
        ASSERT_EQ(world.log.size(), 1U) << got;
        EXPECT_TRUE(has(world.log[0], "\"status\":" + std::to_string(status) + ",\"end\":\"refused\""))
            << world.log[0];
        EXPECT_TRUE(has(world.log[0], route)) << world.log[0];
        EXPECT_FALSE(has(world.log[0], "CANARY"));
    }
}

TEST(gateway_books, say_that_the_gateway_ended_a_stream) {
    upstream_script does{{{1ms, std::string(stream_head)}}, false};
    for (int i = 0; i < 1000; ++i) does.steps.push_back({10ms, chunk("data: 1\n\n")});
    simulated_gateway world(does, {.seed = 0, .is_calm = true});
    world.how.drain_timeout = 100ms;
    world.stopped_after = 50ms;
    auto const got = body_of_chunked(answer_to(world, call_of(streamed)));
    EXPECT_FALSE(got.is_whole);
    EXPECT_GE(got.bytes.size(), 10 * std::string_view("data: 1\n\n").size()); // it drained first
    EXPECT_TRUE(has(world.log.at(0), R"("end":"shutdown")")) << world.log.at(0);
}

TEST(gateway_books, say_that_a_client_left_in_its_request) {
    simulated_gateway world({});
    world.run([&](endpoint at) -> task<io_result<void>> {
        auto peer = co_await pitsaw::or_return(tcp_stream::connect(at));
        auto const half = call_of(plain).substr(0, call_of(plain).size() - 3);
        co_await pitsaw::or_return(peer.send_all(std::as_bytes(std::span(half))));
        co_await pitsaw::sleep(50ms);
        co_return co_await peer.async_close();
    });
    EXPECT_TRUE(has(world.log.at(0), R"("end":"client_closed")")) << world.log.at(0);
}

TEST(gateway_error, for_another_method) {
    simulated_gateway world({});
    auto const got = answer_to(world, "GET /v1/chat/completions HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_TRUE(got.starts_with("HTTP/1.1 405 ")) << got;
    EXPECT_TRUE(has(got, R"("code":"method_not_allowed")")) << got;
}

} // namespace
