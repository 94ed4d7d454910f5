#include <pitsaw/scope/away_child.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"
#include "workers.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

ps::task<> notes_thread(std::thread::id* id) {
    *id = std::this_thread::get_id();
    co_return;
}

TEST(away_child, runs_on_the_worker_that_was_named) {
    watchdog const guard;
    ps::runtime rt(workers(3));
    std::thread::id ids[4];
    auto work = [&]() -> ps::task<> {
        auto body = [&](ps::task_group& group) -> ps::task<> {
            for (std::uint32_t i = 0; i < 3; ++i) group.spawn_on(rt.get_executor(i), notes_thread, &ids[i]);
            EXPECT_EQ(group.size(), 3u);
            co_return;
        };
        co_await ps::task_group::run(body);
        ids[3] = std::this_thread::get_id();
    };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_EQ(ids[0], std::this_thread::get_id());
    EXPECT_EQ(ids[3], std::this_thread::get_id());
    EXPECT_NE(ids[1], ids[0]);
    EXPECT_NE(ids[2], ids[0]);
    EXPECT_NE(ids[1], ids[2]);
}

// CL8: what is the current thread, and who is its worker, is asked anew after each await.
TEST(away_child, hops_between_workers_always_see_the_thread_that_they_are_on) {
    watchdog const guard;
    ps::runtime rt(workers(3));
    std::vector<std::thread::id> ids(3);
    auto note = [&](std::uint32_t number) -> ps::task<> {
        ids[number] = std::this_thread::get_id();
        co_return;
    };
    int wrong = 0;
    auto look = [&](std::uint32_t number) -> ps::task<> {
        wrong += rt.get_executor(number).is_current() ? 0 : 1;
        wrong += std::this_thread::get_id() == ids[number] ? 0 : 1;
        co_await ps::this_task::yield();
        wrong += rt.get_executor(number).is_current() ? 0 : 1;
        wrong += std::this_thread::get_id() == ids[number] ? 0 : 1;
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::on_each_worker(note);
        for (std::uint32_t i = 0; i < 1'000; ++i) {
            co_await ps::with_executor(rt.get_executor(i % 3), look, i % 3);
            wrong += rt.get_executor().is_current() ? 0 : 1;
            wrong += std::this_thread::get_id() == ids[0] ? 0 : 1;
        }
    };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_EQ(wrong, 0);
}

ps::task<> keeps(thread_probe probe, ps::duration after) {
    co_await ps::sleep(after);
    thread_probe const used(std::move(probe));
}

TEST(away_child, its_callable_arguments_and_locals_end_where_it_ran_whether_it_is_stopped_or_not) {
    watchdog const guard;
    for (auto const after : {ps::duration(0ms), ps::duration::max()}) {
        ps::runtime rt(workers(2));
        std::thread::id callable, argument, there;
        auto work = [&]() -> ps::task<> {
            auto body = [&](ps::task_group& group) -> ps::task<> {
                group.spawn_on(rt.get_executor(1), notes_thread, &there);
                auto call = [own = thread_probe(callable), after](thread_probe handed) -> ps::task<> {
                    co_await keeps(std::move(handed), after);
                };
                group.spawn_on(rt.get_executor(1), std::move(call), thread_probe(argument));
                if (after != 0ms) {
                    co_await ps::sleep(1ms);
                    group.request_stop();
                }
            };
            co_await ps::task_group::run(body);
        };
        EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
        EXPECT_NE(there, std::this_thread::get_id());
        EXPECT_EQ(callable, there);
        EXPECT_EQ(argument, there);
    }
}

ps::task<> throws() {
    co_await ps::this_task::yield();
    throw std::runtime_error("from there");
}
ps::task<ps::io_result<void>> fails() {
    co_return std::unexpected(std::make_error_code(std::errc::io_error));
}
ps::task<> no_task_at_all() { throw std::logic_error("a coroutine was to be made"); }
struct throws_when_called {
    ps::task<> operator()() const { throw std::runtime_error("when called"); }
};

template <class F> std::string failure_of_a_child(F child) {
    ps::runtime rt(workers(2));
    auto work = [&]() -> ps::task<> {
        auto body = [&](ps::task_group& group) -> ps::task<> {
            group.spawn_on(rt.get_executor(1), child);
            co_await ps::sleep(1h);
        };
        co_await ps::task_group::run(body);
    };
    auto const end = ps::sync_wait(rt, work());
    return end.has_exception() ? text_of(end.exception()) : "none";
}

TEST(away_child, its_failure_is_its_groups_also_where_calling_it_throws) {
    watchdog const guard;
    EXPECT_EQ(failure_of_a_child(throws), "from there");
    EXPECT_EQ(failure_of_a_child(throws_when_called()), "when called");
    EXPECT_NE(failure_of_a_child(fails).find("a child of a task_group failed"), std::string::npos);
}

TEST(away_child, of_a_group_that_keeps_others_its_failure_is_told_at_home) {
    watchdog const guard;
    auto options = workers(2);
    std::string lost;
    auto const home = std::this_thread::get_id();
    options.on_lost_error = [&](std::exception_ptr what) {
        EXPECT_EQ(std::this_thread::get_id(), home);
        lost = text_of(what);
    };
    ps::runtime rt(std::move(options));
    auto work = [&]() -> ps::task<> {
        auto body = [&](ps::task_group& group) -> ps::task<> {
            group.spawn_on(rt.get_executor(1), throws);
            co_return;
        };
        co_await ps::task_group::run(ps::on_failure::keep_others, body);
    };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_EQ(lost, "from there");
}

TEST(away_child, counts_for_the_room_of_its_group_until_it_is_back) {
    watchdog const guard;
    ps::runtime rt(workers(2));
    std::atomic<int> at_a_time = 0;
    std::atomic<int> most = 0;
    auto child = [&]() -> ps::task<> {
        most = std::max(most.load(), ++at_a_time);
        co_await ps::this_task::yield();
        --at_a_time;
    };
    auto work = [&]() -> ps::task<> {
        ps::task_group_options options;
        options.children_max = 3;
        auto body = [&](ps::task_group& group) -> ps::task<> {
            for (int i = 0; i < 200; ++i) {
                co_await group.room();
                group.spawn_on(rt.get_executor(1), child);
                EXPECT_LE(group.size(), 3u);
            }
            while (!group.is_full()) group.spawn_on(rt.get_executor(1), child);
            EXPECT_THROW(group.spawn_on(rt.get_executor(1), child), std::system_error);
        };
        co_await ps::task_group::run(options, body);
    };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_LE(most.load(), 3);
    EXPECT_GE(most.load(), 1);
}

// LW2: each way in which such a child ends lets the next one in.
TEST(away_child, each_of_its_endings_gives_its_room_to_who_waits_for_it) {
    watchdog const guard;
    auto options = workers(2);
    options.on_lost_error = [](std::exception_ptr) {};
    ps::runtime rt(std::move(options));
    auto const other = rt.get_executor(1);
    auto stops_by_itself = []() -> ps::task<> { co_await stops_itself{}; };
    auto ends = []() -> ps::task<> { co_return; };
    auto work = [&]() -> ps::task<> {
        ps::task_group_options one_at_a_time;
        one_at_a_time.children_max = 1;
        one_at_a_time.policy = ps::on_failure::keep_others;
        auto body = [&](ps::task_group& group) -> ps::task<> {
            for (int i = 0; i < 100; ++i) {
                co_await group.room();
                group.spawn_on(other, ends);
                co_await group.room();
                group.spawn_on(other, throws);
                co_await group.room();
                group.spawn_on(other, throws_when_called());
                co_await group.room();
                group.spawn_on(other, stops_by_itself);
            }
        };
        co_await ps::task_group::run(one_at_a_time, body);
    };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
}

/// Counts what it gives, and may be used by one thread only.
class counting_resource : public std::pmr::memory_resource {
  public:
    std::size_t live = 0;
    std::size_t given = 0;
    int elsewhere = 0;

  private:
    void* do_allocate(std::size_t bytes, std::size_t) override {
        note();
        ++live, ++given;
        return ::operator new(bytes);
    }
    void do_deallocate(void* block, std::size_t, std::size_t) override {
        note();
        --live;
        ::operator delete(block);
    }
    [[nodiscard]] bool do_is_equal(memory_resource const& other) const noexcept override {
        return this == &other;
    }
    void note() { elsewhere += std::this_thread::get_id() == home_ ? 0 : 1; }

    std::thread::id home_ = std::this_thread::get_id();
};

TEST(away_child, its_node_is_from_its_groups_memory_which_it_does_not_take_along) {
    watchdog const guard;
    ps::runtime rt(workers(2));
    counting_resource memory;
    auto inner = []() -> ps::task<> {
        auto body = [](ps::task_group& group) -> ps::task<> {
            for (int i = 0; i < 10; ++i) group.spawn(ps::task<>([]() -> ps::task<> { co_return; }()));
            co_return;
        };
        co_await ps::task_group::run(body);
    };
    auto work = [&]() -> ps::task<> {
        auto body = [&](ps::task_group& group) -> ps::task<> {
            group.spawn_on(rt.get_executor(1), inner);
            co_return;
        };
        co_await ps::task_group::run(body);
    };
    auto with = [&]() -> ps::task<> { co_await ps::with_memory(memory, work()); };
    EXPECT_TRUE(ps::sync_wait(rt, with()).has_value());
    EXPECT_EQ(memory.given, 1u);
    EXPECT_EQ(memory.live, 0u);
    EXPECT_EQ(memory.elsewhere, 0);
}

TEST(away_child, that_stops_its_group_from_where_it_runs_is_stopped_too) {
    watchdog const guard;
    ps::runtime rt(workers(2));
    bool is_wrong = false;
    for (int round = 0; round < 300; ++round) {
        auto work = [&]() -> ps::task<> {
            auto body = [&](ps::task_group& group) -> ps::task<> {
                auto asks = [&]() -> ps::task<> {
                    group.request_stop();
                    co_await ps::sleep(ps::duration::max());
                    is_wrong = true;
                };
                group.spawn_on(rt.get_executor(1), asks);
                co_await ps::sleep(ps::duration::max());
            };
            co_await ps::task_group::run(body);
        };
        EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    }
    EXPECT_FALSE(is_wrong);
}

// CA7, CL7: the end comes back while the stop goes there.
TEST(away_child, a_stop_that_meets_its_end_is_one_of_the_two_and_never_lost) {
    watchdog const guard;
    ps::runtime rt(workers(2));
    int stopped = 0;
    int ended = 0;
    constexpr int rounds = 500;
    for (int round = 0; round < rounds; ++round) {
        std::atomic<bool> has_begun = false;
        bool has_ended = false;
        auto child = [&, turns = round % 7]() -> ps::task<> {
            has_begun = true;
            for (int i = 0; i < turns; ++i) co_await ps::this_task::yield();
            has_ended = true;
        };
        auto work = [&, turns = round % 5]() -> ps::task<> {
            auto body = [&, turns](ps::task_group& group) -> ps::task<> {
                group.spawn_on(rt.get_executor(1), child);
                while (round % 2 == 0 && !has_begun) co_await ps::this_task::yield();
                for (int i = 0; i < turns; ++i) co_await ps::this_task::yield();
                group.request_stop();
            };
            co_await ps::task_group::run(body);
        };
        ASSERT_TRUE(ps::sync_wait(rt, work()).has_value());
        ++(has_ended ? ended : stopped);
    }
    EXPECT_EQ(stopped + ended, rounds);
    EXPECT_GT(ended, 0); // those that have no turns to take
}

TEST(away_child, a_stop_of_the_runtime_reaches_it_wherever_it_is) {
    watchdog const guard;
    for (int round = 0; round < 50; ++round) {
        ps::runtime rt(workers(3));
        std::atomic<int> asleep = 0;
        auto child = [&]() -> ps::task<> {
            ++asleep;
            co_await ps::sleep(ps::duration::max());
            ADD_FAILURE();
        };
        // Its group is on worker 1, and has a child on worker 2.
        auto parent = [&]() -> ps::task<> {
            auto body = [&](ps::task_group& group) -> ps::task<> {
                group.spawn_on(rt.get_executor(2), child);
                co_await child();
            };
            co_await ps::task_group::run(body);
        };
        auto work = [&]() -> ps::task<> { co_await ps::with_executor(rt.get_executor(1), parent); };
        std::jthread const asks([&] {
            while (asleep != 2) std::this_thread::yield();
            rt.request_stop(ps::stop_reason::peer_gone);
        });
        EXPECT_EQ(ps::sync_wait(rt, work()).reason(), ps::stop_reason::peer_gone);
    }
}

TEST(away_child, sees_the_async_stack_of_who_spawned_it) {
    watchdog const guard;
    ps::runtime rt(workers(2));
    std::size_t depth = 0;
    auto child = [&]() -> ps::task<> {
        co_await ps::this_task::yield();
        depth = ps::this_task::async_stack().size();
    };
    auto work = [&]() -> ps::task<> {
        auto body = [&](ps::task_group& group) -> ps::task<> {
            group.spawn_on(rt.get_executor(1), child);
            co_return;
        };
        co_await ps::task_group::run(body);
    };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_EQ(depth, 2u); // its own, and the group's
}

TEST(away_child_death, a_group_used_from_the_worker_of_its_child_is_a_checked_error) {
    auto spawns_from_there = [] {
        ps::runtime rt(workers(2));
        auto work = [&]() -> ps::task<> {
            auto body = [&](ps::task_group& group) -> ps::task<> {
                auto child = [&]() -> ps::task<> {
                    group.spawn(no_task_at_all);
                    co_return;
                };
                group.spawn_on(rt.get_executor(1), child);
                co_return;
            };
            co_await ps::task_group::run(body);
        };
        (void)ps::sync_wait(rt, work());
    };
    EXPECT_DEATH(spawns_from_there(), "used from another thread");
}

} // namespace
