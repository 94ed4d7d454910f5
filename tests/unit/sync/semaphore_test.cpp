#include <pitsaw/sync/semaphore.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"
#include "two_runtimes.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

// What docs/guide/sync.md says of a wait.
static_assert(sizeof(ps::acquire_awaiter) <= 80);
static_assert(sizeof(ps::mutex::lock_awaiter) <= 80);
static_assert(sizeof(ps::condition::wait_awaiter) <= 80);

/// Takes `count` permits, notes `name`, keeps them for 1 ms.
ps::task<> note_turn(ps::semaphore& of, std::size_t count, std::string name, std::vector<std::string>& log) {
    auto const permits = co_await of.acquire(count);
    log.push_back(name);
    co_await ps::sleep(1ms);
}

TEST(semaphore, bounds_how_many_go_on_at_a_time) {
    observed_runtime world;
    ps::semaphore limit(3);
    int inside = 0, most = 0;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            auto child = [&]() -> ps::task<> {
                auto const permit = co_await limit.acquire();
                most = std::max(most, ++inside);
                co_await ps::sleep(1ms);
                --inside;
            };
            for (int i = 0; i < 12; ++i) group.spawn(child);
            co_return;
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(most, 3);
    EXPECT_EQ(limit.available(), 3u);
    EXPECT_EQ(world.elapsed(), 4ms);
}

TEST(semaphore, permits_go_back_when_they_are_destroyed_released_or_replaced_and_not_when_forgotten) {
    ps::semaphore of(5);
    {
        auto three = of.try_acquire(3);
        ASSERT_TRUE(three.has_value());
        EXPECT_EQ(three->count(), 3u);
        EXPECT_EQ(of.available(), 2u);
        EXPECT_FALSE(of.try_acquire(3).has_value());
        auto moved = std::move(*three);
        EXPECT_EQ(moved.count(), 3u);
        EXPECT_EQ(three->count(), 0u);
        moved = *of.try_acquire(1);
        EXPECT_EQ(of.available(), 4u);
    }
    EXPECT_EQ(of.available(), 5u);
    auto early = of.try_acquire(2);
    early->release();
    early->release();
    EXPECT_EQ(of.available(), 5u);
    auto kept = of.try_acquire(2);
    kept->forget();
    kept.reset();
    EXPECT_EQ(of.available(), 3u);
    of.release(2);
    EXPECT_EQ(of.available(), 5u);
}

TEST(semaphore, a_request_for_many_is_not_starved_by_those_for_one) { // SY5's kind
    observed_runtime world;
    ps::semaphore of(2);
    std::vector<std::string> log;
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(note_turn(of, 1, "one", log), note_turn(of, 2, "both", log),
                              note_turn(of, 1, "late", log), note_turn(of, 1, "later", log));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(log, (std::vector<std::string>{"one", "both", "late", "later"}));
    EXPECT_EQ(world.elapsed(), 3ms);
}

TEST(semaphore, try_acquire_does_not_overtake_who_waits) {
    observed_runtime world;
    ps::semaphore of(1);
    std::vector<std::string> log;
    auto tries = [&]() -> ps::task<> {
        EXPECT_EQ(of.available(), 1u);
        EXPECT_FALSE(of.try_acquire().has_value());
        of.release();
        co_return;
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(note_turn(of, 2, "both", log), tries()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(log, (std::vector<std::string>{"both"}));
}

TEST(semaphore, a_stopped_head_lets_those_behind_it_go) { // LW2's kind
    observed_runtime world;
    ps::semaphore of(2);
    std::vector<std::string> log;
    auto gives_up = [&]() -> ps::task<> {
        auto const got = co_await ps::with_timeout(1ms, of.acquire(3));
        EXPECT_FALSE(got.has_value());
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(gives_up(), note_turn(of, 1, "first", log), note_turn(of, 1, "second", log));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(log, (std::vector<std::string>{"first", "second"}));
    EXPECT_EQ(of.available(), 2u);
    EXPECT_EQ(world.elapsed(), 2ms);
}

TEST(semaphore, permits_that_were_granted_before_the_stop_are_delivered) {
    observed_runtime world;
    ps::semaphore of(0);
    auto work = [&]() -> ps::task<> {
        auto releases = [&]() -> ps::task<> {
            of.release();
            world.rt.request_stop();
            co_return;
        };
        auto takes = [&]() -> ps::task<bool> {
            auto permit = co_await ps::as_outcome(of.acquire());
            co_return permit.has_value();
        };
        auto const both = co_await ps::when_all(takes(), releases());
        EXPECT_TRUE(std::get<0>(both));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(of.available(), 1u);
}

TEST(semaphore, a_stop_before_the_await_takes_nothing) {
    ps::semaphore of(1);
    auto work = [&]() -> ps::task<> {
        auto const permit = co_await of.acquire();
        ADD_FAILURE() << "went on";
    };
    EXPECT_TRUE(run_stopped(before_the_start, work()).is_stopped());
    EXPECT_EQ(of.available(), 1u);
}

TEST(semaphore, when_any_over_two_keeps_the_permits_of_both) {
    observed_runtime world;
    ps::semaphore left(0), right(0);
    auto work = [&]() -> ps::task<> {
        auto releases = [&]() -> ps::task<> {
            left.release();
            right.release();
            co_return;
        };
        auto takes = [&]() -> ps::task<> {
            auto const first = co_await ps::when_any(left.acquire(), right.acquire());
            EXPECT_TRUE(std::get<0>(first).has_value());
            EXPECT_TRUE(std::get<1>(first).has_value());
        };
        co_await ps::when_all(takes(), releases());
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(left.available(), 1u);
    EXPECT_EQ(right.available(), 1u);
}

TEST(semaphore, is_released_by_a_thread_without_a_runtime) { // LW1
    watchdog const guard;
    ps::semaphore of(0);
    ps::runtime rt;
    std::thread other([&] {
        for (int i = 0; i < 1000; ++i) of.release();
    });
    auto work = [&]() -> ps::task<> {
        for (int i = 0; i < 1000; ++i) (co_await of.acquire()).forget();
    };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    other.join();
    EXPECT_EQ(of.available(), 0u);
}

TEST(semaphore, works_between_runtimes_of_two_threads) { // SY1, SY5, LW12
    ps::semaphore one(1);
    std::atomic<int> inside = 0;
    int rounds = 0; // guarded by the permit
    auto work = [&]() -> ps::task<> {
        for (int i = 0; i < 5000; ++i) {
            auto const permit = co_await one.acquire();
            EXPECT_EQ(++inside, 1);
            ++rounds;
            if (i % 16 == 0) co_await ps::this_task::yield();
            --inside;
        }
    };
    run_on_two_threads(work, work);
    EXPECT_EQ(rounds, 10'000);
    EXPECT_EQ(one.available(), 1u);
}

TEST(semaphore_death_test, destroyed_while_a_task_waits_is_a_failed_check) {
    auto const program = [] {
        observed_runtime world;
        auto of = std::make_optional<ps::semaphore>(0u);
        auto destroys = [&]() -> ps::task<> {
            of.reset();
            co_return;
        };
        auto work = [&]() -> ps::task<> { (void)co_await ps::when_all(of->acquire(), destroys()); };
        (void)ps::sync_wait(world.rt, work());
    };
    EXPECT_DEATH(program(), "a primitive of sync is destroyed while tasks wait");
}

} // namespace
