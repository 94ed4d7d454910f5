// A handler that passes on what an upstream streams: as it comes, and no faster than its client takes it.
#include <pitsaw/http/client.hpp>
#include <pitsaw/http/event_stream.hpp>
#include <pitsaw/http/server.hpp>

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_stop.hpp>
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
#include <utility>
#include <vector>

namespace ps = pitsaw;
namespace http = pitsaw::http;
using namespace std::chrono_literals;
using ps::testing::ask;
using ps::testing::wait_until;

namespace {

using result = ps::task<ps::io_result<void>>;

/// What the upstream has done.
struct upstream_side {
    std::vector<ps::time_point> sent_at{}; // each event
    std::uint64_t written = 0;             // bytes without end
    int begun = 0, over = 0;               // of these streams
};

class on_exit {
  public:
    explicit on_exit(int& of) noexcept : count_(of) {}
    on_exit(on_exit&&) = delete;
    ~on_exit() { ++count_; }

  private:
    int& count_;
};

http::router upstream_routes(upstream_side& of) {
    http::router routes;
    routes.get("/ticks", [&of](http::request&) -> ps::task<http::response> {
        auto work = [&of](http::event_writer& to) -> result {
            for (int i = 0; i < 5; ++i) {
                co_await ps::sleep(100ms);
                of.sent_at.push_back(ps::this_task::now());
                co_await ps::or_return(to.write(http::server_event(std::to_string(i))));
            }
            co_return {};
        };
        co_return http::event_response(std::move(work));
    });
    routes.get("/endless", [&of](http::request&) -> ps::task<http::response> {
        auto work = [&of](http::body_writer& to) -> result {
            on_exit const guard(of.over);
            ++of.begun;
            std::string const piece(10'000, 'x');
            for (;;) {
                co_await ps::or_return(to.write(piece));
                of.written += piece.size();
            }
        };
        co_return http::response::stream(200, http::body(http::body::writer(std::move(work))));
    });
    return routes;
}

/// Passes everything on to `upstream`, and back.
http::router proxy_routes(http::client& client, ps::endpoint upstream) {
    http::router routes;
    routes.get("/{path...}", [&client, upstream](http::request& request) -> ps::task<http::response> {
        http::client_request passed(request.method(), "upstream", request.target());
        passed.headers().add_end_to_end(request.headers());
        auto reply = co_await client.send(upstream, std::move(passed));
        if (!reply.has_value()) co_return http::response(502);
        auto made = http::response::stream(reply->status(), http::body(reply->take_body()));
        made.headers().add_end_to_end(reply->headers());
        co_return made;
    });
    return routes;
}

using proxied_visit = result (*)(upstream_side&, ps::endpoint);

result through_a_proxy(upstream_side& of, proxied_visit what, http::server_options how = {},
                       ps::tcp_listener_options listening = {}) {
    auto upstream = upstream_routes(of);
    auto const outer = [&](ps::endpoint at) -> result {
        http::client client;
        auto proxy = proxy_routes(client, at);
        auto const inner = [&of, what](ps::endpoint proxy_at) { return what(of, proxy_at); };
        co_return co_await ps::testing::while_served(proxy, inner, how, listening);
    };
    co_return co_await ps::testing::while_served(upstream, outer, how, listening);
}

// ---- As it comes

result read_ticks(upstream_side& of, ps::endpoint at) {
    http::client client;
    http::client_request request(http::method::get, "a", "/ticks");
    auto reply = co_await ps::or_return(client.send(at, std::move(request)));
    EXPECT_EQ(reply.headers().find("Content-Type"), "text/event-stream");
    EXPECT_EQ(reply.headers().find("X-Accel-Buffering"), "no");
    EXPECT_EQ(reply.headers().find("Cache-Control"), "no-cache");
    http::event_reader events(reply.body());
    for (std::size_t i = 0; i < 5; ++i) {
        auto const event = co_await ps::or_return(events.read());
        EXPECT_TRUE(event.has_value());
        if (!event.has_value()) co_return {};
        EXPECT_EQ(event->data, std::to_string(i));
        EXPECT_EQ(of.sent_at.size(), i + 1) << "it came with a later one";
        EXPECT_LE(ps::this_task::now() - of.sent_at[i], 5ms); // of the simulated time
    }
    co_return {};
}

TEST(proxy, passes_each_event_on_at_once) { // HT18
    ps::sim::world world({.is_calm = true});
    upstream_side of;
    auto const end = world.run(through_a_proxy(of, read_ticks));
    EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
    EXPECT_EQ(world.imbalance(), "");
}

result read_some_ticks(upstream_side&, ps::endpoint at) {
    http::client client;
    http::client_request request(http::method::get, "a", "/ticks");
    auto reply = co_await ps::or_return(client.send(at, std::move(request)));
    co_await ps::or_return(reply.body().read());
    co_return {};
}

TEST(proxy, leaves_nothing_behind_when_stopped_at_any_suspension) {
    upstream_side of;
    ps::sim::check_stop_options options;
    options.points_max = 100;
    auto const report = ps::sim::check_stop([&of] { return through_a_proxy(of, read_some_ticks); }, options);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.stopped_runs(), 0u);
}

// ---- No faster than it is taken

result never_read(upstream_side& of, ps::endpoint at) {
    constexpr int clients = 20;
    ps::tcp_stream_options small;
    small.receive_buffer_bytes = 65'536;
    std::array<ps::tcp_stream, clients> all;
    for (auto& one : all) {
        one = co_await ps::or_return(ps::tcp_stream::connect(at, small));
        co_await ps::or_return(ask(one, "/endless"));
    }
    co_await wait_until([&of] { return of.begun == clients; });
    for (std::uint64_t before = UINT64_MAX; before != of.written;) { // until nobody writes any more
        before = of.written;
        co_await ps::sleep(100ms);
    }
    EXPECT_LT(of.written, std::uint64_t{clients} << 20) << "bytes that nobody reads are kept somewhere";
    co_await wait_until([&of] { return of.over == clients; }); // by `write_timeout`
    co_return {};
}

result hold_up(upstream_side& of) {
    http::server_options how;
    how.write_timeout = 1s;
    ps::tcp_listener_options listening;
    listening.accepted.send_buffer_bytes = 65'536;
    co_return co_await through_a_proxy(of, never_read, how, listening);
}

using proxy_on = ps::testing::on_a_driver;

TEST_P(proxy_on, clients_that_do_not_read_hold_up_the_upstream_and_are_cut_off) { // HT21
    upstream_side of;
    run(hold_up(of));
}

INSTANTIATE_TEST_SUITE_P(drivers, proxy_on, ps::testing::every_driver(), ps::testing::name_of_driver);

} // namespace
