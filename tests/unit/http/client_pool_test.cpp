// The connections that a client keeps, and servers that close them when they like.
#include <pitsaw/http/client.hpp>

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/world.hpp>

#include "each_driver.hpp"
#include "http_visit.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace ps = pitsaw;
namespace http = pitsaw::http;
using namespace std::chrono_literals;
using ps::testing::bytes_of;
using ps::testing::fetch;
using ps::testing::text_of;
using ps::testing::wait_until;

namespace {

using result = ps::task<ps::io_result<void>>;

constexpr std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

/// What a scripted server does, and what it has seen.
struct server_side {
    std::vector<std::string> methods{}; // of the requests
    int connections = 0;
    bool is_told = false;             // the client's side says: go on
    ps::tcp_stream* served = nullptr; // lent to the client's side
    ps::tcp_listener listener{};
};

using script = result (*)(server_side&, ps::tcp_stream&);
using visit = result (*)(server_side&, http::client&, ps::endpoint);

/// Takes one request, if one comes.
result take_request(server_side& of, ps::tcp_stream& from) {
    std::string text;
    while (text.find("\r\n\r\n") == std::string::npos) {
        auto const asked = co_await ps::or_return(from.receive());
        if (asked.empty()) co_return {};
        text += text_of(asked.bytes());
    }
    of.methods.push_back(text.substr(0, text.find(' ')));
    co_return {};
}

result answer_and_close(server_side& of, ps::tcp_stream& peer) {
    co_await ps::or_return(take_request(of, peer));
    co_return co_await peer.send_all(bytes_of(answer));
}
result answer_and_close_when_told(server_side& of, ps::tcp_stream& peer) {
    co_await ps::or_return(answer_and_close(of, peer));
    co_await wait_until([&of] { return of.is_told; });
    co_return {};
}
result answer_and_say_more_when_told(server_side& of, ps::tcp_stream& peer) {
    co_await ps::or_return(answer_and_close(of, peer));
    if (of.is_told) co_return {};
    co_await wait_until([&of] { return of.is_told; });
    co_await ps::or_return(peer.send_all(bytes_of(answer)));
    co_return co_await peer.closed();
}
result answer_once_and_close_at_the_next_request(server_side& of, ps::tcp_stream& peer) {
    co_await ps::or_return(answer_and_close(of, peer));
    co_return co_await take_request(of, peer);
}

result answer_and_lend(server_side& of, ps::tcp_stream& peer) {
    co_await ps::or_return(answer_and_close(of, peer));
    of.served = &peer;
    co_await wait_until([&of] { return of.served == nullptr; });
    co_return {};
}
result keep_for_5s(server_side& of, ps::tcp_stream& peer) {
    for (;;) {
        auto const before = of.methods.size();
        co_await ps::or_return(take_request(of, peer));
        if (of.methods.size() == before) co_return {};
        co_await ps::or_return(peer.send_all(
            bytes_of("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=9\r\nContent-Length: 2\r\n\r\nhi")));
    }
}

result serve_script(server_side& of, script what) {
    for (;;) {
        auto peer = co_await ps::or_return(of.listener.accept());
        ++of.connections;
        co_await ps::or_return(what(of, peer));
    }
}

result run_script(script what, visit does) {
    server_side of;
    of.listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(of.listener.local_endpoint());
    http::client client;
    auto first = co_await ps::when_any(serve_script(of, what), does(of, client, at));
    if (auto& done = std::get<1>(first)) co_return *done;
    co_return std::unexpected(std::make_error_code(std::errc::connection_aborted));
}

result many_gets(server_side& of, http::client& client, ps::endpoint at) {
    constexpr int count = 1000;
    for (int i = 0; i < count; ++i) {
        auto const got = co_await ps::or_return(fetch(client, at, http::method::get, "/"));
        EXPECT_EQ(got, "200 hi");
    }
    EXPECT_EQ(of.connections, count);
    EXPECT_EQ(of.methods.size(), std::size_t{count});
    co_return {};
}

result watch_it_go(server_side& of, http::client& client, ps::endpoint at) {
    co_await ps::or_return(fetch(client, at, http::method::get, "/"));
    EXPECT_EQ(client.idle(), 1u);
    of.is_told = true;
    co_await wait_until([&client] { return client.idle() == 0; });
    co_return {};
}

result post_after_more_was_said(server_side& of, http::client& client, ps::endpoint at) {
    co_await ps::or_return(fetch(client, at, http::method::get, "/"));
    EXPECT_EQ(client.idle(), 1u);
    of.is_told = true;
    co_await wait_until([&client] { return client.idle() == 0; });
    auto const got = co_await ps::or_return(fetch(client, at, http::method::post, "/"));
    EXPECT_EQ(got, "200 hi");
    EXPECT_EQ(of.connections, 2);
    co_return {};
}

/// The server closes while the client's worker is busy and does not ask its driver.
result post_without_a_look_between(server_side& of, http::client& client, ps::endpoint at) {
    for (int i = 0; i < 20; ++i) {
        co_await ps::or_return(fetch(client, at, http::method::post, "/", "x"));
        EXPECT_EQ(client.idle(), 1u);
        if (of.served != nullptr) ps::tcp_stream const closed(std::move(*std::exchange(of.served, nullptr)));
        std::this_thread::sleep_for(1ms); // the network's time
        EXPECT_EQ(client.idle(), 1u);
    }
    EXPECT_EQ(of.connections, 20);
    co_return {};
}

result post_what_may_be_repeated(server_side& of, http::client& client, ps::endpoint at) {
    co_await ps::or_return(fetch(client, at, http::method::get, "/"));
    http::client_request ask(http::method::post, "a", "/");
    ask.allow_repeat();
    ask.body() = http::body(std::string("x"));
    auto reply = co_await ps::or_return(client.send(at, std::move(ask)));
    auto const text = co_await ps::or_return(http::read_all(reply.body(), 100));
    EXPECT_EQ(text, "hi");
    std::vector<std::string> const all{"GET", "POST", "POST"};
    EXPECT_EQ(of.methods, all);
    co_return {};
}

result wait_and_get(server_side& of, http::client& client, ps::endpoint at) {
    constexpr std::array idle{0s, 3s, 5s};
    constexpr std::array connections{1, 1, 2};
    for (std::size_t i = 0; i < idle.size(); ++i) {
        co_await ps::sleep(idle[i]);
        co_await ps::or_return(fetch(client, at, http::method::get, "/"));
        EXPECT_EQ(of.connections, connections[i]);
    }
    co_return {};
}

result post_and_get_when_it_closes(server_side& of, http::client& client, ps::endpoint at) {
    co_await ps::or_return(fetch(client, at, http::method::get, "/"));
    auto const posted = co_await fetch(client, at, http::method::post, "/", "x");
    EXPECT_FALSE(posted.has_value()) << "it may have been carried out";
    std::vector<std::string> const once{"GET", "POST"};
    EXPECT_EQ(of.methods, once);
    co_await ps::or_return(fetch(client, at, http::method::get, "/"));
    co_await ps::or_return(fetch(client, at, http::method::get, "/"));
    std::vector<std::string> const all{"GET", "POST", "GET", "GET", "GET"};
    EXPECT_EQ(of.methods, all);
    co_return {};
}

using client_pool = ps::testing::on_a_driver;

TEST_P(client_pool, survives_a_server_that_closes_after_each_answer) { // HT13
    run(run_script(answer_and_close, many_gets));
}
TEST_P(client_pool, closes_a_connection_as_soon_as_its_server_does) { // HT13
    run(run_script(answer_and_close_when_told, watch_it_go));
}
TEST_P(client_pool, closes_a_connection_with_bytes_that_nobody_asked_for) { // HT13
    run(run_script(answer_and_say_more_when_told, post_after_more_was_said));
}
TEST_P(client_pool, sends_again_what_is_idempotent_and_nothing_else) { // HT13
    run(run_script(answer_once_and_close_at_the_next_request, post_and_get_when_it_closes));
}

TEST_P(client_pool, sends_again_what_may_be_repeated) {
    run(run_script(answer_once_and_close_at_the_next_request, post_what_may_be_repeated));
}

using client_pool_of_a_busy_worker = ps::testing::on_a_driver;

TEST_P(client_pool_of_a_busy_worker, posts_nothing_to_a_server_that_has_closed) { // HT13
    run(run_script(answer_and_lend, post_without_a_look_between));
}

INSTANTIATE_TEST_SUITE_P(drivers, client_pool_of_a_busy_worker, ps::testing::real_drivers(),
                         ps::testing::name_of_driver);
INSTANTIATE_TEST_SUITE_P(drivers, client_pool, ps::testing::every_driver(), ps::testing::name_of_driver);

TEST(client_pool_in_any_world, uses_no_connection_for_longer_than_its_server_keeps_it) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        ps::sim::world world({.seed = seed});
        auto const end = world.run(run_script(keep_for_5s, wait_and_get));
        EXPECT_TRUE(end.value().has_value());
        EXPECT_EQ(world.imbalance(), "");
    }
}

result break_off_now_and_then(server_side& of, ps::tcp_stream& peer) {
    for (;;) {
        auto const before = of.methods.size();
        co_await ps::or_return(take_request(of, peer));
        if (of.methods.size() == before) co_return {};
        co_await ps::or_return(peer.send_all(bytes_of(answer)));
        co_await ps::sleep(std::chrono::microseconds(of.methods.size() % 7 * 20));
        if (of.methods.size() % 3 == 0) co_return co_await ps::testing::break_off(peer);
    }
}

result post_many(server_side& of, http::client& client, ps::endpoint at) {
    std::size_t answered = 0, failed = 0;
    for (int i = 0; i < 200; ++i) {
        auto const got = co_await fetch(client, at, http::method::post, "/", "x");
        ++(got.has_value() ? answered : failed);
        co_await ps::sleep(std::chrono::microseconds(i % 5 * 20));
    }
    EXPECT_GT(answered, 100u);
    EXPECT_GE(of.methods.size(), answered);
    EXPECT_LE(of.methods.size(), answered + failed) << "one was carried out twice";
    co_return {};
}

TEST(client_pool_in_any_world, posts_once_to_a_server_that_breaks_off) { // HT13
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        ps::sim::world world({.seed = seed});
        auto const end = world.run(run_script(break_off_now_and_then, post_many));
        EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
        EXPECT_EQ(world.imbalance(), "");
    }
}

TEST(client_pool_in_any_world, survives_a_server_that_closes_in_the_moment_of_reuse) { // HT13
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        ps::sim::world world({.seed = seed});
        auto const end = world.run(run_script(answer_and_close, many_gets));
        EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
        EXPECT_EQ(world.imbalance(), "");
    }
}

// ---- Its size

ps::task<http::response> hello(http::request&) { co_return http::response(200, "text/plain", "hello"); }

result three_at_a_time(http::client& client, ps::endpoint at) {
    auto const one = [&client, at] { return fetch(client, at, http::method::get, "/"); };
    co_await ps::or_return(ps::when_all(one(), one(), one()));
    co_return {};
}

result keep_two_of_three(ps::endpoint at) {
    http::client_options how;
    how.idle_max = 2;
    http::client client(how);
    co_await ps::or_return(three_at_a_time(client, at));
    EXPECT_EQ(client.idle(), 2u);
    co_return {}; // and the client goes, with two idle connections
}

result use_none_that_is_old(ps::endpoint at) {
    http::client client;
    co_await ps::or_return(three_at_a_time(client, at));
    EXPECT_EQ(client.idle(), 3u);
    co_await ps::sleep(61s);
    co_await ps::or_return(fetch(client, at, http::method::get, "/"));
    EXPECT_EQ(client.idle(), 1u);
    co_return {};
}

void expect_balance(result (*what)(ps::endpoint)) {
    http::router routes;
    routes.get("/", hello);
    ps::sim::world world;
    auto const end = world.run(ps::testing::while_served(routes, what));
    EXPECT_TRUE(end.value().has_value());
    EXPECT_EQ(world.imbalance(), "");
}

TEST(client_pool_size, is_bounded_and_goes_with_the_client) { expect_balance(keep_two_of_three); }
TEST(client_pool_size, forgets_what_was_idle_for_too_long) { expect_balance(use_none_that_is_old); }

result count_idle(http::client& client, ps::endpoint at) {
    co_await ps::or_return(three_at_a_time(client, at));
    EXPECT_EQ(client.idle(), 3u);
    co_return {};
}

TEST(client_pool_size, a_client_may_outlive_the_run_that_used_it) {
    http::router routes;
    routes.get("/", hello);
    ps::sim::world world;
    {
        http::client client;
        auto const counts = [&client](ps::endpoint at) { return count_idle(client, at); };
        EXPECT_TRUE(world.run(ps::testing::while_served(routes, counts)).value().has_value());
    }
    EXPECT_EQ(world.imbalance(), "");
}

} // namespace
