#include <pitsaw/time/sleep.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <type_traits>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

// TM5: a wait is bound to the worker of the task that awaits it, by type: it can be neither moved away nor
// re-armed from another thread, for it has no handle at all.
static_assert(!std::is_move_constructible_v<ps::sleep_awaiter> &&
              !std::is_copy_constructible_v<ps::sleep_awaiter>);
static_assert(!std::is_move_assignable_v<ps::sleep_awaiter>);

ps::task<ps::duration> time_of(ps::sleep_awaiter (*make)()) {
    auto& worker = *(co_await ps::this_task::get_environment()).executor;
    auto const began = worker.now();
    co_await make();
    co_return worker.now() - began;
}

TEST(sleep, takes_exactly_its_span_in_a_simulated_world) {
    observed_runtime world;
    auto took = [&](auto make) { return ps::sync_wait(world.rt, time_of(make)).value(); };
    EXPECT_EQ(took([] { return ps::sleep(200ms); }), 200ms);
    EXPECT_EQ(took([] { return ps::sleep(1ns); }), 1ns);
    EXPECT_EQ(took([] { return ps::sleep(std::chrono::duration<double, std::nano>(0.1)); }),
              1ns); // rounds up
    EXPECT_EQ(took([] { return ps::sleep(std::chrono::hours(24 * 365)); }), std::chrono::hours(24 * 365));
}

TEST(sleep, of_nothing_or_less_is_over_at_once_and_suspends_nobody) {
    observed_runtime world;
    auto took = [&](auto make) { return ps::sync_wait(world.rt, time_of(make)).value(); };
    EXPECT_EQ(took([] { return ps::sleep(0ns); }), 0ns);
    EXPECT_EQ(took([] { return ps::sleep(-1ns); }), 0ns);
    EXPECT_EQ(took([] { return ps::sleep(ps::duration::min()); }), 0ns);
    EXPECT_EQ(took([] { return ps::sleep(std::chrono::hours::min()); }), 0ns);
    EXPECT_EQ(took([] { return ps::sleep_until(ps::time_point::min()); }), 0ns);
    EXPECT_EQ(took([] { return ps::sleep_until(ps::time_point()); }), 0ns);
    EXPECT_EQ(world.rt.get_executor()->suspensions, 0u);
}

TEST(sleep, until_a_moment_ends_at_that_moment) {
    observed_runtime world;
    auto work = []() -> ps::task<> {
        co_await ps::sleep_until(ps::time_point(10ms));
        co_await ps::sleep_until(ps::time_point(5ms));
        co_await ps::sleep_until(ps::time_point(10ms + 1ns));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(world.elapsed(), 10ms + 1ns);
}

// TM1: however far the clock has come, and however long the span.
TEST(sleep, beyond_the_range_of_the_clock_ends_only_by_a_stop) {
    for (auto const began : {0ns, 1ns, std::chrono::nanoseconds(24h * 365 * 100)}) {
        observed_runtime world;
        world.driver.advance(began);
        int passed = 0;
        auto expect_never = [&](auto span) -> ps::task<> {
            auto first = co_await ps::when_any(ps::sleep(span), ps::sleep(1h));
            if (first.first() == 1) ++passed;
        };
        auto work = [&]() -> ps::task<> {
            co_await expect_never(ps::duration::max());
            co_await expect_never(std::chrono::hours::max());
            co_await expect_never(std::chrono::milliseconds::max());
            co_await expect_never(std::chrono::duration<long double>(1e4000L));
            co_await expect_never(ps::duration::max() - world.elapsed());
            co_await expect_never(ps::duration::max() - world.elapsed() - 1ns);
            auto first = co_await ps::when_any(ps::sleep_until(ps::never),
                                               ps::sleep_until(ps::time_point::max() - 1ns), ps::sleep(1ms));
            EXPECT_EQ(first.first(), 2u);
        };
        EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
        EXPECT_EQ(passed, 6);
        auto for_ever = []() -> ps::task<> { co_await ps::sleep(std::chrono::hours::max()); };
        EXPECT_TRUE(run_stopped(world.rt, 5ms, for_ever()).is_stopped());
    }
}

// TM1: the last moment that the clock can tell, and what comes after it.
TEST(sleep, reaches_the_last_moment_of_the_clock_and_nothing_wraps_there) {
    observed_runtime world;
    auto work = []() -> ps::task<> {
        co_await ps::sleep_until(ps::never - 2ns);
        co_await ps::sleep(1ns);
        auto got = co_await ps::with_timeout(0ns, ps::sleep(1ns));
        EXPECT_EQ(got.error(), std::errc::timed_out);
        co_await ps::sleep(0ns);
        co_await ps::sleep(-1h);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(world.elapsed(), (ps::never - 1ns).time_since_epoch());
}

// TM3
TEST(sleep, after_the_thread_was_blocked_counts_from_the_call) {
    observed_runtime world;
    auto work = [&]() -> ps::task<ps::duration> {
        co_await ps::sleep(1ms);
        world.driver.advance(500ms);
        auto const called = world.elapsed();
        co_await ps::sleep(100ms);
        co_return world.elapsed() - called;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 100ms);
    auto timed = [&]() -> ps::task<ps::duration> {
        world.driver.advance(500ms);
        auto const called = world.elapsed();
        auto got = co_await ps::with_timeout(100ms, ps::sleep(1h));
        EXPECT_EQ(got.error(), std::errc::timed_out);
        co_return world.elapsed() - called;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, timed()).value(), 100ms);
}

// TM3
TEST(sleep, that_ended_while_the_thread_was_blocked_ends_late_and_in_order) {
    observed_runtime world;
    std::vector<int> order;
    auto sleeper = [&](int number, ps::duration span) -> ps::task<> {
        co_await ps::sleep(span);
        order.push_back(number);
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            group.spawn(sleeper, 3, 30ms);
            group.spawn(sleeper, 1, 10ms);
            group.spawn(sleeper, 2, 20ms);
            co_await ps::this_task::yield();
            world.driver.advance(500ms);
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(world.elapsed(), 500ms);
}

TEST(sleep, a_stop_withdraws_its_timer_at_once) {
    observed_runtime world;
    auto sleeper = [](ps::duration span) -> ps::task<> { co_await ps::sleep(span); };
    EXPECT_TRUE(run_stopped(world.rt, 5ms, sleeper(1h)).is_stopped());
    EXPECT_EQ(world.elapsed(), 5ms);
    EXPECT_TRUE(run_stopped(world.rt, before_the_start, sleeper(0ms)).is_stopped());
    EXPECT_EQ(world.elapsed(), 5ms);
}

// TM7: at the edge of its deadline a wait ends or was stopped, never both, and the next one is its own.
TEST(sleep, stopped_and_begun_again_at_its_deadline_ends_once_each_time) {
    observed_runtime world;
    int ended = 0, stopped = 0;
    auto work = [&]() -> ps::task<> {
        for (int i = 0; i < 100'000; ++i) {
            auto const limit = ps::duration(9 + i % 3);
            auto got = co_await ps::with_timeout(limit, ps::sleep(10ns));
            ++(got ? ended : stopped);
        }
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(ended + stopped, 100'000);
    EXPECT_EQ(ended, 33'333);
    EXPECT_EQ(world.elapsed(), ps::duration(33'334 * 9 + 66'666 * 10));
    world.expect_nothing_left();
}

TEST(sleep, that_has_ended_is_not_undone_by_a_stop_in_the_same_turn) {
    observed_runtime world;
    bool has_ended = false;
    auto sleeper = [&]() -> ps::task<> {
        co_await ps::sleep(5ms);
        has_ended = true;
        co_await ps::sleep(0ms);
        ADD_FAILURE();
    };
    auto stopper = [&]() -> ps::task<> {
        auto stop = [&] { world.rt.request_stop(); };
        alarm_call const same_moment(world.rt, 5ms, stop); // armed later, so it fires after the sleep
        co_await ps::sleep(1h);
    };
    auto both = [&]() -> ps::task<> { co_await ps::when_all(sleeper(), stopper()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, both()).is_stopped());
    EXPECT_TRUE(has_ended);
    EXPECT_EQ(world.elapsed(), 5ms);
}

} // namespace
