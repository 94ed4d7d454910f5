#include <pitsaw/net/tcp_listener.hpp>

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_stop.hpp>

#include "driver/decorator.hpp"
#include "driver/sim/driver.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <system_error>

namespace ps = pitsaw;
using namespace std::chrono_literals;

namespace {

ps::task<ps::io_result<void>> connect_three(ps::endpoint at) {
    for (int i = 0; i < 3; ++i) {
        auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
        auto const closing = co_await peer.closed(); // until the server has dropped it
        if (!closing.has_value()) co_return std::unexpected(closing.error());
    }
    co_return {};
}

ps::task<ps::io_result<void>> accept_three(ps::tcp_listener& listener) {
    for (int i = 0; i < 3; ++i) auto peer = co_await ps::or_return(listener.accept());
    co_return {};
}

ps::task<ps::io_result<void>> visits() {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    auto done = co_await ps::when_all(accept_three(listener), connect_three(at));
    if (!done.has_value()) co_return std::unexpected(done.error());
    co_return {};
}

TEST(tcp_listener, every_connection_is_delivered_or_closed_whatever_is_stopped) {
    ps::sim::check_stop_options options;
    options.seeds = 8;
    auto const report = ps::sim::check_stop(visits, options);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.stopped_runs(), 0u);
}

TEST(tcp_listener, a_port_in_use_is_an_error) {
    auto const body = []() -> ps::task<ps::io_result<void>> {
        auto first = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(7)));
        auto second = co_await ps::tcp_listener::bind(ps::endpoint::loopback(7));
        if (second.has_value()) co_return {};
        co_return std::unexpected(second.error());
    };
    ps::sim::world world;
    auto end = world.run(body());
    EXPECT_EQ(end.value().error(), std::errc::address_in_use);
}

// A driver whose process has no descriptor left for the first accepts.
struct short_of_descriptors : ps::laws::broken::decorator {
    explicit short_of_descriptors(ps::driver& inner) : decorator(inner) {}
    auto attempt(ps::operation& op, ps::event& finished) noexcept -> bool override {
        if (op.code != ps::op_code::accept || failures == 0) return decorator::attempt(op, finished);
        --failures;
        finished = {.op = &op, .result = -static_cast<std::int32_t>(std::errc::too_many_files_open)};
        return true;
    }
    int failures = 9;
};

TEST(tcp_listener, waits_and_recovers_while_no_descriptor_is_left) {
    ps::sim_driver inner(ps::sim_driver_options::calm());
    auto made = std::make_unique<short_of_descriptors>(inner);
    auto& driver = *made;
    ps::runtime rt(std::move(made));
    auto const before = driver.now();
    auto end = ps::sync_wait(rt, visits());
    ASSERT_TRUE(end.has_value() && end.value().has_value());
    EXPECT_EQ(driver.failures, 0);
    EXPECT_EQ(driver.now() - before, 1270ms + 2 * 1s); // 10 ms doubled seven times, then the maximum
}

} // namespace
