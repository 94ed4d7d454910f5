#include <pitsaw/sync/shared_mutex.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"
#include "two_runtimes.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

struct table {
    ps::shared_mutex of;
    int readers = 0, readers_max = 0, writers = 0;
    std::vector<std::string> log;
};

ps::task<> read(table& in, std::string name) {
    auto const held = co_await in.of.lock_shared();
    EXPECT_TRUE(held.is_shared());
    EXPECT_EQ(in.writers, 0);
    in.readers_max = std::max(in.readers_max, ++in.readers);
    in.log.push_back(name);
    co_await ps::sleep(1ms);
    --in.readers;
}

ps::task<> write(table& in, std::string name) {
    auto const held = co_await in.of.lock();
    EXPECT_FALSE(held.is_shared());
    EXPECT_EQ(in.writers + in.readers, 0);
    ++in.writers;
    in.log.push_back(name);
    co_await ps::sleep(1ms);
    --in.writers;
}

TEST(shared_mutex, readers_go_together_and_a_writer_alone_in_the_order_in_which_they_came) {
    observed_runtime world;
    table in;
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(read(in, "r1"), read(in, "r2"), write(in, "w1"), read(in, "r3"), read(in, "r4"),
                              write(in, "w2"));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(in.log, (std::vector<std::string>{"r1", "r2", "w1", "r3", "r4", "w2"}));
    EXPECT_EQ(in.readers_max, 2);
    EXPECT_EQ(world.elapsed(), 4ms);
}

TEST(shared_mutex, a_writer_that_gives_up_lets_the_readers_behind_it_go) { // LW2's kind, SY5
    observed_runtime world;
    table in;
    auto gives_up = [&]() -> ps::task<> {
        auto const got = co_await ps::with_timeout(1ms, in.of.lock());
        EXPECT_FALSE(got.has_value());
    };
    auto stays = [&]() -> ps::task<> {
        auto const held = co_await in.of.lock_shared();
        co_await ps::sleep(5ms);
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(stays(), gives_up(), read(in, "r1"), read(in, "r2"));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(in.readers_max, 2);
    EXPECT_EQ(world.elapsed(), 5ms); // they did not wait for who stays
}

TEST(shared_mutex, a_stopped_wait_before_the_start_holds_nothing) {
    table in;
    EXPECT_TRUE(run_stopped(before_the_start, write(in, "w")).is_stopped());
    EXPECT_TRUE(run_stopped(before_the_start, read(in, "r")).is_stopped());
    EXPECT_TRUE(in.of.try_lock());
}

TEST(shared_mutex, try_lock_holds_nothing_where_the_others_would_wait) {
    observed_runtime world;
    table in;
    auto tries = [&]() -> ps::task<> {
        auto const one = in.of.try_lock_shared();
        auto const two = in.of.try_lock_shared();
        EXPECT_TRUE(one && two && !in.of.try_lock());
        co_await ps::this_task::yield(); // the writer waits now
        EXPECT_FALSE(in.of.try_lock_shared());
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(tries(), write(in, "w")); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    auto alone = in.of.try_lock();
    EXPECT_TRUE(alone);
    EXPECT_FALSE(in.of.try_lock_shared());
    auto moved = std::move(alone);
    EXPECT_FALSE(alone);
    moved.unlock();
    alone = in.of.try_lock_shared();
    EXPECT_TRUE(alone.is_shared());
    alone = ps::shared_mutex_guard();
    EXPECT_FALSE(alone.is_shared());
    EXPECT_TRUE(in.of.try_lock());
}

TEST(shared_mutex, readers_of_two_runtimes_see_whole_writes) {
    ps::shared_mutex of;
    long first = 0, second = 0; // what TSan watches
    auto work = [&]() -> ps::task<> {
        for (int i = 0; i < 2000; ++i) {
            if (i % 4 == 0) {
                auto const held = co_await of.lock();
                ++first;
                if (i % 16 == 0) co_await ps::this_task::yield();
                ++second;
            } else {
                auto const held = co_await of.lock_shared();
                EXPECT_EQ(first, second);
                if (i % 16 == 1) co_await ps::this_task::yield();
            }
        }
    };
    run_on_two_threads(work, work);
    EXPECT_EQ(first, 1000);
}

TEST(shared_mutex_death_test, destroyed_while_it_is_held_is_a_failed_check) {
    auto const program = [] {
        auto of = std::make_unique<ps::shared_mutex>();
        auto const held = of->try_lock_shared();
        of.reset();
    };
    EXPECT_DEATH(program(), "a shared_mutex is destroyed while it is held");
}

} // namespace
