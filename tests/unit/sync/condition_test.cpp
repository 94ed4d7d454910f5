#include <pitsaw/sync/condition.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"
#include "two_runtimes.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

struct shop {
    ps::mutex of;
    ps::condition has_orders{of};
    std::vector<int> orders; // `of`
};

ps::task<int> take(shop& from) {
    auto held = co_await from.of.lock();
    auto const has_one = [&] { return !from.orders.empty(); };
    co_await from.has_orders.wait(held, has_one);
    EXPECT_TRUE(held);
    int const taken = from.orders.back();
    from.orders.pop_back();
    co_return taken;
}

ps::task<> put(shop& to, int order) {
    auto const held = co_await to.of.lock();
    to.orders.push_back(order);
    to.has_orders.notify_one();
}

TEST(condition, a_wait_ends_with_the_mutex_held_once_what_it_waits_for_is_true) {
    observed_runtime world;
    shop in;
    auto puts = [&]() -> ps::task<> {
        co_await ps::sleep(1ms);
        co_await put(in, 7);
    };
    auto work = [&]() -> ps::task<> {
        auto const both = co_await ps::when_all(take(in), puts());
        EXPECT_EQ(std::get<0>(both), 7);
        co_await put(in, 8);
        EXPECT_EQ(co_await take(in), 8); // true already: no wait
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(world.elapsed(), 1ms);
    EXPECT_TRUE(in.of.try_lock());
}

TEST(condition, notify_one_takes_who_waits_longest_and_notify_all_takes_all) {
    observed_runtime world;
    shop in;
    std::string log;
    auto waits = [&](char name) -> ps::task<> {
        auto held = co_await in.of.lock();
        co_await in.has_orders.wait(held);
        EXPECT_TRUE(held);
        log += name;
    };
    auto notifies = [&]() -> ps::task<> {
        in.has_orders.notify_one();
        co_await ps::sleep(1ms);
        EXPECT_EQ(log, "a");
        in.has_orders.notify_all();
        in.has_orders.notify_one(); // nobody waits
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(waits('a'), waits('b'), waits('c'), notifies());
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(log, "abc");
}

TEST(condition, unlocking_and_waiting_are_one_step) { // LW1, LW5
    observed_runtime world;
    shop in;
    bool has_notified = false;
    auto waits = [&]() -> ps::task<> {
        auto held = co_await in.of.lock();
        co_await in.has_orders.wait(held);
        EXPECT_TRUE(has_notified);
    };
    auto notifies = [&]() -> ps::task<> {
        auto const held = co_await in.of.lock(); // handed over by the wait itself
        has_notified = true;
        in.has_orders.notify_one();
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(waits(), notifies()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(condition, a_notified_task_that_is_stopped_before_it_has_the_mutex_notifies_the_next) { // LW2's kind
    observed_runtime world;
    shop in;
    std::vector<int> taken;
    auto gives_up = [&]() -> ps::task<> {
        auto const end = co_await ps::with_timeout(2ms, take(in));
        EXPECT_FALSE(end.has_value());
    };
    auto takes = [&]() -> ps::task<> { taken.push_back(co_await take(in)); };
    auto puts = [&]() -> ps::task<> {
        co_await ps::sleep(1ms);
        auto const held = co_await in.of.lock();
        in.orders.push_back(7);
        in.has_orders.notify_one(); // the first, which waits for the mutex from here on
        co_await ps::sleep(2ms);
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(gives_up(), takes(), puts()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(taken, (std::vector<int>{7}));
    EXPECT_EQ(world.elapsed(), 3ms);
}

TEST(condition, a_stopped_wait_ends_without_the_mutex) {
    for (auto const at : {before_the_start, ps::duration(1ms)}) {
        shop in;
        std::optional<bool> holds;
        auto waits = [&]() -> ps::task<> {
            auto held = in.of.try_lock();
            auto const end = co_await ps::as_outcome(in.has_orders.wait(held));
            EXPECT_TRUE(end.is_stopped());
            holds = static_cast<bool>(held);
        };
        (void)run_stopped(at, waits());
        EXPECT_EQ(holds, false);
        EXPECT_TRUE(in.of.try_lock());
    }
}

TEST(condition, carries_orders_between_two_runtimes) { // LW1, LW12
    shop in;
    long sum = 0;
    auto puts = [&]() -> ps::task<> {
        for (int i = 1; i <= 3000; ++i) co_await put(in, i);
    };
    auto takes = [&]() -> ps::task<> {
        for (int i = 1; i <= 3000; ++i) sum += co_await take(in);
    };
    run_on_two_threads(puts, takes);
    EXPECT_EQ(sum, 3000L * 3001 / 2);
}

TEST(condition_death_test, waiting_without_its_own_mutex_is_a_failed_check) {
    auto const wait_with = [](bool has_another) {
        observed_runtime world;
        shop in, other;
        auto waits = [&]() -> ps::task<> {
            ps::mutex_guard held;
            if (has_another) held = other.of.try_lock();
            co_await in.has_orders.wait(held);
        };
        (void)ps::sync_wait(world.rt, waits());
    };
    EXPECT_DEATH(wait_with(false), "a condition is awaited with its own mutex held");
    EXPECT_DEATH(wait_with(true), "a condition is awaited with its own mutex held");
}

} // namespace
