#include <pitsaw/compute/compute.hpp>

#include "observed_runtime.hpp"
#include "workers.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

ps::runtime_options thieves(std::uint32_t const count) {
    auto options = workers(count);
    options.scheduling = ps::scheduling::stealing;
    return options;
}

ps::computation<long> fib(long const n) {
    if (n < 2) co_return n;
    auto const both = co_await ps::fork_join(fib(n - 1), fib(n - 2));
    auto const& [a, b] = both;
    co_return a + b;
}

/// The result of a computation that a task awaits.
template <class T> ps::task<T> awaits(ps::computation<T> work) {
    co_return co_await ps::compute(std::move(work));
}

TEST(compute, gives_a_task_the_result) {
    observed_runtime world;
    EXPECT_EQ(ps::sync_wait(world.rt, awaits(fib(20))).value(), 6765);
}

TEST(compute, gives_it_on_any_number_of_workers) {
    watchdog const guard;
    for (std::uint32_t const count : {1u, 2u, 4u}) {
        ps::runtime rt(thieves(count));
        for (int round = 0; round < 20; ++round) EXPECT_EQ(ps::sync_wait(rt, awaits(fib(18))).value(), 2584);
    }
}

TEST(compute, on_workers_that_do_not_steal_runs_where_it_was_begun) {
    watchdog const guard;
    ps::runtime rt(workers(2));
    std::atomic<int> elsewhere = 0;
    auto const here = std::this_thread::get_id();
    auto step = [&](int) { elsewhere += std::this_thread::get_id() == here ? 0 : 1; };
    (void)ps::sync_wait(rt, awaits(ps::parallel_for(0, 1000, step)));
    EXPECT_EQ(elsewhere, 0);
}

TEST(compute, a_worker_with_nothing_to_do_takes_a_part) {
    watchdog const guard;
    ps::runtime rt(thieves(2));
    for (int round = 0; round < 100; ++round) {
        std::atomic<int> met = 0;
        auto meet = [&](int) {
            ++met;
            while (met != 2) std::this_thread::yield(); // until another one is here
        };
        EXPECT_TRUE(ps::sync_wait(rt, awaits(ps::parallel_for(0, 2, meet, 1))).has_value());
    }
}

TEST(compute, a_worker_with_nothing_to_do_takes_a_whole_one_that_waits) {
    watchdog const guard;
    ps::runtime rt(thieves(2));
    std::atomic<int> met = 0;
    auto meets = [&]() -> ps::computation<> {
        ++met;
        while (met != 2) std::this_thread::yield();
        co_return;
    };
    auto both = [&]() -> ps::task<> { co_await ps::when_all(ps::compute(meets()), ps::compute(meets())); };
    EXPECT_TRUE(ps::sync_wait(rt, both()).has_value());
}

TEST(compute, those_of_one_worker_run_one_after_another) {
    observed_runtime world;
    std::string order;
    auto notes = [&](char const name) -> ps::computation<> {
        order += name;
        for (int i = 0; i < 1000; ++i) (void)co_await fib(3);
        order += name;
    };
    auto all = [&]() -> ps::task<> {
        co_await ps::when_all(ps::compute(notes('a')), ps::compute(notes('b')), ps::compute(notes('c')));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, all()).has_value());
    EXPECT_EQ(order, "aabbcc");
}

TEST(compute, other_tasks_of_the_worker_have_their_turns_meanwhile) {
    observed_runtime world;
    int turns = 0;
    bool is_over = false;
    auto computes = [&]() -> ps::task<> {
        (void)co_await ps::compute(fib(22));
        is_over = true;
    };
    auto counts = [&]() -> ps::task<> {
        while (!is_over) {
            ++turns;
            co_await ps::this_task::yield();
        }
    };
    auto both = [&]() -> ps::task<> { co_await ps::when_all(computes(), counts()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, both()).has_value());
    EXPECT_GT(turns, 100);
}

TEST(compute, the_task_comes_back_to_its_worker) {
    watchdog const guard;
    ps::runtime rt(thieves(3));
    auto stays = [&]() -> ps::task<> {
        auto const here = std::this_thread::get_id();
        for (int i = 0; i < 200; ++i) {
            (void)co_await ps::compute(fib(12));
            EXPECT_EQ(std::this_thread::get_id(), here);
        }
    };
    EXPECT_TRUE(ps::sync_wait(rt, stays()).has_value());
}

TEST(compute, an_exception_comes_to_the_task) {
    for (std::uint32_t const count : {1u, 2u}) {
        ps::runtime rt(thieves(count));
        auto throws = []() -> ps::computation<int> {
            throw std::runtime_error("no result");
            co_return 1;
        };
        auto const end = ps::sync_wait(rt, awaits(throws()));
        ASSERT_TRUE(end.has_exception());
        EXPECT_EQ(text_of(end.exception()), "no result");
    }
}

TEST(compute, a_reference_comes_to_the_task) {
    observed_runtime world;
    int kept = 3;
    auto gives = [&]() -> ps::computation<int&> { co_return kept; };
    auto work = [&]() -> ps::task<> {
        int& got = co_await ps::compute(gives());
        EXPECT_EQ(&got, &kept);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(compute, what_is_never_awaited_never_ran) {
    observed_runtime world;
    bool has_run = false;
    auto work = [&]() -> ps::computation<> {
        has_run = true;
        co_return;
    };
    auto drops = [&]() -> ps::task<> {
        auto one = work();
        auto other = std::move(one);
        one = std::move(other);
        co_return;
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, drops()).has_value());
    EXPECT_FALSE(has_run);
}

TEST(compute, of_a_task_that_was_stopped_before_does_not_begin) {
    observed_runtime world;
    bool has_run = false;
    auto work = [&]() -> ps::computation<> {
        has_run = true;
        co_return;
    };
    world.rt.request_stop();
    EXPECT_TRUE(ps::sync_wait(world.rt, awaits(work())).is_stopped());
    EXPECT_FALSE(has_run);
}

class counted {
  public:
    explicit counted(std::atomic<int>& alive) noexcept : alive_(alive) { ++alive_; }
    counted(counted&&) = delete;
    ~counted() { --alive_; }

  private:
    std::atomic<int>& alive_;
};

ps::computation<> without_end(std::atomic<int>& alive, std::atomic<bool>& has_begun) {
    counted const local(alive);
    has_begun = true;
    for (;;) {
        (void)co_await fib(5);
        (void)co_await ps::fork_join(fib(3), fib(2));
    }
}

TEST(compute, a_stop_ends_it_and_destroys_what_was_alive) {
    watchdog const guard;
    for (std::uint32_t const count : {1u, 3u}) {
        std::atomic<int> alive = 0;
        ps::runtime rt(thieves(count));
        auto work = [&]() -> ps::task<> {
            std::atomic<bool> has_begun = false;
            auto both = [&]() -> ps::computation<> {
                co_await ps::fork_join(without_end(alive, has_begun), without_end(alive, has_begun));
            };
            auto computes = [&]() -> ps::task<> { co_await ps::compute(both()); };
            auto waits = [&]() -> ps::task<> {
                while (!has_begun) co_await ps::this_task::yield();
            };
            co_await ps::when_any(computes(), waits());
        };
        EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
        EXPECT_EQ(alive, 0);
    }
}

TEST(compute, one_that_waits_behind_another_is_stopped_at_once) {
    observed_runtime world;
    bool is_over = false;
    bool has_run = false;
    auto is_long = [&]() -> ps::computation<> {
        for (int i = 0; i < 1000; ++i) (void)co_await fib(5);
        is_over = true;
    };
    auto never_runs = [&]() -> ps::computation<> {
        has_run = true;
        co_return;
    };
    auto gives_up = [&]() -> ps::task<> {
        auto waits = [&]() -> ps::task<> { co_await ps::compute(never_runs()); };
        auto ends = []() -> ps::task<> { co_await ps::this_task::yield(); };
        co_await ps::when_any(waits(), ends());
        EXPECT_FALSE(is_over);
    };
    auto both = [&]() -> ps::task<> { co_await ps::when_all(ps::compute(is_long()), gives_up()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, both()).has_value());
    EXPECT_TRUE(is_over);
    EXPECT_FALSE(has_run);
}

TEST(compute, what_has_ended_when_the_stop_comes_delivers_its_result) {
    observed_runtime world;
    auto gives_and_stops = [&]() -> ps::computation<int> {
        world.rt.request_stop(); // its last part runs
        co_return 7;
    };
    int got = 0;
    auto work = [&]() -> ps::task<> {
        got = co_await ps::compute(gives_and_stops());
        co_await ps::sleep(1s);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).is_stopped());
    EXPECT_EQ(got, 7);
}

TEST(compute, a_recursion_of_a_million_levels_needs_no_stack) {
    observed_runtime world;
    auto const deep = [](auto const& self, int const levels) -> ps::computation<int> {
        if (levels == 0) co_return 0;
        int const below = co_await self(self, levels - 1);
        co_return below + 1;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, awaits(deep(deep, 1'000'000))).value(), 1'000'000);
}

TEST(compute, a_stop_of_a_deep_recursion_needs_no_stack) {
    observed_runtime world;
    auto const deep = [&](auto const& self, int const levels) -> ps::computation<int> {
        if (levels == 0) world.rt.request_stop();
        int const below = co_await self(self, levels - 1);
        co_return below + 1;
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, awaits(deep(deep, 100'000))).is_stopped());
}

// Each level forks, so the lane has room for 256 of them; the rest runs all the same.
TEST(compute, a_million_forks_one_below_another_end) {
    watchdog const guard;
    for (std::uint32_t const count : {1u, 2u}) {
        ps::runtime rt(thieves(count));
        auto const deep = [](auto const& self, int const levels) -> ps::computation<int> {
            if (levels == 0) co_return 0;
            auto const both = co_await ps::fork_join(self(self, levels - 1), fib(1));
            auto const& [below, one] = both;
            co_return below + static_cast<int>(one);
        };
        EXPECT_EQ(ps::sync_wait(rt, awaits(deep(deep, 200'000))).value(), 200'000);
    }
}

} // namespace
