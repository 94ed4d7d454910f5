#include <pitsaw/sync/auto_reset_event.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"
#include "two_runtimes.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <string>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

TEST(auto_reset_event, each_set_lets_one_pass_who_waits_longest) {
    observed_runtime world;
    ps::auto_reset_event signal;
    std::string log;
    auto passes = [&](char name) -> ps::task<> {
        co_await signal.wait();
        log += name;
    };
    auto sets = [&]() -> ps::task<> {
        signal.set();
        co_await ps::sleep(1ms);
        EXPECT_EQ(log, "a");
        signal.set();
        signal.set();
        co_await ps::sleep(1ms);
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(passes('a'), passes('b'), passes('c'), sets()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(log, "abc");
    EXPECT_FALSE(signal.try_wait());
}

TEST(auto_reset_event, a_set_before_the_wait_leaves_one_permit) { // LW5
    observed_runtime world;
    ps::auto_reset_event signal;
    signal.set();
    signal.set();
    auto work = [&]() -> ps::task<> { co_await signal.wait(); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_FALSE(signal.try_wait());
    signal.set();
    EXPECT_TRUE(signal.try_wait());
    EXPECT_TRUE(ps::auto_reset_event(true).try_wait());
}

TEST(auto_reset_event, a_stop_takes_no_permit) {
    ps::auto_reset_event signal(true);
    auto work = [&]() -> ps::task<> { co_await signal.wait(); };
    EXPECT_TRUE(run_stopped(before_the_start, work()).is_stopped());
    EXPECT_TRUE(signal.try_wait());
    EXPECT_TRUE(run_stopped(1ms, work()).is_stopped());
    signal.set();
    EXPECT_TRUE(signal.try_wait());
}

TEST(auto_reset_event, when_any_over_two_loses_no_set) {
    observed_runtime world;
    ps::auto_reset_event left, right;
    auto sets = [&]() -> ps::task<> {
        left.set();
        right.set();
        co_return;
    };
    auto waits = [&]() -> ps::task<> {
        auto const first = co_await ps::when_any(left.wait(), right.wait());
        EXPECT_TRUE(std::get<0>(first).has_value());
        EXPECT_TRUE(std::get<1>(first).has_value() || right.try_wait());
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(waits(), sets()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(auto_reset_event, two_runtimes_each_wake_the_other) { // LW1, LW12
    ps::auto_reset_event to_left, to_right;
    int turns = 0; // what TSan watches
    auto play = [&](ps::auto_reset_event& mine, ps::auto_reset_event& other) -> ps::task<> {
        for (int i = 0; i < 5000; ++i) {
            co_await mine.wait();
            ++turns;
            other.set();
        }
    };
    to_left.set();
    run_on_two_threads([&] { return play(to_left, to_right); }, [&] { return play(to_right, to_left); });
    EXPECT_EQ(turns, 10'000);
    EXPECT_TRUE(to_left.try_wait());
}

} // namespace
