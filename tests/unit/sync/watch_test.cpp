#include <pitsaw/sync/watch.hpp>

#include "observed_runtime.hpp"
#include "two_runtimes.hpp"

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_stop.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

TEST(watch, a_receiver_sees_the_newest_value_and_may_miss_those_before_it) {
    observed_runtime world;
    ps::watch<std::string> state("a");
    ps::watch<std::string>::receiver mine(state);
    std::vector<std::string> seen;
    auto watches = [&]() -> ps::task<> {
        while (auto const next = co_await mine.next()) seen.push_back(*next);
    };
    auto sets = [&]() -> ps::task<> {
        state.set("b");
        state.set("c");
        co_await ps::sleep(1ms);
        state.set("d");
        state.close();
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(watches(), sets()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(seen, (std::vector<std::string>{"c", "d"}));
    EXPECT_EQ(state.get(), "d");
}

TEST(watch, what_was_set_before_the_wait_is_seen_at_once) { // LW5
    observed_runtime world;
    ps::watch<int> state(0);
    ps::watch<int>::receiver mine(state);
    state.set(1);
    auto work = [&]() -> ps::task<> {
        EXPECT_EQ(co_await mine.next(), 1);
        auto const nothing_new = co_await ps::with_timeout(1ms, mine.next());
        EXPECT_FALSE(nothing_new.has_value());
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(world.elapsed(), 1ms);
}

TEST(watch, a_stopped_wait_has_seen_nothing) {
    ps::sim::book values("values");
    auto const body = [&]() -> ps::task<> {
        ps::watch<ps::sim::counted<int>> state(ps::sim::counted<int>(values, 0));
        ps::watch<ps::sim::counted<int>>::receiver mine(state);
        auto watches = [&]() -> ps::task<> {
            for (int last = 0; last < 3;) last = **(co_await mine.next());
        };
        auto sets = [&]() -> ps::task<> {
            for (int i = 1; i < 4; ++i) {
                co_await ps::sleep(1us);
                state.set(ps::sim::counted<int>(values, i));
            }
        };
        co_await ps::when_all(watches(), sets());
    };
    ps::sim::check_stop_options options;
    options.books = {&values};
    auto const report = ps::sim::check_stop(body, options);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.stopped_runs(), 0u);
}

TEST(watch, between_threads_values_only_grow_and_the_last_is_seen) {
    constexpr int last = 50'000;
    ps::watch<int> state(0);
    ps::watch<int>::receiver mine(state);
    int seen = 0;
    auto sets = [&]() -> ps::task<> {
        for (int i = 1; i <= last; ++i) {
            state.set(i);
            if (i % 32 == 0) co_await ps::this_task::yield();
        }
        state.close();
    };
    auto watches = [&]() -> ps::task<> {
        while (auto const next = co_await mine.next()) {
            EXPECT_GT(*next, seen);
            seen = *next;
        }
    };
    run_on_two_threads(sets, watches);
    EXPECT_EQ(seen, last);
}

} // namespace
