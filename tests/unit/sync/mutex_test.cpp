#include <pitsaw/sync/mutex.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"
#include "two_runtimes.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

ps::task<> hold(ps::mutex& of, ps::duration span, std::string name, std::vector<std::string>& log) {
    auto const held = co_await of.lock();
    log.push_back(name + " in");
    co_await ps::sleep(span);
    log.push_back(name + " out");
}

TEST(mutex, lets_one_in_at_a_time_in_the_order_in_which_they_came) { // SY1
    observed_runtime world;
    ps::mutex of;
    std::vector<std::string> log;
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(hold(of, 1ms, "a", log), hold(of, 1ms, "b", log), hold(of, 1ms, "c", log));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(log, (std::vector<std::string>{"a in", "a out", "b in", "b out", "c in", "c out"}));
    EXPECT_EQ(world.elapsed(), 3ms);
}

TEST(mutex, is_handed_over_so_that_who_unlocks_cannot_overtake_who_waits) {
    observed_runtime world;
    ps::mutex of;
    std::vector<std::string> log;
    auto again = [&]() -> ps::task<> {
        auto held = co_await of.lock();
        co_await ps::this_task::yield(); // the other waits now
        held.unlock();
        EXPECT_FALSE(of.try_lock());
        held = co_await of.lock();
        log.emplace_back("again");
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(again(), hold(of, 1ms, "other", log)); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(log, (std::vector<std::string>{"other in", "other out", "again"}));
}

TEST(mutex, a_guard_is_empty_once_it_was_moved_or_unlocked) {
    ps::mutex of;
    ps::mutex_guard none;
    EXPECT_FALSE(none);
    auto first = of.try_lock();
    EXPECT_TRUE(first);
    EXPECT_FALSE(of.try_lock());
    auto second = std::move(first);
    EXPECT_FALSE(first);
    EXPECT_TRUE(second);
    second.unlock();
    second.unlock();
    EXPECT_FALSE(second);
    none = of.try_lock();
    EXPECT_TRUE(none);
    none = ps::mutex_guard();
    EXPECT_TRUE(of.try_lock());
}

TEST(mutex, a_stopped_waiter_leaves_and_the_next_one_gets_it) { // SY5
    observed_runtime world;
    ps::mutex of;
    std::vector<std::string> log;
    auto gives_up = [&]() -> ps::task<> {
        auto const got = co_await ps::with_timeout(1ms, of.lock());
        EXPECT_FALSE(got.has_value());
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(hold(of, 2ms, "a", log), gives_up(), hold(of, 1ms, "b", log));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(log, (std::vector<std::string>{"a in", "a out", "b in", "b out"}));
    EXPECT_EQ(world.elapsed(), 3ms);
}

TEST(mutex, a_stop_that_comes_after_the_hand_over_delivers_the_guard) {
    observed_runtime world;
    ps::mutex of;
    auto work = [&]() -> ps::task<> {
        auto holds = [&]() -> ps::task<> {
            auto held = co_await of.lock();
            co_await ps::this_task::yield();
            held.unlock();
            world.rt.request_stop();
        };
        auto waits = [&]() -> ps::task<bool> {
            auto const end = co_await ps::as_outcome(of.lock());
            co_return end.has_value();
        };
        auto const both = co_await ps::when_all(holds(), waits());
        EXPECT_TRUE(std::get<1>(both));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_TRUE(of.try_lock());
}

TEST(mutex, when_any_over_two_holds_each_that_completed) {
    observed_runtime world;
    ps::mutex left, right;
    auto work = [&]() -> ps::task<> {
        auto first = co_await ps::when_any(left.lock(), right.lock());
        EXPECT_TRUE(std::get<0>(first).has_value() && *std::get<0>(first));
        EXPECT_EQ(!left.try_lock(), std::get<0>(first).has_value());
        EXPECT_EQ(!right.try_lock(), std::get<1>(first).has_value());
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_TRUE(left.try_lock());
    EXPECT_TRUE(right.try_lock());
}

TEST(mutex, an_exception_unlocks_it) {
    observed_runtime world;
    ps::mutex of;
    auto throws = [&]() -> ps::task<> {
        auto const held = co_await of.lock();
        throw std::runtime_error("while it is held");
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, throws()).has_exception());
    EXPECT_TRUE(of.try_lock());
}

TEST(mutex, guards_what_two_runtimes_share) { // LW12
    ps::mutex left, right;
    long lefts = 0, rights = 0; // what TSan watches
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            auto child = [&](ps::mutex& of, long& count) -> ps::task<> {
                for (int i = 0; i < 500; ++i) {
                    auto const held = co_await of.lock();
                    auto const before = count;
                    if (i % 8 == 0) co_await ps::this_task::yield();
                    count = before + 1;
                }
            };
            for (int i = 0; i < 4; ++i) {
                group.spawn(child, std::ref(left), std::ref(lefts));
                group.spawn(child, std::ref(right), std::ref(rights));
            }
            co_return;
        });
    };
    run_on_two_threads(work, work);
    EXPECT_EQ(lefts, 4000);
    EXPECT_EQ(rights, 4000);
}

// SC5's kind: each step of the queue is a step, however many wait.
TEST(mutex, twenty_thousand_waiters_each_get_it) {
    observed_runtime world;
    ps::mutex of;
    int count = 0;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            auto child = [&]() -> ps::task<> {
                auto const held = co_await of.lock();
                co_await ps::this_task::yield();
                ++count;
            };
            for (int i = 0; i < 20'000; ++i) group.spawn(child);
            co_return;
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(count, 20'000);
}

// ---- Waits without an end. Without debug checks each is found when nothing is left that could wake a task.

char const* deadlock(char const* with_debug_checks) {
    return ps::detail::debug_checks ? with_debug_checks : "deadlock: every task waits";
}

ps::task<> lock_once_more(ps::mutex& of) { auto const held = co_await of.lock(); }

TEST(mutex_death_test, a_task_that_locks_what_it_holds_is_told_where_it_did) {
    auto const program = [] {
        ps::mutex of;
        auto work = [&]() -> ps::task<> {
            auto const held = co_await of.lock();
            co_await lock_once_more(of);
        };
        (void)ps::sync_wait(work());
    };
    EXPECT_DEATH(program(),
                 deadlock("mutex_test.cpp:.*deadlock: a task waits for a mutex that was locked here"
                          ".*by itself(.|\n)*async stack.*(.|\n)*mutex_test.cpp.*lock_once_more"));
}

TEST(mutex_death_test, so_is_one_that_joins_who_waits_for_what_it_holds) {
    auto const program = [] {
        ps::mutex of;
        auto work = [&]() -> ps::task<> {
            auto const held = co_await of.lock();
            co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
                group.spawn(lock_once_more(of));
                co_return;
            });
        };
        (void)ps::sync_wait(work());
    };
    EXPECT_DEATH(program(), deadlock("deadlock: a task waits for a mutex that was locked here"));
}

TEST(mutex_death_test, so_are_two_that_lock_two_in_opposite_orders) {
    auto const program = [] {
        ps::mutex left, right;
        auto both = [](ps::mutex& one, ps::mutex& other) -> ps::task<> {
            auto const first = co_await one.lock();
            co_await ps::this_task::yield();
            co_await lock_once_more(other);
        };
        auto work = [&]() -> ps::task<> { co_await ps::when_all(both(left, right), both(right, left)); };
        (void)ps::sync_wait(work());
    };
    EXPECT_DEATH(program(), deadlock("locked at .*mutex_test.cpp:[0-9]+ by a task that waits at .*"
                                     "mutex_test.cpp:[0-9]+(.|\n)*deadlock: a task waits for a mutex"));
}

ps::task<> lock_in_a_clean_up(ps::mutex* of) { co_await lock_once_more(*of); }

TEST(mutex_death_test, so_is_a_clean_up_that_locks_what_its_task_holds) {
    ps::mutex of;
    auto work = [&]() -> ps::task<> {
        co_await ps::at_exit(lock_in_a_clean_up, &of);
        auto const held = co_await of.lock();
        co_await ps::sleep(1h);
    };
    if constexpr (ps::detail::debug_checks)
        EXPECT_DEATH((void)run_stopped(1ms, work()),
                     "deadlock: a task waits for a mutex that was locked here");
    else
        EXPECT_TRUE(run_stopped(1ms, work()).is_stopped()); // at the clean-up's deadline
    EXPECT_TRUE(of.try_lock());
}

TEST(mutex, a_wait_that_a_timeout_ends_is_no_deadlock) {
    observed_runtime world;
    ps::mutex of, other;
    auto work = [&]() -> ps::task<> {
        auto const held = co_await of.lock();
        auto const got = co_await ps::with_timeout(1ms, of.lock());
        EXPECT_FALSE(got.has_value());
        auto const either = co_await ps::when_any(of.lock(), ps::sleep(1ms));
        EXPECT_FALSE(std::get<0>(either).has_value());
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(mutex, two_that_lock_two_in_opposite_orders_may_try_for_a_time) {
    observed_runtime world;
    ps::mutex left, right;
    int tries = 0;
    auto both = [&](ps::mutex& one, ps::mutex& other) -> ps::task<> {
        auto const first = co_await one.lock();
        co_await ps::this_task::yield();
        auto const second = co_await other.lock();
    };
    auto insists = [&](ps::mutex& one, ps::mutex& other, ps::duration span) -> ps::task<> {
        for (bool is_done = false; !is_done; ++tries) {
            auto const got = co_await ps::with_timeout(span, both(one, other));
            is_done = got.has_value();
        }
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(insists(left, right, 1ms), insists(right, left, 3ms));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_GT(tries, 2);
}

TEST(mutex, a_guard_that_was_moved_is_nobodys_deadlock) {
    observed_runtime world;
    ps::mutex of;
    ps::mutex_guard kept;
    auto locks = [&]() -> ps::task<> {
        auto held = co_await of.lock();
        kept = std::move(held);
    };
    auto unlocks = [&]() -> ps::task<> {
        kept.unlock();
        co_return;
    };
    auto work = [&]() -> ps::task<> {
        co_await locks();
        co_await ps::when_all(lock_once_more(of), unlocks());
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(mutex, a_holder_that_waits_for_what_it_is_being_given_is_no_deadlock) {
    observed_runtime world;
    ps::mutex left, right;
    auto locks_both = [&]() -> ps::task<> {
        auto const first = co_await left.lock();
        auto const second = co_await right.lock();
        co_await ps::this_task::yield();
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(locks_both(), locks_both(), locks_both(), lock_once_more(right),
                              lock_once_more(left));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(mutex_death_test, destroyed_while_it_is_held_is_a_failed_check) {
    auto const program = [] {
        auto of = std::make_unique<ps::mutex>();
        auto const held = of->try_lock();
        of.reset();
    };
    EXPECT_DEATH(program(), "a mutex is destroyed while it is held");
}

} // namespace
