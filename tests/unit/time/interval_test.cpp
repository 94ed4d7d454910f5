#include <pitsaw/time/interval.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <type_traits>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

// TM5: as with sleep; and there is no reset that another thread could call.
static_assert(!std::is_move_constructible_v<ps::interval::tick_awaiter>);

/// "due@delivered" in milliseconds for the next `count` ticks.
ps::task<std::string> ticks(ps::interval& every, int count) {
    std::string text;
    auto& worker = *(co_await ps::this_task::get_environment()).executor;
    for (int i = 0; i < count; ++i) {
        auto const due = co_await every.tick();
        auto const ms = [](ps::time_point at) { return std::to_string(at.time_since_epoch() / 1ms); };
        text += (i == 0 ? "" : " ") + ms(due) + "@" + ms(worker.now());
    }
    co_return text;
}

TEST(interval, ticks_at_its_period_from_the_first_await_on) {
    observed_runtime world;
    auto work = []() -> ps::task<std::string> {
        ps::interval every(10ms);
        co_await ps::sleep(5ms);
        auto const text = co_await ticks(every, 3);
        co_return text;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), "15@15 25@25 35@35");
}

TEST(interval, keeps_to_its_grid_however_long_the_work_between_two_ticks) {
    observed_runtime world;
    auto work = []() -> ps::task<> {
        ps::interval every(10ms);
        for (int i = 1; i <= 5; ++i) {
            auto const due = co_await every.tick();
            EXPECT_EQ(due, ps::time_point(10ms * i));
            co_await ps::sleep(ps::duration(1ms) * i);
        }
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

ps::task<std::string> blocked_for_35ms(observed_runtime& world, ps::missed_ticks policy) {
    ps::interval every(10ms, policy);
    auto text = co_await ticks(every, 1);
    world.driver.advance(35ms);
    text += " | " + co_await ticks(every, 5);
    co_return text;
}

// TM3
TEST(interval, burst_delivers_each_missed_tick_at_once_and_then_keeps_to_the_grid) {
    observed_runtime world;
    auto end = ps::sync_wait(world.rt, blocked_for_35ms(world, ps::missed_ticks::burst));
    EXPECT_EQ(end.value(), "10@10 | 20@45 30@45 40@45 50@50 60@60");
}

TEST(interval, skip_delivers_the_late_tick_and_then_keeps_to_the_grid) {
    observed_runtime world;
    auto end = ps::sync_wait(world.rt, blocked_for_35ms(world, ps::missed_ticks::skip));
    EXPECT_EQ(end.value(), "10@10 | 20@45 50@50 60@60 70@70 80@80");
}

TEST(interval, delay_delivers_the_late_tick_and_then_starts_a_new_grid) {
    observed_runtime world;
    auto end = ps::sync_wait(world.rt, blocked_for_35ms(world, ps::missed_ticks::delay));
    EXPECT_EQ(end.value(), "10@10 | 20@45 55@55 65@65 75@75 85@85");
}

TEST(interval, a_tick_missed_by_exactly_one_period_is_not_skipped_twice) {
    observed_runtime world;
    auto work = [&]() -> ps::task<std::string> {
        ps::interval every(10ms, ps::missed_ticks::skip);
        auto text = co_await ticks(every, 1);
        world.driver.advance(20ms); // the moment of the tick after the next
        text += " | " + co_await ticks(every, 2);
        co_return text;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), "10@10 | 20@30 40@40");
}

TEST(interval, a_stop_loses_no_tick) {
    observed_runtime world;
    auto work = []() -> ps::task<> {
        ps::interval every(10ms);
        auto first = co_await ps::with_timeout(4ms, every.tick());
        EXPECT_EQ(first.error(), std::errc::timed_out);
        auto second = co_await ps::with_timeout(6ms - 1ns, every.tick());
        EXPECT_EQ(second.error(), std::errc::timed_out);
        auto third = co_await every.tick();
        EXPECT_EQ(third, ps::time_point(10ms));
        auto raced = co_await ps::when_any(ps::sleep(5ms), every.tick());
        EXPECT_EQ(raced.first(), 0u);
        auto fourth = co_await every.tick();
        EXPECT_EQ(fourth, ps::time_point(20ms));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(interval, a_tick_that_loses_a_race_in_its_own_turn_is_delivered_with_the_result) {
    observed_runtime world;
    auto work = []() -> ps::task<> {
        ps::interval every(10ms);
        auto raced = co_await ps::when_any(ps::sleep(10ms), every.tick());
        EXPECT_EQ(raced.first(), 0u);
        EXPECT_EQ(std::get<1>(raced), ps::time_point(10ms));
        auto next = co_await every.tick();
        EXPECT_EQ(next, ps::time_point(20ms));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(interval, an_outer_stop_ends_it) {
    observed_runtime world;
    int ticked = 0;
    auto work = [&]() -> ps::task<> {
        ps::interval every(10ms);
        for (;;) {
            co_await every.tick();
            ++ticked;
        }
    };
    EXPECT_TRUE(run_stopped(world.rt, 35ms, work()).is_stopped());
    EXPECT_EQ(ticked, 3);
    EXPECT_EQ(world.elapsed(), 35ms);
}

// A burst of many ticks gives way to the others like any task that never waits.
TEST(interval, a_burst_lets_others_run) {
    observed_runtime world;
    int ticked = 0, seen = 0;
    auto work = [&]() -> ps::task<> {
        ps::interval every(1ns);
        co_await every.tick();
        world.driver.advance(100us);
        auto burst = [&]() -> ps::task<> {
            for (int i = 0; i < 100'000; ++i) {
                co_await every.tick();
                ++ticked;
            }
        };
        auto other = [&]() -> ps::task<> {
            co_await ps::this_task::yield();
            seen = ticked;
        };
        co_await ps::when_all(burst(), other());
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(ticked, 100'000);
    EXPECT_LT(seen, 1000);
}

// TM1
TEST(interval, periods_and_moments_at_the_ends_of_the_range_neither_wrap_nor_tick_early) {
    for (auto const policy : {ps::missed_ticks::burst, ps::missed_ticks::skip, ps::missed_ticks::delay}) {
        observed_runtime world;
        auto expect_none = [&](auto period) -> ps::task<> {
            ps::interval every(period, policy);
            auto first = co_await ps::with_timeout(1h, every.tick());
            EXPECT_EQ(first.error(), std::errc::timed_out);
        };
        auto work = [&]() -> ps::task<> {
            co_await expect_none(ps::duration::max());
            co_await expect_none(std::chrono::hours::max());
            co_await expect_none(std::chrono::milliseconds::max());
            co_await expect_none(ps::duration::max() - world.elapsed());
            ps::interval every(ps::duration(24h * 365 * 200), policy); // twice that is beyond the range
            auto const first = co_await every.tick();
            EXPECT_EQ(first - ps::time_point(4h), 24h * 365 * 200);
            auto second = co_await ps::with_timeout(24h * 365, every.tick());
            EXPECT_EQ(second.error(), std::errc::timed_out);
            ps::interval fast(1ns, policy);
            co_await fast.tick();
            world.driver.advance(24h * 365 * 80); // 2.5e18 ticks missed
            auto const late = co_await fast.tick();
            EXPECT_LE(late, ps::time_point(world.elapsed()));
            if (policy == ps::missed_ticks::burst) co_return;
            auto const next = co_await fast.tick();
            EXPECT_EQ(next, ps::time_point(world.elapsed()));
        };
        EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    }
}

TEST(interval_death, a_period_of_nothing_or_less_is_a_checked_error) {
    EXPECT_DEATH(ps::interval(0ms), "period");
    EXPECT_DEATH(ps::interval(-1ns), "period");
}

TEST(interval_death, two_ticks_awaited_at_a_time_are_a_checked_error) {
    auto run = []() -> ps::task<> {
        ps::interval every(10ms);
        co_await ps::when_all(every.tick(), every.tick());
    };
    EXPECT_DEATH((void)ps::sync_wait(run()), "while another tick of it is awaited");
}

} // namespace
