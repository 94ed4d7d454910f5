// A client against servers that behave, and against scripted ones that do not.
#include <pitsaw/http/client.hpp>

#include <pitsaw/http/event_stream.hpp>
#include <pitsaw/http/server.hpp>
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_stop.hpp>
#include <pitsaw/sim/world.hpp>

#include "stream_pair.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace ps = pitsaw;
namespace http = pitsaw::http;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

using result = ps::task<ps::io_result<void>>;
using text_result = ps::task<ps::io_result<std::string>>;

text_result fetch(http::client& client, ps::endpoint at, http::method how, std::string_view target,
                  std::string body = "") {
    http::client_request ask(how, "a", target);
    ask.body() = http::body(std::move(body));
    auto reply = co_await ps::or_return(client.send(at, std::move(ask)));
    auto all = co_await ps::or_return(http::read_all(reply.body(), 1 << 20));
    co_return ps::io_result<std::string>(std::to_string(reply.status()) + " " + all);
}

// ---- Our own server

ps::task<http::response> echo(http::request& request) {
    auto all = co_await ps::or_return(http::read_all(request.body(), 1 << 20));
    co_return http::response(200, "text/plain", std::move(all));
}
ps::task<http::response> ticks(http::request&) {
    auto const work = [](http::event_writer& to) -> result {
        for (int i = 0; i < 3; ++i) {
            co_await ps::or_return(to.write(http::server_event(std::to_string(i))));
            co_await ps::sleep(10ms);
        }
        co_return {};
    };
    co_return http::event_response(work);
}

using conversation = result (*)(http::client&, ps::endpoint);

result talk(conversation what) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    http::router routes;
    routes.post("/echo", echo).get("/echo", echo).get("/ticks", ticks);
    http::client client;
    auto first = co_await ps::when_any(http::serve(listener, routes), what(client, at));
    if (auto& done = std::get<1>(first)) co_return *done;
    co_return std::unexpected(std::make_error_code(std::errc::connection_aborted));
}

result echoes(http::client& client, ps::endpoint at) {
    auto const first = co_await ps::or_return(fetch(client, at, http::method::post, "/echo", "hello"));
    EXPECT_EQ(first, "200 hello");
    std::string const large(300'000, 'x');
    auto const second = co_await ps::or_return(fetch(client, at, http::method::post, "/echo", large));
    EXPECT_EQ(second, "200 " + large);
    auto const third = co_await ps::or_return(fetch(client, at, http::method::head, "/echo"));
    EXPECT_EQ(third, "200 "); // HT10
    co_return {};
}

result keeps_one_connection(http::client& client, ps::endpoint at) {
    co_await ps::or_return(echoes(client, at));
    EXPECT_EQ(client.idle(), 1u);
    co_await ps::or_return(echoes(client, at));
    EXPECT_EQ(client.idle(), 1u);
    co_return {};
}

ps::async_generator<std::string> pieces() {
    co_yield "one ";
    co_yield "two";
}

result streams_an_upload(http::client& client, ps::endpoint at) {
    http::client_request ask(http::method::post, "a", "/echo");
    ask.body() = http::body(pieces());
    auto reply = co_await ps::or_return(client.send(at, std::move(ask)));
    auto const all = co_await ps::or_return(http::read_all(reply.body(), 100));
    EXPECT_EQ(all, "one two");
    co_return {};
}

result reads_events(http::client& client, ps::endpoint at) {
    http::client_request ask(http::method::get, "a", "/ticks");
    auto reply = co_await ps::or_return(client.send(at, std::move(ask)));
    EXPECT_EQ(reply.headers().find("X-Accel-Buffering"), "no"); // HT18
    http::event_reader events(reply.body());
    std::string all;
    for (;;) {
        auto const event = co_await ps::or_return(events.read());
        if (!event.has_value()) break;
        all += event->data;
    }
    EXPECT_EQ(all, "012");
    co_return {};
}

struct subject {
    char const* name;
    conversation what;
};
constexpr subject subjects[] = {
    {"echoes", echoes}, {"streams_an_upload", streams_an_upload}, {"reads_events", reads_events}};

class client_and_server : public ::testing::TestWithParam<subject> {};

TEST_P(client_and_server, understand_each_other_in_any_world) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        ps::sim::world world({.seed = seed});
        auto const end = world.run(talk(GetParam().what));
        ASSERT_TRUE(end.has_value());
        EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
        EXPECT_EQ(world.imbalance(), "");
    }
}

TEST_P(client_and_server, leave_nothing_behind_when_stopped_at_any_suspension) {
    ps::sim::check_stop_options options;
    options.points_max = 200;
    auto const report = ps::sim::check_stop([&] { return talk(GetParam().what); }, options);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.stopped_runs(), 0u);
}

INSTANTIATE_TEST_SUITE_P(subjects, client_and_server, ::testing::ValuesIn(subjects),
                         [](auto const& instance) { return instance.param.name; });

TEST(client, keeps_a_connection_whose_answer_was_read) {
    ps::sim::world world;
    auto const end = world.run(talk(keeps_one_connection));
    EXPECT_TRUE(end.value().has_value());
}

// ---- Scripted servers

/// Says `answer` to the first bytes of each connection, and then closes it or waits.
result scripted(ps::tcp_listener& listener, std::string_view answer, bool closes, int& connections) {
    for (;;) {
        auto peer = co_await ps::or_return(listener.accept());
        ++connections;
        auto const asked = co_await ps::or_return(peer.receive());
        co_await ps::or_return(peer.send_all(ps::testing::bytes_of(answer)));
        if (!closes) co_await ps::or_return(peer.closed());
    }
}

text_result two_gets(std::string_view answer, bool closes, http::method how, int& connections) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    http::client client;
    auto const both = [&]() -> text_result {
        auto const first = co_await ps::or_return(fetch(client, at, how, "/"));
        auto const second = co_await ps::or_return(ps::with_timeout(1s, fetch(client, at, how, "/")));
        co_return ps::io_result<std::string>(first + "|" + second);
    };
    auto done = co_await ps::when_any(scripted(listener, answer, closes, connections), both());
    if (auto& text = std::get<1>(done)) co_return *text;
    co_return ps::io_result<std::string>("the server failed"s);
}

TEST(client, survives_a_server_that_closes_after_each_answer) { // HT13
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        ps::sim::world world({.seed = seed});
        int connections = 0;
        auto const end = world.run(
            two_gets("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", true, http::method::get, connections));
        ASSERT_TRUE(end.value().has_value()) << end.value().error().message();
        EXPECT_EQ(*end.value(), "200 hi|200 hi");
        EXPECT_EQ(connections, 2);
    }
}

TEST(client, drops_a_connection_with_bytes_that_nobody_asked_for) { // HT13
    ps::sim::world world({.is_calm = true});
    int connections = 0;
    auto const end = world.run(two_gets("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200", true,
                                        http::method::post, connections));
    ASSERT_TRUE(end.value().has_value()) << end.value().error().message();
    EXPECT_EQ(*end.value(), "200 hi|200 hi");
    EXPECT_EQ(connections, 2);
}

TEST(client, a_body_that_is_cut_off_is_an_error) { // LG11
    for (auto const* const answer : {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi",
                                     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"}) {
        ps::sim::world world({.is_calm = true});
        int connections = 0;
        auto const end = world.run(two_gets(answer, true, http::method::get, connections));
        EXPECT_FALSE(end.value().has_value());
    }
}

TEST(client, knows_the_end_of_a_body_without_a_length) {
    ps::sim::world world({.is_calm = true});
    int connections = 0;
    auto const end = world.run(two_gets("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nall of it", true,
                                        http::method::get, connections));
    ASSERT_TRUE(end.value().has_value());
    EXPECT_EQ(*end.value(), "200 all of it|200 all of it");
}

} // namespace
