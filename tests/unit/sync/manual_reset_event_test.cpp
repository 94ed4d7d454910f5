#include <pitsaw/sync/manual_reset_event.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"
#include "two_runtimes.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

TEST(manual_reset_event, lets_all_pass_while_it_is_set) {
    observed_runtime world;
    ps::manual_reset_event gate;
    int passed = 0;
    auto passes = [&]() -> ps::task<> {
        co_await gate.wait();
        ++passed;
    };
    auto opens = [&]() -> ps::task<> {
        co_await ps::sleep(1ms);
        EXPECT_EQ(passed, 0);
        gate.set();
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(passes(), passes(), opens());
        co_await passes();
        EXPECT_TRUE(gate.is_set());
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(passed, 3);
    gate.reset();
    EXPECT_FALSE(gate.is_set());
}

TEST(manual_reset_event, a_set_between_look_and_wait_is_seen) { // LW5
    observed_runtime world;
    ps::manual_reset_event gate;
    auto work = [&]() -> ps::task<> {
        EXPECT_FALSE(gate.is_set());
        gate.set();
        co_await gate.wait();
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(manual_reset_event, a_reset_at_once_takes_back_none_who_were_let_go) {
    observed_runtime world;
    ps::manual_reset_event gate;
    int passed = 0;
    auto passes = [&]() -> ps::task<> {
        co_await gate.wait();
        ++passed;
    };
    auto pulses = [&]() -> ps::task<> {
        gate.set();
        gate.reset();
        co_return;
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(passes(), passes(), pulses()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(passed, 2);
}

TEST(manual_reset_event, a_stop_ends_the_wait) {
    ps::manual_reset_event gate;
    auto work = [&]() -> ps::task<> { co_await gate.wait(); };
    EXPECT_TRUE(run_stopped(1ms, work()).is_stopped());
    EXPECT_TRUE(run_stopped(before_the_start, work()).is_stopped());
    gate.set();
    EXPECT_TRUE(run_stopped(before_the_start, work()).is_stopped());
    EXPECT_TRUE(run_stopped(1ms, work()).has_value());
}

TEST(manual_reset_event, may_be_destroyed_by_who_was_let_go) {
    for (int i = 0; i < 200; ++i) {
        auto gate = std::make_unique<ps::manual_reset_event>();
        auto* const set_by_other = gate.get();
        auto waits = [&]() -> ps::task<> {
            co_await gate->wait();
            gate.reset();
        };
        auto sets = [&]() -> ps::task<> {
            set_by_other->set();
            co_return;
        };
        run_on_two_threads(waits, sets);
    }
}

TEST(manual_reset_event, a_round_of_two_runtimes_each_wakes_the_other) { // LW1, LW12
    ps::manual_reset_event to_left, to_right;
    int turns = 0; // what TSan watches
    auto left = [&]() -> ps::task<> {
        for (int i = 0; i < 2000; ++i) {
            ++turns;
            to_right.set();
            co_await to_left.wait();
            to_left.reset();
        }
    };
    auto right = [&]() -> ps::task<> {
        for (int i = 0; i < 2000; ++i) {
            co_await to_right.wait();
            to_right.reset();
            ++turns;
            to_left.set();
        }
    };
    run_on_two_threads(left, right);
    EXPECT_EQ(turns, 4000);
}

} // namespace
