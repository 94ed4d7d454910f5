#include <pitsaw/scope/with_priority.hpp>

#include "each_driver.hpp"
#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

ps::task<> says_three_times(std::string& said, char const what) {
    for (int i = 0; i < 3; ++i) {
        said += what;
        co_await ps::this_task::yield();
    }
}
ps::task<> says_at(ps::priority const level, std::string& said, char const what) {
    co_await ps::with_priority(level, says_three_times(said, what));
}

TEST(with_priority, of_what_is_ready_the_highest_goes_first) {
    observed_runtime world;
    std::string said;
    auto const work = [&](ps::task_group& group) -> ps::task<> {
        group.spawn(says_at(ps::priority::low, said, 'l'));
        group.spawn(says_at(ps::priority::normal, said, 'n'));
        group.spawn(says_at(ps::priority::high, said, 'h'));
        co_return;
    };
    // Each says it once when it is spawned, with the priority of who spawned it.
    auto const all = [&]() -> ps::task<> { co_await ps::task_group::run(work); };
    EXPECT_TRUE(ps::sync_wait(world.rt, all()).has_value());
    EXPECT_EQ(said, "lnhhhnnll");
}

ps::task<> takes_every_turn(bool const& is_over, int& turns) {
    while (!is_over) {
        ++turns;
        co_await ps::this_task::yield();
    }
}
ps::task<> has_turns(bool& is_over, int const how_many) {
    for (int i = 0; i < how_many; ++i) co_await ps::this_task::yield();
    is_over = true;
}

TEST(with_priority, the_lowest_has_turns_while_the_highest_is_always_ready) {
    observed_runtime world;
    bool is_over = false;
    int turns = 0;
    auto const work = [&]() -> ps::task<> {
        (void)co_await ps::when_all(ps::with_priority(ps::priority::high, takes_every_turn(is_over, turns)),
                                    ps::with_priority(ps::priority::low, has_turns(is_over, 10)));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_GE(turns, 10 * int(ps::ready_levels::turns_max) - 1);
    EXPECT_LE(turns, 12 * int(ps::ready_levels::turns_max + 1));
}

ps::task<ps::priority> level_here() { co_return (co_await ps::this_task::get_environment()).level; }

TEST(with_priority, is_inherited_through_scopes_and_ends_with_its_await) {
    observed_runtime world;
    auto const work = [&]() -> ps::task<> {
        auto const inside = []() -> ps::task<ps::priority> {
            auto found = ps::priority::normal;
            auto const children = [&](ps::task_group& group) -> ps::task<> {
                group.spawn([&]() -> ps::task<> { found = co_await level_here(); });
                co_return;
            };
            co_await ps::task_group::run(children);
            co_return found;
        };
        EXPECT_EQ(co_await ps::with_priority(ps::priority::low, inside()), ps::priority::low);
        EXPECT_EQ(co_await level_here(), ps::priority::normal);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(with_priority, a_timer_that_fires_puts_its_task_into_its_own_queue) {
    observed_runtime world;
    std::string said;
    auto const wakes = [&](char const what) -> ps::task<> {
        co_await ps::sleep(1ms);
        said += what;
    };
    auto const work = [&]() -> ps::task<> {
        (void)co_await ps::when_all(ps::with_priority(ps::priority::low, wakes('l')), wakes('n'),
                                    ps::with_priority(ps::priority::high, wakes('h')));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(said, "hnl");
}

using with_priority_on = on_a_driver;
INSTANTIATE_TEST_SUITE_P(drivers, with_priority_on, real_drivers(), name_of_driver);

/// One thread runs the jobs, and the worker is held up until it has posted the first two.
ps::task<ps::io_result<void>> comes_back_first() {
    ps::blocking_options one;
    one.threads_max = 1;
    ps::blocking_pool pool(one);
    std::string said;
    std::atomic<bool> are_posted = false;
    auto const calls = [&](char const what) -> ps::task<> {
        co_await ps::blocking(pool, [] {});
        said += what;
    };
    auto const at = [&](ps::priority const level, char const what) -> ps::task<> {
        co_await ps::with_priority(level, calls(what));
    };
    auto const is_third = [&]() -> ps::task<> { co_await ps::blocking(pool, [&] { are_posted = true; }); };
    auto const holds_up = [&]() -> ps::task<> {
        while (!are_posted) std::this_thread::yield();
        co_return;
    };
    auto const work = [&](ps::task_group& group) -> ps::task<> {
        group.spawn(at, ps::priority::low, 'l');
        group.spawn(at, ps::priority::high, 'h');
        group.spawn(is_third);
        group.spawn(holds_up);
        co_return;
    };
    co_await ps::task_group::run(work);
    EXPECT_EQ(said, "hl");
    co_return {};
}
TEST_P(with_priority_on, jobs_come_back_with_the_priority_of_their_tasks) { run(comes_back_first()); }

TEST(with_priority, a_stop_reaches_what_is_below) {
    observed_runtime world;
    auto const stops = []() -> ps::task<> { co_await ps::with_priority(ps::priority::low, ps::sleep(1h)); };
    EXPECT_TRUE(run_stopped(world.rt, 5ms, stops()).is_stopped());
    EXPECT_EQ(world.elapsed(), 5ms);
}

} // namespace
