#include <pitsaw/sync/barrier.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"
#include "two_runtimes.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <array>
#include <optional>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

TEST(barrier, nobody_enters_a_phase_before_all_have_left_the_last) {
    observed_runtime world;
    ps::barrier all(3);
    std::array<int, 3> phase{};
    auto runs = [&](std::size_t self) -> ps::task<> {
        for (int step = 0; step < 10; ++step) {
            co_await ps::sleep(ps::duration(1ms) * (self + 1));
            phase[self] = step;
            co_await all.arrive_and_wait();
            for (int const other : phase) EXPECT_GE(other, step);
        }
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(runs(0), runs(1), runs(2)); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(world.elapsed(), 30ms);
}

TEST(barrier, who_drops_out_is_not_waited_for) {
    observed_runtime world;
    ps::barrier all(2);
    int phases = 0;
    auto runs = [&]() -> ps::task<> {
        for (int step = 0; step < 3; ++step) {
            co_await all.arrive_and_wait();
            ++phases;
        }
    };
    auto drops = [&]() -> ps::task<> {
        co_await all.arrive_and_wait();
        all.arrive_and_drop();
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(runs(), drops()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(phases, 3);
}

TEST(barrier, who_is_stopped_has_arrived_and_is_not_waited_for_later) { // SY5
    observed_runtime world;
    ps::barrier all(3);
    int phases = 0;
    auto gives_up = [&]() -> ps::task<> {
        auto const got = co_await ps::with_timeout(1ms, all.arrive_and_wait());
        EXPECT_FALSE(got.has_value());
    };
    auto stops_before = [&]() -> ps::task<> {
        co_await ps::sleep(1ms);
        auto const end = co_await ps::as_outcome(ps::when_all(stops_itself(), all.arrive_and_wait()));
        EXPECT_TRUE(end.is_stopped());
    };
    auto stays = [&]() -> ps::task<> {
        co_await ps::sleep(2ms);
        for (int step = 0; step < 3; ++step) {
            co_await all.arrive_and_wait();
            ++phases;
        }
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(gives_up(), stops_before(), stays()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(phases, 3);
}

TEST(barrier, a_stop_before_the_await_drops_out) {
    ps::barrier all(2);
    auto once = [&]() -> ps::task<> { co_await all.arrive_and_wait(); };
    EXPECT_TRUE(run_stopped(before_the_start, once()).is_stopped());
    EXPECT_TRUE(run_stopped(1ms, once()).has_value());
    EXPECT_TRUE(run_stopped(1ms, once()).has_value());
}

TEST(barrier, two_runtimes_go_in_step) { // LW1
    ps::barrier both(2);
    std::array<int, 2> done{}; // what TSan watches
    auto runs = [&](std::size_t self) -> ps::task<> {
        for (int step = 0; step < 1000; ++step) {
            ++done[self];
            co_await both.arrive_and_wait();
            EXPECT_EQ(done[0], done[1]);
            co_await both.arrive_and_wait();
        }
    };
    run_on_two_threads([&] { return runs(0); }, [&] { return runs(1); });
}

TEST(barrier_death_test, a_barrier_of_nobody_and_an_arrival_too_many_are_failed_checks) {
    EXPECT_DEATH(ps::barrier(0), "a barrier expects at least one");
    auto const program = [] {
        ps::barrier one(1);
        one.arrive_and_drop();
        one.arrive_and_drop();
    };
    EXPECT_DEATH(program(), "more tasks arrive at a barrier than it expects");
}

} // namespace
