#include <pitsaw/sync/latch.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"
#include "two_runtimes.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

TEST(latch, opens_for_good_when_it_has_been_counted_down) {
    observed_runtime world;
    ps::latch ready(3);
    int passed = 0;
    auto passes = [&]() -> ps::task<> {
        co_await ready.wait();
        ++passed;
    };
    auto counts = [&]() -> ps::task<> {
        ready.count_down(2);
        co_await ps::sleep(1ms);
        EXPECT_EQ(passed, 0);
        EXPECT_FALSE(ready.try_wait());
        ready.count_down();
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(passes(), passes(), counts());
        co_await passes();
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(passed, 3);
    EXPECT_TRUE(ready.try_wait());
}

TEST(latch, arrive_and_wait_lets_the_last_open_it) {
    observed_runtime world;
    ps::latch all(3);
    auto arrives = [&](ps::duration after) -> ps::task<> {
        co_await ps::sleep(after);
        co_await all.arrive_and_wait();
        EXPECT_EQ(world.elapsed(), 3ms);
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(arrives(1ms), arrives(2ms), arrives(3ms)); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(latch, an_arrival_counts_also_where_it_is_stopped) { // SY5
    ps::latch all(2);
    auto arrives = [&]() -> ps::task<> { co_await all.arrive_and_wait(); };
    EXPECT_TRUE(run_stopped(before_the_start, arrives()).is_stopped());
    EXPECT_FALSE(all.try_wait());
    EXPECT_TRUE(run_stopped(1ms, arrives()).has_value());
    ps::latch never(2);
    auto waits = [&]() -> ps::task<> { co_await never.arrive_and_wait(); };
    EXPECT_TRUE(run_stopped(1ms, waits()).is_stopped());
    never.count_down();
    EXPECT_TRUE(never.try_wait());
}

TEST(latch, is_counted_down_from_another_runtime) { // LW1
    ps::latch counted(1000);
    int sum = 0; // what TSan watches
    auto counts = [&]() -> ps::task<> {
        for (int i = 0; i < 1000; ++i) {
            ++sum;
            counted.count_down();
        }
        co_return;
    };
    auto waits = [&]() -> ps::task<> {
        co_await counted.wait();
        EXPECT_EQ(sum, 1000);
    };
    run_on_two_threads(waits, counts);
}

TEST(latch_death_test, counting_below_zero_is_a_failed_check) {
    auto const program = [] {
        ps::latch one(1);
        one.count_down(2);
    };
    EXPECT_DEATH(program(), "a latch is counted down below zero");
}

} // namespace
