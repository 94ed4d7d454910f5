#include <pitsaw/scope/portal.hpp>

#include "lifetime_log.hpp"
#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;
using texts = std::vector<std::string>;

namespace {

static_assert(!std::is_copy_constructible_v<ps::portal>);
static_assert(std::is_nothrow_move_constructible_v<ps::portal>);

ps::task<int> add(int a, int b) {
    co_await ps::this_task::yield();
    co_return a + b;
}

ps::task<> count(std::atomic<int>& ran) {
    co_await ps::this_task::yield();
    ++ran;
}

/// Runs `on_thread(portal)` on another thread, beside a group that waits for it.
template <class F> ps::task<> group_beside_a_thread(ps::task_group_options options, F on_thread) {
    co_await ps::task_group::run(options, [&](ps::task_group& group) -> ps::task<> {
        auto thread = std::jthread([&, way_in = group.open_portal()]() mutable {
            auto const mine = std::move(way_in);
            on_thread(mine);
        });
        thread.detach(); // the open portal is what the group waits for
        co_return;
    });
}

TEST(portal, spawns_from_another_thread_onto_the_worker) {
    watchdog const guard;
    observed_runtime world;
    auto const here = std::this_thread::get_id();
    std::atomic<int> ran_here = 0;
    auto child = [&](std::string argument) -> ps::task<> {
        co_await ps::sleep(1ms);
        if (std::this_thread::get_id() == here && argument == std::string(50, 'x')) ++ran_here;
    };
    auto on_thread = [&](ps::portal const& to) {
        for (int i = 0; i < 100; ++i) to.spawn(child, std::string(50, 'x'));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, group_beside_a_thread({}, on_thread)).has_value());
    EXPECT_EQ(ran_here, 100);
}

TEST(portal, call_gives_the_ending_of_the_child_and_leaves_the_group_alone) {
    watchdog const guard;
    observed_runtime world;
    std::string ends;
    auto on_thread = [&](ps::portal const& to) {
        auto value = to.call(add, 1, 2);
        ends += std::to_string(value.value());
        auto nothing = to.call([]() -> ps::task<> { co_await ps::sleep(1ms); });
        ends += nothing.has_value() ? " void" : " ?";
        auto owned = to.call([]() -> ps::task<std::unique_ptr<int>> { co_return std::make_unique<int>(5); });
        ends += " " + std::to_string(*owned.value());
        auto thrown = to.call([]() -> ps::task<int> {
            co_await ps::sleep(1ms);
            throw std::runtime_error("boom");
        });
        ends += " " + text_of(thrown.exception());
        auto thrown_before = to.call([]() -> ps::task<int> { throw std::runtime_error("no task"); });
        ends += " " + text_of(thrown_before.exception());
        auto stopped = to.call([]() -> ps::task<int> {
            co_await stops_itself{};
            co_return 1;
        });
        ends += stopped.is_stopped() ? " stopped" : " ?";
        auto failed = to.call([]() -> ps::task<ps::io_result<int>> {
            co_return std::unexpected(std::make_error_code(std::errc::io_error));
        });
        ends += failed.value().has_value() ? " ?" : " error";
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, group_beside_a_thread({}, on_thread)).has_value());
    EXPECT_EQ(ends, "3 void 5 boom no task stopped error");
    EXPECT_EQ(world.lost, texts());
}

struct writes_when_it_goes {
    explicit writes_when_it_goes(std::atomic<int>& to) : where(&to) {}
    writes_when_it_goes(writes_when_it_goes&& other) noexcept : where(std::exchange(other.where, nullptr)) {}
    ~writes_when_it_goes() {
        if (where == nullptr) return;
        std::this_thread::sleep_for(5ms); // the caller must still be waiting
        ++*where;
    }
    std::atomic<int>* where;
};

TEST(portal, call_returns_after_all_that_the_child_owned_is_gone) {
    watchdog const guard;
    observed_runtime world;
    int wrong = 0;
    auto on_thread = [&](ps::portal const& to) {
        for (bool const throws : {false, true}) {
            std::atomic<int> gone = 0; // on this stack: it may be lent to the child
            auto child = [in_capture = writes_when_it_goes(gone),
                          throws](writes_when_it_goes) mutable -> ps::task<int> {
                co_await ps::this_task::yield();
                if (throws) throw std::runtime_error("boom");
                co_return 1;
            };
            auto const end = to.call(std::move(child), writes_when_it_goes(gone));
            wrong += gone != 2 ? 1 : 0;
            wrong += end.has_value() == throws ? 1 : 0;
        }
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, group_beside_a_thread({}, on_thread)).has_value());
    EXPECT_EQ(wrong, 0);
}

TEST(portal, a_child_that_fails_is_the_failure_of_the_group) {
    watchdog const guard;
    observed_runtime world;
    auto on_thread = [](ps::portal const& to) {
        to.spawn([]() -> ps::task<> { throw std::runtime_error("boom"); });
        while (!to.get_stop_token().stop_requested()) std::this_thread::yield();
    };
    auto end = ps::sync_wait(world.rt, group_beside_a_thread({}, on_thread));
    EXPECT_EQ(text_of(end.exception()), "boom");
}

// A bounded group that is full refuses; that must not leave the caller waiting for ever.
TEST(portal, call_into_a_full_group_gives_the_refusal) {
    watchdog const guard;
    observed_runtime world;
    std::error_code why;
    ps::task_group_options one;
    one.children_max = 1;
    one.policy = ps::on_failure::keep_others;
    std::atomic<bool> may_end = false;
    auto on_thread = [&](ps::portal const& to) {
        to.spawn([&]() -> ps::task<> {
            while (!may_end) co_await ps::this_task::yield();
        });
        auto refused = to.call(add, 1, 2);
        try {
            if (refused.has_exception()) std::rethrow_exception(refused.exception());
        } catch (std::system_error const& what) {
            why = what.code();
        }
        may_end = true;
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, group_beside_a_thread(one, on_thread)).has_value());
    EXPECT_EQ(why, std::errc::resource_unavailable_try_again);
}

TEST(portal, a_spawn_that_the_worker_cannot_make_is_a_failure_by_the_policy_of_the_group) {
    watchdog const guard;
    observed_runtime world;
    ps::task_group_options one;
    one.children_max = 1;
    one.policy = ps::on_failure::keep_others;
    std::atomic<bool> may_end = false;
    auto on_thread = [&](ps::portal const& to) {
        to.spawn([&]() -> ps::task<> {
            while (!may_end) co_await ps::this_task::yield();
        });
        to.spawn([]() -> ps::task<> { co_return; });
        (void)to.call([]() -> ps::task<> { co_return; }); // after the spawn, in order
        may_end = true;
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, group_beside_a_thread(one, on_thread)).has_value());
    ASSERT_EQ(world.lost.size(), 1u);
    EXPECT_NE(world.lost[0].find("children_max"), std::string::npos);
}

TEST(portal, the_group_waits_for_an_open_portal_also_after_a_stop) {
    watchdog const guard;
    observed_runtime world;
    lifetime_log log;
    std::optional<ps::portal> kept;
    bool is_closed = false;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            probe const body(log, "body");
            kept.emplace(group.open_portal());
            co_await ps::sleep(1h);
        });
        EXPECT_TRUE(is_closed);
    };
    auto close = [&] {
        is_closed = true;
        EXPECT_TRUE(kept->get_stop_token().stop_requested());
        auto late = [](lifetime_log& notes) -> ps::task<> {
            probe const here(notes, "late");
            co_await ps::sleep(1ms);
        };
        kept->spawn(late, std::ref(log));
        kept.reset();
    };
    alarm_call const closing(world.rt, 50ms, close);
    EXPECT_TRUE(run_stopped(world.rt, 5ms, work()).is_stopped());
    EXPECT_EQ(world.elapsed(), 50ms);
    EXPECT_EQ(log.take(), "~body ~late");
}

TEST(portal, is_movable_and_closes_what_it_held) {
    observed_runtime world;
    int ended = 0;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            auto first = group.open_portal();
            auto second = group.open_portal();
            auto third = std::move(first);
            third = std::move(second); // closes the first
            third.close();
            third.close();
            ++ended;
            co_return;
        });
        ++ended;
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(ended, 2);
}

// Closing on the worker must not overtake what other threads have put into the inbox before.
TEST(portal, closed_on_the_worker_after_another_thread_has_spawned_the_child_runs_first) {
    watchdog const guard;
    observed_runtime world;
    std::atomic<int> ran = 0;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            auto const way_in = group.open_portal();
            std::jthread([&] { way_in.spawn(count, std::ref(ran)); }).join();
            co_return;
        });
        EXPECT_EQ(ran, 1);
    };
    for (int i = 0; i < 100; ++i) {
        ran = 0;
        EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    }
}

TEST(portal, spawns_from_the_worker_itself_too) {
    observed_runtime world;
    std::atomic<int> ran = 0;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            auto const way_in = group.open_portal();
            way_in.spawn(count, std::ref(ran));
            co_await ps::sleep(1ms);
            EXPECT_EQ(ran, 1);
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(portal_death, call_on_a_worker_and_use_after_close_are_checked_errors) {
    auto calls = [](ps::task_group& group) -> ps::task<> {
        auto const way_in = group.open_portal();
        (void)way_in.call(add, 1, 2);
        co_return;
    };
    auto uses = [](ps::task_group& group) -> ps::task<> {
        auto way_in = group.open_portal();
        way_in.close();
        way_in.spawn(add, 1, 2);
        co_return;
    };
    auto run = [](auto body) -> ps::task<> { co_await ps::task_group::run(body); };
    EXPECT_DEATH((void)ps::sync_wait(run(calls)), "portal::call on a worker");
    EXPECT_DEATH((void)ps::sync_wait(run(uses)), "a closed portal was used");
}

constexpr int rounds = 5'000;

// LW1: each call blocks the thread until the worker has answered, and the worker sleeps in between.
TEST(portal, ping_pong_between_a_thread_and_the_worker_never_stalls) {
    watchdog const guard;
    observed_runtime world;
    std::atomic<int> ran = 0;
    long sum = 0;
    auto on_thread = [&](ps::portal const& to) {
        for (int i = 0; i < rounds; ++i) {
            sum += to.call(add, i, 1).value();
            to.spawn(count, std::ref(ran));
        }
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, group_beside_a_thread({}, on_thread)).has_value());
    EXPECT_EQ(ran, rounds);
    EXPECT_EQ(sum, long{rounds} * (rounds + 1) / 2);
}

// LW7, as far as one worker goes.
TEST(portal, what_several_threads_spawn_all_runs) {
    watchdog const guard;
    observed_runtime world;
    constexpr int threads = 3;
    std::atomic<int> ran = 0;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            for (int i = 0; i < threads; ++i) {
                auto thread = std::thread([&ran, way_in = group.open_portal()]() mutable {
                    auto const mine = std::move(way_in);
                    for (int n = 0; n < rounds; ++n) mine.spawn(count, std::ref(ran));
                });
                thread.detach();
            }
            while (ran < threads * rounds / 2)
                co_await ps::this_task::yield(); // and the worker is busy itself
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(ran, threads * rounds);
}

// LW8, as far as one worker goes: a shutdown at whatever moment ends everything.
TEST(portal, a_shutdown_at_any_moment_ends_while_threads_spawn_and_call) {
    watchdog const guard;
    std::minstd_rand random(1);
    for (int round = 0; round < rounds / 10; ++round) {
        std::vector<std::jthread> threads; // joined after the runtime is gone
        observed_runtime world;
        auto child = []() -> ps::task<> {
            co_await ps::when_any(ps::sleep(1ms), ps::sleep(2ms));
            (void)co_await ps::with_timeout(1ms, ps::sleep(3ms));
        };
        auto until_stopped = [&child](ps::portal mine) {
            while (!mine.get_stop_token().stop_requested()) {
                mine.spawn(child);
                (void)mine.call(add, 1, 2);
            }
        };
        auto work = [&]() -> ps::task<> {
            co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
                for (int i = 0; i < 2; ++i) threads.emplace_back(until_stopped, group.open_portal());
                co_await ps::sleep_until(ps::never);
            });
        };
        threads.emplace_back([&, spins = static_cast<int>(random() % 2000)] {
            for (int volatile i = 0; i < spins;) i = i + 1;
            world.rt.request_stop();
        });
        EXPECT_TRUE(ps::sync_wait(world.rt, work()).is_stopped());
        threads.clear();
    }
}

} // namespace
