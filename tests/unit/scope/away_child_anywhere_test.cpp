#include <pitsaw/scope/away_child.hpp>

#include "observed_runtime.hpp"
#include "workers.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

ps::runtime_options thieves(std::uint32_t count) {
    auto options = workers(count);
    options.scheduling = ps::scheduling::stealing;
    return options;
}

template <class Body> void run_in_a_group(ps::runtime& rt, Body body) {
    auto work = [&]() -> ps::task<> { co_await ps::task_group::run(std::ref(body)); };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
}

TEST(away_child_anywhere, where_nobody_steals_it_runs_here_like_any_child) {
    watchdog const guard;
    auto const here = std::this_thread::get_id();
    for (std::uint32_t count : {1u, 2u}) {
        ps::runtime rt(workers(count));
        int ran_here = 0;
        auto child = [&](int by) -> ps::task<> {
            co_await ps::this_task::yield();
            ran_here += std::this_thread::get_id() == here ? by : 0;
        };
        run_in_a_group(rt, [&](ps::task_group& group) -> ps::task<> {
            for (int i = 0; i < 10; ++i) group.spawn_anywhere(child, 2);
            EXPECT_EQ(group.size(), 10u);
            co_return;
        });
        EXPECT_EQ(ran_here, 20);
    }
}

// SC2: what is offered is taken while its own worker does something else.
TEST(away_child_anywhere, is_taken_by_a_worker_that_sleeps_while_its_own_computes) {
    watchdog const guard;
    ps::runtime rt(thieves(2));
    for (int round = 0; round < 200; ++round) {
        std::atomic<bool> has_begun = false;
        auto child = [&]() -> ps::task<> {
            has_begun = true;
            co_return;
        };
        run_in_a_group(rt, [&](ps::task_group& group) -> ps::task<> {
            group.spawn_anywhere(child);
            while (!has_begun) std::this_thread::yield(); // no await: nobody else takes it
            co_return;
        });
    }
}

TEST(away_child_anywhere, as_many_run_at_a_time_as_there_are_workers) {
    watchdog const guard;
    ps::runtime rt(thieves(4));
    for (int round = 0; round < 50; ++round) {
        std::atomic<int> met = 0;
        auto child = [&]() -> ps::task<> {
            ++met;
            while (met != 4) std::this_thread::yield(); // until each worker has one
            co_return;
        };
        run_in_a_group(rt, [&](ps::task_group& group) -> ps::task<> {
            for (int i = 0; i < 4; ++i) group.spawn_anywhere(child);
            co_return;
        });
        EXPECT_EQ(met, 4);
    }
}

TEST(away_child_anywhere, each_of_very_many_runs_once_and_stays_where_it_began) {
    watchdog const guard;
    ps::runtime rt(thieves(3));
    constexpr int count = 20'000;
    std::unique_ptr<std::atomic<int>[]> const runs(new std::atomic<int>[count]);
    for (int i = 0; i < count; ++i) runs[static_cast<std::size_t>(i)] = 0;
    std::atomic<int> moved = 0;
    auto child = [&](int which) -> ps::task<> {
        auto const here = std::this_thread::get_id();
        if (which % 7 == 0) co_await ps::this_task::yield();
        if (which % 11 == 0) co_await ps::sleep(1us);
        moved += std::this_thread::get_id() == here ? 0 : 1;
        ++runs[static_cast<std::size_t>(which)];
    };
    run_in_a_group(rt, [&](ps::task_group& group) -> ps::task<> {
        for (int i = 0; i < count; ++i) {
            group.spawn_anywhere(child, i);
            if (i % 1'000 == 0) co_await ps::this_task::yield();
        }
    });
    int wrong = 0;
    for (int i = 0; i < count; ++i) wrong += runs[static_cast<std::size_t>(i)] == 1 ? 0 : 1;
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(moved, 0);
}

/// Keeps all workers but the first from taking anything.
ps::task<> hold_up_the_others(ps::runtime& rt, ps::task_group& group, std::atomic<bool>& until) {
    std::atomic<std::uint32_t> held = 0;
    auto hold = [&held, &until]() -> ps::task<> {
        ++held;
        while (!until) std::this_thread::yield();
        co_return;
    };
    for (std::uint32_t i = 1; i < rt.worker_count(); ++i) group.spawn_on(rt.get_executor(i), hold);
    while (held != rt.worker_count() - 1) std::this_thread::yield();
    co_return;
}

TEST(away_child_anywhere, begins_also_while_a_task_that_is_always_ready_goes_on) {
    watchdog const guard;
    ps::runtime rt(thieves(2));
    std::atomic<bool> is_over = false;
    int begun = 0;
    auto child = [&]() -> ps::task<> {
        ++begun;
        co_return;
    };
    run_in_a_group(rt, [&](ps::task_group& group) -> ps::task<> {
        co_await hold_up_the_others(rt, group, is_over);
        for (int i = 0; i < 1'000; ++i) group.spawn_anywhere(child); // more than a ring holds
        while (begun != 1'000) co_await ps::this_task::yield();
        is_over = true;
    });
    EXPECT_EQ(begun, 1'000);
}

// What overflows a ring is the oldest: it must not wait until the ring is empty, which may be never.
TEST(away_child_anywhere, that_overflowed_begins_while_its_ring_is_filled_again_and_again) {
    watchdog const guard;
    ps::runtime rt(thieves(2));
    std::atomic<bool> is_over = false;
    bool has_begun = false;
    run_in_a_group(rt, [&](ps::task_group& group) -> ps::task<> {
        auto oldest = [&]() -> ps::task<> {
            has_begun = true;
            co_return;
        };
        struct {
            ps::task_group& group;
            bool& is_over;
            ps::task<> operator()() {
                if (!is_over) group.spawn_anywhere(*this); // one for one: the ring stays as full as it is
                co_return;
            }
        } again{group, has_begun};
        co_await hold_up_the_others(rt, group, is_over);
        group.spawn_anywhere(oldest);
        for (int i = 0; i < 300; ++i) group.spawn_anywhere(again);
        while (!has_begun) co_await ps::sleep(1us);
        is_over = true;
    });
    EXPECT_TRUE(has_begun);
}

// CA7: a stop, whoever takes it, and its end.
TEST(away_child_anywhere, a_stop_before_while_or_after_it_is_taken_ends_it_once) {
    watchdog const guard;
    ps::runtime rt(thieves(3));
    std::atomic<int> begun = 0;
    std::atomic<int> gone = 0;
    auto child = [&](int turns) -> ps::task<> {
        struct counted {
            std::atomic<int>& gone;
            ~counted() { ++gone; }
        } const local{gone};
        ++begun;
        for (int i = 0; i < turns; ++i) co_await ps::this_task::yield();
        if (turns % 2 == 0) co_await ps::sleep(ps::duration::max());
    };
    constexpr int rounds = 1'000;
    for (int round = 0; round < rounds; ++round) {
        run_in_a_group(rt, [&](ps::task_group& group) -> ps::task<> {
            for (int i = 0; i < 5; ++i) group.spawn_anywhere(child, i);
            for (int i = 0; i < round % 6; ++i) co_await ps::this_task::yield();
            group.request_stop();
        });
    }
    EXPECT_EQ(begun, 5 * rounds);
    EXPECT_EQ(gone, 5 * rounds);
}

TEST(away_child_anywhere, its_failure_stops_the_others_and_is_its_groups) {
    watchdog const guard;
    ps::runtime rt(thieves(3));
    for (int round = 0; round < 100; ++round) {
        auto fails = []() -> ps::task<> {
            co_await ps::this_task::yield();
            throw std::runtime_error("from anywhere");
        };
        auto waits = []() -> ps::task<> { co_await ps::sleep(ps::duration::max()); };
        auto body = [&](ps::task_group& group) -> ps::task<> {
            for (int i = 0; i < 4; ++i) group.spawn_anywhere(waits);
            group.spawn_anywhere(fails);
            co_await ps::sleep(ps::duration::max());
        };
        auto work = [&]() -> ps::task<> { co_await ps::task_group::run(body); };
        auto const end = ps::sync_wait(rt, work());
        ASSERT_TRUE(end.has_exception());
        EXPECT_EQ(text_of(end.exception()), "from anywhere");
    }
}

// A worker that was just told to wake up may be about to end.
TEST(away_child_anywhere, a_runtime_may_go_as_soon_as_the_last_has_ended) {
    watchdog const guard;
    for (int round = 0; round < 200; ++round) {
        ps::runtime rt(thieves(4));
        std::atomic<int> ran = 0;
        auto child = [&]() -> ps::task<> {
            ++ran;
            co_return;
        };
        run_in_a_group(rt, [&](ps::task_group& group) -> ps::task<> {
            for (int i = 0; i < round % 16; ++i) group.spawn_anywhere(child);
            co_return;
        });
        EXPECT_EQ(ran, round % 16);
    }
}

TEST(away_child_anywhere, a_child_spawns_further_ones_from_wherever_it_is) {
    watchdog const guard;
    ps::runtime rt(thieves(3));
    std::atomic<int> leaves = 0;
    struct tree {
        std::atomic<int>& leaves;
        ps::task<> operator()(int levels) const {
            if (levels == 0) {
                ++leaves;
                co_return;
            }
            auto body = [*this, levels](ps::task_group& group) -> ps::task<> {
                for (int i = 0; i < 3; ++i) group.spawn_anywhere(*this, levels - 1);
                co_return;
            };
            co_await ps::task_group::run(body);
        }
    } const grows{leaves};
    run_in_a_group(rt, [&](ps::task_group& group) -> ps::task<> {
        group.spawn_anywhere(grows, 7);
        co_return;
    });
    EXPECT_EQ(leaves, 2'187);
}

} // namespace
