// A client that leaves a stream of events: the server's loop does not spin, and the handler is stopped.
#include <pitsaw/http/event_stream.hpp>
#include <pitsaw/http/server.hpp>

#include <pitsaw/pitsaw.hpp>

#include "each_driver.hpp"
#include "http_visit.hpp"
#include "loop/worker.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <utility>

namespace ps = pitsaw;
namespace http = pitsaw::http;
using namespace std::chrono_literals;
using ps::testing::ask;
using ps::testing::break_off;
using ps::testing::wait_until;

namespace {

using result = ps::task<ps::io_result<void>>;

/// Sets a flag when a handler ends, whichever way.
class on_exit {
  public:
    explicit on_exit(bool& of) noexcept : flag_(of) {}
    on_exit(on_exit&&) = delete;
    ~on_exit() { flag_ = true; }

  private:
    bool& flag_;
};

http::router event_routes(bool& is_over) {
    http::router routes;
    routes.get("/busy", [&is_over](http::request&) -> ps::task<http::response> {
        auto work = [&is_over](http::event_writer& to) -> result {
            on_exit const guard(is_over);
            for (;;) {
                co_await ps::or_return(to.heartbeat());
                co_await ps::sleep(5ms);
            }
        };
        co_return http::event_response(std::move(work));
    });
    routes.get("/silent", [&is_over](http::request&) -> ps::task<http::response> {
        auto work = [&is_over](http::event_writer& to) -> result {
            on_exit const guard(is_over);
            co_await ps::or_return(to.heartbeat());
            co_await ps::sleep(1h);
            co_return {};
        };
        co_return http::event_response(std::move(work));
    });
    return routes;
}

ps::task<std::uint64_t> turns() {
    ps::environment const& env = co_await ps::this_task::get_environment();
    co_return static_cast<ps::worker&>(*env.executor).turn();
}

result finish_then_break(ps::endpoint at, char const* target, bool& is_over) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
    co_await ps::or_return(ask(peer, target));
    auto const first = co_await ps::or_return(peer.receive());
    EXPECT_FALSE(first.empty());
    co_await ps::sleep(50ms); // longer than `watch_after`
    co_await ps::or_return(peer.shutdown_send());
    auto const before = co_await turns();
    co_await ps::sleep(200ms); // 40 heartbeats at most
    auto const after = co_await turns();
    EXPECT_LT(after - before, 400u) << "the loop spins";
    EXPECT_FALSE(is_over) << "who has finished sending still listens";
    co_await ps::or_return(break_off(peer));
    co_await wait_until([&is_over] { return is_over; });
    co_return {};
}

result visit(char const* target) {
    bool is_over = false;
    auto routes = event_routes(is_over);
    auto const what = [&is_over, target](ps::endpoint at) { return finish_then_break(at, target, is_over); };
    co_return co_await ps::testing::while_served(routes, what);
}

ps::task<http::response> note_why(ps::stop_reason& why, bool& is_over) {
    auto const end = co_await ps::as_outcome(ps::sleep(1h));
    why = end.reason();
    is_over = true;
    co_return http::response();
}

result break_while_asking() {
    bool is_over = false;
    auto why = ps::stop_reason::none;
    http::router routes;
    routes.get("/", [&](http::request&) { return note_why(why, is_over); });
    auto const what = [&is_over](ps::endpoint at) -> result {
        auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
        co_await ps::or_return(ask(peer, "/"));
        co_await ps::sleep(50ms); // longer than `watch_after`
        co_await ps::or_return(break_off(peer));
        co_await wait_until([&is_over] { return is_over; });
        co_return {};
    };
    co_await ps::or_return(ps::testing::while_served(routes, what));
    EXPECT_EQ(why, ps::stop_reason::peer_gone);
    co_return {};
}

using gone_client = ps::testing::on_a_driver;

TEST_P(gone_client, is_the_reason_of_its_handlers_stop) { run(break_while_asking()); }

TEST_P(gone_client, stops_a_handler_that_writes_and_the_loop_does_not_spin) { run(visit("/busy")); } // HT12
TEST_P(gone_client, stops_a_handler_that_is_silent_and_the_loop_does_not_spin) {
    run(visit("/silent"));
} // HT12

INSTANTIATE_TEST_SUITE_P(drivers, gone_client, ps::testing::every_driver(), ps::testing::name_of_driver);

} // namespace
