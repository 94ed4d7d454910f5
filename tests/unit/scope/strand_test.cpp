#include <pitsaw/scope/strand.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"
#include "workers.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

TEST(strand, one_task_at_a_time_from_whichever_worker_across_its_awaits) {
    watchdog const guard;
    ps::runtime rt(workers(3));
    ps::strand one(rt.get_executor(1));
    int count = 0; // nothing guards it but the strand
    bool is_inside = false;
    auto step = [&](int by) -> ps::task<int> {
        EXPECT_FALSE(is_inside);
        is_inside = true;
        int const before = count;
        co_await ps::this_task::yield();
        count = before + by;
        co_await ps::this_task::yield();
        is_inside = false;
        co_return count;
    };
    auto many = [&](std::uint32_t) -> ps::task<> {
        auto body = [&](ps::task_group& group) -> ps::task<> {
            auto child = [&]() -> ps::task<> {
                for (int i = 0; i < 20; ++i) EXPECT_GE(co_await one.run(step, 2), 2);
            };
            for (int i = 0; i < 10; ++i) group.spawn(child);
            co_return;
        };
        co_await ps::task_group::run(body);
    };
    auto work = [&]() -> ps::task<> { co_await ps::on_each_worker(many); };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_EQ(count, 3 * 10 * 20 * 2);
}

TEST(strand, tasks_have_their_turns_in_the_order_in_which_they_came) {
    observed_runtime world;
    ps::strand one(world.rt.get_executor());
    std::string order;
    auto step = [&](char name, ps::duration span) -> ps::task<> {
        order += name;
        co_await ps::sleep(span);
        order += name;
    };
    auto work = [&]() -> ps::task<> {
        (void)co_await ps::when_all(one.run(step, 'a', 3ms), one.run(step, 'b', 1ms),
                                    one.run(step, 'c', 2ms));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(order, "aabbcc");
    EXPECT_EQ(world.elapsed(), 6ms);
}

TEST(strand, a_stop_ends_a_wait_for_a_turn_and_lets_those_behind_go) {
    observed_runtime world;
    ps::strand one(world.rt.get_executor());
    std::string order;
    auto step = [&](char name, ps::duration span) -> ps::task<> {
        order += name;
        co_await ps::sleep(span);
    };
    auto work = [&]() -> ps::task<> {
        auto body = [&](ps::task_group& group) -> ps::task<> {
            auto first = [&]() -> ps::task<> { co_await one.run(step, 'a', 10ms); };
            auto impatient = [&]() -> ps::task<> {
                EXPECT_FALSE((co_await ps::with_timeout(1ms, one.run(step, 'b', 1ms))).has_value());
            };
            auto last = [&]() -> ps::task<> { co_await one.run(step, 'c', 1ms); };
            group.spawn(first);
            group.spawn(impatient);
            group.spawn(last);
            co_return;
        };
        co_await ps::task_group::run(body);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(order, "ac");
    EXPECT_EQ(world.elapsed(), 11ms);
}

TEST(strand, a_stop_or_an_exception_of_the_task_that_has_it_gives_it_to_the_next) {
    observed_runtime world;
    ps::strand one(world.rt.get_executor());
    int ran = 0;
    auto for_ever = []() -> ps::task<> { co_await ps::sleep(1h); };
    auto throws = []() -> ps::task<> {
        co_await ps::sleep(1ms);
        throw std::runtime_error("boom");
    };
    auto counts = [&]() -> ps::task<> {
        ++ran;
        co_return;
    };
    auto work = [&]() -> ps::task<> {
        EXPECT_FALSE((co_await ps::with_timeout(1ms, one.run(for_ever))).has_value());
        EXPECT_TRUE((co_await ps::as_outcome(one.run(throws))).has_exception());
        co_await one.run(counts);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(ran, 1);
}

// Stops at random while three workers ask: whoever holds the strand lets it go, and no turn is lost.
TEST(strand, no_turn_is_lost_to_stops_at_any_moment) {
    watchdog const guard;
    ps::runtime rt(workers(3));
    ps::strand one(rt.get_executor(1));
    int inside = 0;
    auto step = [&]() -> ps::task<> {
        EXPECT_EQ(++inside, 1);
        struct leaves {
            int& inside;
            ~leaves() { --inside; }
        } const on_each_ending{inside};
        for (int i = 0; i < 3; ++i) co_await ps::this_task::yield();
    };
    auto many = [&](std::uint32_t number) -> ps::task<> {
        for (int round = 0; round < 300; ++round) {
            auto body = [&, round](ps::task_group& group) -> ps::task<> {
                auto child = [&]() -> ps::task<> { co_await one.run(step); };
                for (int i = 0; i < 3; ++i) group.spawn(child);
                for (int i = 0; i < (round + static_cast<int>(number)) % 9; ++i)
                    co_await ps::this_task::yield();
                group.request_stop();
            };
            co_await ps::task_group::run(body);
        }
        co_await one.run(step);
    };
    auto work = [&]() -> ps::task<> { co_await ps::on_each_worker(many); };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_EQ(inside, 0);
}

} // namespace
