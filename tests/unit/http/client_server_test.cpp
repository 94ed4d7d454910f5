// Our client and our server: in worlds of the simulator, stopped everywhere, and on every driver.
#include <pitsaw/http/client.hpp>
#include <pitsaw/http/event_stream.hpp>
#include <pitsaw/http/server.hpp>

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_stop.hpp>
#include <pitsaw/sim/world.hpp>

#include "each_driver.hpp"
#include "http_visit.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace ps = pitsaw;
namespace http = pitsaw::http;
using namespace std::chrono_literals;
using ps::testing::fetch;

namespace {

using result = ps::task<ps::io_result<void>>;

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
    http::router routes;
    routes.post("/echo", echo).get("/echo", echo).get("/ticks", ticks);
    http::client client;
    auto const visit = [&client, what](ps::endpoint at) { return what(client, at); };
    co_return co_await ps::testing::while_served(routes, visit);
}

result echoes(http::client& client, ps::endpoint at) {
    auto const first = co_await ps::or_return(fetch(client, at, http::method::post, "/echo", "hello"));
    EXPECT_EQ(first, "200 hello");
    std::string const large(100'000, 'x');
    auto const second = co_await ps::or_return(fetch(client, at, http::method::post, "/echo", large));
    EXPECT_EQ(second, "200 " + large);
    auto const third = co_await ps::or_return(fetch(client, at, http::method::head, "/echo"));
    EXPECT_EQ(third, "200 "); // HT10
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

result leaves_a_body_unread(http::client& client, ps::endpoint at) {
    for (int i = 0; i < 2; ++i) {
        http::client_request ask(http::method::get, "a", "/ticks");
        auto reply = co_await ps::or_return(client.send(at, std::move(ask)));
        EXPECT_EQ(reply.status(), 200u);
    }
    EXPECT_EQ(client.idle(), 0u);
    co_return {};
}

struct subject {
    char const* name;
    conversation what;
};
constexpr subject subjects[] = {{"echoes", echoes},
                                {"streams_an_upload", streams_an_upload},
                                {"reads_events", reads_events},
                                {"leaves_a_body_unread", leaves_a_body_unread}};

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

result keeps_one_connection(http::client& client, ps::endpoint at) {
    for (int i = 0; i < 2; ++i) {
        co_await ps::or_return(echoes(client, at));
        co_await ps::or_return(streams_an_upload(client, at));
        co_await ps::or_return(reads_events(client, at));
        EXPECT_EQ(client.idle(), 1u);
    }
    co_return {};
}

using http_on = ps::testing::on_a_driver;

TEST_P(http_on, every_conversation_keeps_its_connection) { run(talk(keeps_one_connection)); }
TEST_P(http_on, an_answer_that_is_dropped_closes_its_connection) { run(talk(leaves_a_body_unread)); }

INSTANTIATE_TEST_SUITE_P(drivers, http_on, ps::testing::every_driver(), ps::testing::name_of_driver);

} // namespace
