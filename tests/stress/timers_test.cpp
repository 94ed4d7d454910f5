// Timers and timeouts in the kernel's time: what the simulated clock shows in tests/unit/time has to
// survive each driver's way to wait.
#include "stream_pair.hpp"
#include "stress/random_stops.hpp"

#include <array>
#include <thread>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::is_timed_out;

namespace {

using result = ps::task<ps::io_result<void>>;
using timers = ps::testing::on_a_driver;

// ---- Spans at the ends of the range

template <class Span> ps::task<> expect_never(Span span) {
    auto const first = co_await ps::when_any(ps::sleep(span), ps::sleep(1ms));
    EXPECT_EQ(first.first(), 1u);
    EXPECT_FALSE(std::get<0>(first).has_value());
}

result spans_at_the_ends_of_the_range() {
    co_await expect_never(ps::duration::max());
    co_await expect_never(ps::duration::max() - 1ns);
    co_await expect_never(std::chrono::hours::max());
    co_await expect_never(std::chrono::milliseconds::max());
    auto const now = (co_await ps::this_task::get_environment()).executor->now().time_since_epoch();
    co_await expect_never(ps::duration::max() - now);
    co_await ps::sleep(0ns);
    co_await ps::sleep(-1ns);
    co_await ps::sleep(ps::duration::min());
    auto const late = co_await ps::with_timeout(-1h, ps::sleep(1ms));
    EXPECT_FALSE(late.has_value());
    co_return {};
}

TEST_P(timers, that_cannot_be_reached_do_not_fire_and_those_of_the_past_do) { // TM1
    run(spans_at_the_ends_of_the_range());
}

TEST_P(timers, a_sleep_without_an_end_is_ended_by_a_stop_of_another_thread) { // TM1, LW12
    for (auto const span : {ps::duration::max(), ps::duration::max() - 1ns, ps::duration(24h * 365 * 200)}) {
        ps::runtime rt(ps::testing::make_driver(GetParam()));
        auto const sleep_long = [](ps::duration how_long) -> ps::task<> { co_await ps::sleep(how_long); };
        std::jthread const stopper([&rt] {
            std::this_thread::sleep_for(1ms);
            rt.request_stop();
        });
        EXPECT_TRUE(ps::sync_wait(rt, sleep_long(span)).is_stopped());
    }
}

// ---- After blocking work

result sleep_after_blocking() {
    co_await ps::sleep(1ms);
    std::this_thread::sleep_for(50ms);
    auto const called = std::chrono::steady_clock::now();
    co_await ps::sleep(20ms);
    EXPECT_GE(std::chrono::steady_clock::now() - called, 20ms);
    std::this_thread::sleep_for(50ms);
    auto const called_again = std::chrono::steady_clock::now();
    auto const timed = co_await ps::with_timeout(20ms, ps::sleep(1h));
    EXPECT_FALSE(timed.has_value());
    EXPECT_GE(std::chrono::steady_clock::now() - called_again, 20ms);
    co_return {};
}

TEST_P(timers, count_from_the_call_after_the_thread_was_blocked) { // TM3
    run(sleep_after_blocking());
}

// ---- At the edge of a deadline

constexpr int edges = 3'000;

result meet_at_the_edge() {
    int ended = 0, stopped = 0;
    auto& worker = *(co_await ps::this_task::get_environment()).executor;
    for (int i = 0; i < edges; ++i) {
        auto const limit = ps::duration(std::chrono::microseconds(10 + i % 3 - 1));
        auto const got = co_await ps::with_timeout(limit, ps::sleep(10us));
        ++(got.has_value() ? ended : stopped);
        EXPECT_EQ(worker.timers.size(), 0u);
    }
    EXPECT_EQ(ended + stopped, edges);
    co_return {};
}

TEST_P(timers, stopped_and_begun_again_at_their_deadline_end_once_each_time) { // TM7
    run(meet_at_the_edge());
}

// ---- A timeout around all kinds of waits

ps::task<> receive_nothing(ps::tcp_stream& from) {
    std::array<std::byte, 16> into{};
    (void)co_await from.receive(into);
}

ps::task<> wait_for_much(ps::testing::stream_pair& ends) {
    auto const body = [&ends](ps::task_group& group) -> ps::task<> {
        auto const timed = []() -> ps::task<> { (void)co_await ps::with_timeout(1h, ps::sleep(2h)); };
        auto const raced = [](ps::tcp_stream& from) -> ps::task<> {
            (void)co_await ps::when_any(from.receive(), ps::sleep(3h));
        };
        group.spawn(receive_nothing(ends.server));
        group.spawn(raced(ends.client));
        group.spawn(timed());
        co_await ps::sleep(1h);
    };
    co_await ps::task_group::run(body);
}

result time_out_of_much() {
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    auto& worker = *(co_await ps::this_task::get_environment()).executor;
    for (int i = 0; i < 200; ++i) {
        auto const span = std::chrono::microseconds(i * 5);
        auto const got = co_await ps::with_timeout(span, wait_for_much(ends));
        EXPECT_TRUE(!got.has_value() && is_timed_out(got.error()));
        EXPECT_EQ(worker.operations, 0u);
        EXPECT_EQ(worker.timers.size(), 0u);
    }
    co_return {};
}

TEST_P(timers, a_timeout_leaves_nothing_of_what_it_ends) { // CA21
    run(time_out_of_much());
}

INSTANTIATE_TEST_SUITE_P(drivers, timers, ps::testing::real_drivers(), ps::testing::name_of_driver);

} // namespace
