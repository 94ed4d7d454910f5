// What ends a request before its answer: a client that goes, one that does not read, a stop of the server.
#include <pitsaw/http/server.hpp>

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/world.hpp>

#include "each_driver.hpp"
#include "http_visit.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace ps = pitsaw;
namespace http = pitsaw::http;
using namespace std::chrono_literals;
using namespace std::string_literals;
using ps::testing::ask;
using ps::testing::receive_all;
using ps::testing::text_of;

namespace {

using result = ps::task<ps::io_result<void>>;

/// What a handler that waits for an hour has seen.
struct seen {
    bool is_begun = false;
    std::optional<ps::time_point> stopped_at{};
    std::size_t written = 0; // bytes
};

struct on_exit {
    explicit on_exit(seen& of) noexcept : into(of) {}
    ~on_exit() { into.stopped_at = ps::this_task::now(); }
    seen& into;
};

http::router waiting_routes(seen& into) {
    http::router routes;
    routes.get("/wait", [&into](http::request&) -> ps::task<http::response> {
        into.is_begun = true;
        on_exit const guard(into);
        co_await ps::sleep(1h);
        co_return http::response(200);
    });
    routes.get("/soon", [&into](http::request&) -> ps::task<http::response> {
        into.is_begun = true;
        co_await ps::sleep(2s);
        co_return http::response(200, "text/plain", "soon"s);
    });
    routes.get("/endless", [&into](http::request&) -> ps::task<http::response> {
        auto work = [&into](http::body_writer& to) -> result {
            on_exit const guard(into);
            std::string const piece(10'000, 'x');
            for (;;) {
                co_await ps::or_return(to.write(piece));
                into.written += piece.size();
            }
        };
        co_return http::response::stream(200, http::body(http::body::writer(std::move(work))));
    });
    return routes;
}

result leave_broken(ps::endpoint at) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
    co_await ps::or_return(ask(peer, "/wait"));
    co_await ps::sleep(1s);
    co_await ps::or_return(ps::testing::break_off(peer));
    co_await ps::sleep(1s);
    co_return {};
}

result finish_and_listen(ps::endpoint at) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
    co_await ps::or_return(ask(peer, "/soon"));
    co_await ps::or_return(peer.shutdown_send());
    auto const chunk = co_await ps::or_return(peer.receive());
    EXPECT_EQ(text_of(chunk.bytes()).substr(0, 15), "HTTP/1.1 200 OK");
    co_return {};
}

result finish_and_wait(ps::endpoint at) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
    co_await ps::or_return(ask(peer, "/wait"));
    co_await ps::or_return(peer.shutdown_send());
    co_await ps::sleep(1s);
    co_return {};
}

result never_read(ps::endpoint at) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
    co_await ps::or_return(ask(peer, "/endless"));
    co_await ps::sleep(60s);
    co_return {};
}

ps::duration run_visit(seen& into, ps::testing::http_visit what, http::server_options how = {}) {
    ps::sim::world world({.is_calm = true});
    auto routes = waiting_routes(into);
    auto const before = world.now();
    auto const end = world.run(ps::testing::while_served(routes, std::move(what), how));
    EXPECT_TRUE(end.has_value() && end.value().has_value());
    EXPECT_EQ(world.imbalance(), "");
    return into.stopped_at.value_or(ps::never) - before;
}

TEST(server_end, a_client_whose_connection_breaks_stops_its_handler) { // HT12, LG1
    seen into;
    EXPECT_LT(run_visit(into, leave_broken), 1100ms);
    EXPECT_TRUE(into.is_begun);
}

TEST(server_end, a_client_that_has_finished_sending_still_listens) { // LG1
    seen into;
    run_visit(into, finish_and_listen);
    EXPECT_TRUE(into.is_begun);
}

TEST(server_end, a_server_may_take_a_finished_client_for_gone) { // LG1
    seen into;
    http::server_options how;
    how.gone = http::client_gone::when_finished;
    EXPECT_LT(run_visit(into, finish_and_wait, how), 100ms);
}

TEST(server_end, a_client_that_does_not_read_holds_up_its_handler_and_is_cut_off) { // HT21
    seen into;
    EXPECT_LT(run_visit(into, never_read), 40s);
    EXPECT_LT(into.written, 4'000'000u);
}

// ---- A stop of the server

struct drained {
    std::string answer;
    bool is_idle_closed = false;
    ps::duration after{};
};

ps::task<ps::io_result<drained>> drain(seen& into, std::string_view target) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    auto routes = waiting_routes(into);
    auto busy = co_await ps::or_return(ps::tcp_stream::connect(at));
    auto idle = co_await ps::or_return(ps::tcp_stream::connect(at));
    co_await ps::or_return(ask(busy, target));
    auto const begun = ps::this_task::now();
    auto stopped = co_await ps::with_timeout(1s, http::serve(listener, routes));
    drained made;
    made.after = ps::this_task::now() - begun;
    EXPECT_EQ(stopped.error(), std::errc::timed_out);
    auto const rest = co_await ps::or_return(receive_all(idle));
    made.is_idle_closed = rest.empty();
    made.answer = co_await ps::or_return(receive_all(busy));
    co_return ps::io_result<drained>(std::move(made));
}

drained stopped_with(std::string_view target) {
    ps::sim::world world({.is_calm = true});
    seen into;
    auto const end = world.run(drain(into, target));
    EXPECT_TRUE(into.is_begun);
    EXPECT_EQ(world.imbalance(), "");
    return *end.value();
}

TEST(server_end, a_stop_closes_idle_connections_and_finishes_what_is_in_progress) {
    auto const end = stopped_with("/soon");
    EXPECT_TRUE(end.is_idle_closed);
    EXPECT_EQ(end.answer.substr(0, 15), "HTTP/1.1 200 OK");
    EXPECT_NE(end.answer.find("Connection: close\r\n"), std::string::npos);
    EXPECT_GE(end.after, 2s);
    EXPECT_LT(end.after, 3s);
}

ps::task<ps::io_result<ps::duration>> stop_twice(seen& into) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    auto routes = waiting_routes(into);
    auto busy = co_await ps::or_return(ps::tcp_stream::connect(at));
    co_await ps::or_return(ask(busy, "/wait"));
    auto const begun = ps::this_task::now();
    auto const stopped = co_await ps::with_timeout(3s, ps::with_timeout(1s, http::serve(listener, routes)));
    EXPECT_FALSE(stopped.has_value());
    co_return ps::io_result<ps::duration>(ps::this_task::now() - begun);
}

TEST(server_end, a_second_stop_ends_what_the_first_lets_finish) {
    ps::sim::world world({.is_calm = true});
    seen into;
    auto const end = world.run(stop_twice(into));
    EXPECT_TRUE(into.is_begun);
    EXPECT_GE(*end.value(), 3s);
    EXPECT_LT(*end.value(), 4s);
    EXPECT_EQ(world.imbalance(), "");
}

/// The server was given its listener, and answers one request while others want to come.
struct knocking {
    bool is_asked = false, is_over = false;
};

result knock_until_refused(ps::endpoint at, knocking& of) {
    auto busy = co_await ps::or_return(ps::tcp_stream::connect(at));
    co_await ps::or_return(ask(busy, "/"));
    co_await ps::testing::wait_until([&of] { return of.is_asked; });
    bool is_refused = false;
    for (int tries = 0; !is_refused && tries < 1000; ++tries) {
        auto const late = co_await ps::tcp_stream::connect(at);
        is_refused = !late.has_value() && late.error() == std::errc::connection_refused;
        if (!is_refused) co_await ps::sleep(1ms); // the stop is on its way
    }
    EXPECT_TRUE(is_refused);
    of.is_over = true;
    auto const answer = co_await ps::or_return(receive_all(busy));
    EXPECT_EQ(answer.substr(0, 15), "HTTP/1.1 200 OK");
    co_return {};
}

result drain_with_a_closed_door() {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    knocking of;
    http::router routes;
    routes.get("/", [&of](http::request&) -> ps::task<http::response> {
        of.is_asked = true;
        co_await ps::testing::wait_until([&of] { return of.is_over; });
        co_return http::response(200);
    });
    auto const serves = [&]() -> result {
        auto const asked = [&of] { return ps::testing::wait_until([&of] { return of.is_asked; }); };
        (void)co_await ps::when_any(http::serve(std::move(listener), routes), asked());
        co_return {};
    };
    co_await ps::or_return(ps::when_all(serves(), knock_until_refused(at, of)));
    co_return {};
}

ps::task<http::response> cut_off(http::request&) {
    auto const work = [](http::body_writer& to) -> result {
        co_await ps::or_return(to.write("begun"));
        co_await ps::sleep(20ms);
        co_return std::unexpected(std::make_error_code(std::errc::io_error));
    };
    co_return http::response(200, "text/plain", http::body(http::body::writer(work)));
}
result see_the_break(ps::endpoint at) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
    co_await ps::or_return(peer.send_all(ps::testing::bytes_of("GET / HTTP/1.0\r\n\r\n")));
    auto const all = co_await receive_all(peer);
    EXPECT_FALSE(all.has_value());
    co_return {};
}
result serve_a_break() {
    http::router routes;
    routes.get("/", cut_off);
    co_return co_await ps::testing::while_served(routes, see_the_break);
}

using broken_stream = ps::testing::on_a_driver;

TEST_P(broken_stream, is_no_whole_answer_for_a_client_of_http_1_0) { run(serve_a_break()); }

INSTANTIATE_TEST_SUITE_P(drivers, broken_stream, ps::testing::every_driver(), ps::testing::name_of_driver);

using draining = ps::testing::on_a_driver;

TEST_P(draining, refuses_new_clients_where_the_server_owns_its_listener) { run(drain_with_a_closed_door()); }

INSTANTIATE_TEST_SUITE_P(drivers, draining, ps::testing::every_driver(), ps::testing::name_of_driver);

TEST(server_end, a_stop_waits_for_a_request_no_longer_than_it_may) {
    auto const end = stopped_with("/wait");
    EXPECT_EQ(end.answer, "");
    EXPECT_GE(end.after, 11s);
    EXPECT_LT(end.after, 12s);
}

} // namespace
