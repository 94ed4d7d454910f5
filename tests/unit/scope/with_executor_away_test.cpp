#include <pitsaw/scope/with_executor.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"
#include "workers.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

ps::task<std::unique_ptr<int>> boxed(int value) {
    co_await ps::this_task::yield();
    co_return std::make_unique<int>(value);
}
ps::task<int&> refers(int& to) {
    co_await ps::this_task::yield();
    co_return to;
}

TEST(with_executor_away, the_work_runs_there_and_its_result_comes_back) {
    watchdog const guard;
    ps::runtime rt(workers(2));
    auto const home = std::this_thread::get_id();
    std::thread::id there;
    int referred = 4;
    auto notes = [&]() -> ps::task<> {
        there = std::this_thread::get_id();
        co_return;
    };
    auto work = [&]() -> ps::task<int> {
        auto const other = rt.get_executor(1);
        co_await ps::with_executor(other, notes);
        EXPECT_EQ(std::this_thread::get_id(), home);
        auto const box = co_await ps::with_executor(other, boxed, 3);
        auto const same = co_await ps::with_executor(other, boxed(3));
        int& back = co_await ps::with_executor(other, refers, std::ref(referred));
        EXPECT_EQ(&back, &referred);
        co_return *box + *same + back;
    };
    EXPECT_EQ(ps::sync_wait(rt, work()).value(), 10);
    EXPECT_NE(there, home);
}

ps::task<> throws() {
    co_await ps::this_task::yield();
    throw std::runtime_error("from there");
}
struct throws_when_called_away {
    ps::task<> operator()() const { throw std::runtime_error("when called"); }
};

TEST(with_executor_away, what_the_work_or_the_call_of_it_throws_is_thrown_here) {
    watchdog const guard;
    ps::runtime rt(workers(2));
    std::string caught;
    auto work = [&]() -> ps::task<> {
        auto const other = rt.get_executor(1);
        try {
            co_await ps::with_executor(other, throws());
        } catch (std::exception const& what) {
            caught = what.what();
        }
        try {
            co_await ps::with_executor(other, throws_when_called_away());
        } catch (std::exception const& what) {
            caught += what.what();
        }
    };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_EQ(caught, "from therewhen called");
}

ps::task<> sleeps_with(thread_probe probe, ps::duration for_so_long) {
    thread_probe const local(std::move(probe));
    co_await ps::sleep(for_so_long);
}

TEST(with_executor_away, frames_end_where_they_ran_before_the_await_does) {
    watchdog const guard;
    ps::runtime rt(workers(2));
    std::thread::id there, value, stopped;
    auto notes = [&]() -> ps::task<> {
        there = std::this_thread::get_id();
        co_return;
    };
    auto work = [&]() -> ps::task<> {
        auto const other = rt.get_executor(1);
        co_await ps::with_executor(other, notes);
        co_await ps::with_executor(other, sleeps_with(thread_probe(value), 0ms));
        EXPECT_EQ(value, there);
        auto const end = co_await ps::with_timeout(
            1ms, ps::with_executor(other, sleeps_with(thread_probe(stopped), ps::duration::max())));
        EXPECT_FALSE(end.has_value());
        EXPECT_EQ(stopped, there);
    };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_NE(there, std::this_thread::get_id());
}

TEST(with_executor_away, a_clean_up_runs_there_on_a_stop_too) {
    watchdog const guard;
    ps::runtime rt(workers(2));
    std::thread::id there, cleaned;
    auto cleans = [](std::thread::id* id) -> ps::task<> {
        co_await ps::this_task::yield();
        *id = std::this_thread::get_id();
    };
    auto inner = [&]() -> ps::task<> {
        there = std::this_thread::get_id();
        co_await ps::at_exit(cleans, &cleaned);
        co_await ps::sleep(ps::duration::max());
    };
    auto work = [&]() -> ps::task<> { co_await ps::with_executor(rt.get_executor(1), inner); };
    EXPECT_TRUE(run_stopped(rt, 1ms, work()).is_stopped());
    EXPECT_EQ(cleaned, there);
    EXPECT_NE(there, std::this_thread::get_id());
}

TEST(with_executor_away, work_that_stops_by_itself_stops_the_awaiting_task) {
    watchdog const guard;
    ps::runtime rt(workers(2));
    auto stops = []() -> ps::task<> { co_await stops_itself{}; };
    auto work = [&]() -> ps::task<> {
        co_await ps::with_executor(rt.get_executor(1), stops);
        ADD_FAILURE();
    };
    EXPECT_TRUE(ps::sync_wait(rt, work()).is_stopped());
}

// CL7: the frame may be gone on the other thread before the call that sent it returns.
TEST(with_executor_away, a_stop_that_meets_the_end_delivers_what_completed) {
    watchdog const guard;
    ps::runtime rt(workers(2));
    int stopped = 0;
    constexpr int rounds = 3'000;
    int delivered = 0;
    for (int round = 0; round < rounds; ++round) {
        bool has_completed = false;
        auto inner = [&, turns = round % 6]() -> ps::task<int> {
            for (int i = 0; i < turns; ++i) co_await ps::this_task::yield();
            has_completed = true;
            co_return 1;
        };
        auto work = [&, turns = round % 7]() -> ps::task<> {
            auto body = [&, turns](ps::task_group& group) -> ps::task<> {
                auto child = [&]() -> ps::task<> {
                    delivered += co_await ps::with_executor(rt.get_executor(1), inner);
                };
                group.spawn(child);
                for (int i = 0; i < turns; ++i) co_await ps::this_task::yield();
                group.request_stop();
            };
            co_await ps::task_group::run(body);
        };
        auto const before = delivered;
        ASSERT_TRUE(ps::sync_wait(rt, work()).has_value());
        EXPECT_EQ(delivered - before, has_completed ? 1 : 0);
        stopped += has_completed ? 0 : 1;
    }
    EXPECT_EQ(stopped + delivered, rounds);
}

// LW1, LW12: two workers that send each other to and fro, with nothing else that could wake them.
TEST(with_executor_away, to_and_fro_no_wake_is_lost) {
    watchdog const guard;
    ps::runtime rt(workers(2));
    int count = 0;
    auto there = [&]() -> ps::task<> {
        ++count;
        co_return;
    };
    auto work = [&]() -> ps::task<> {
        for (int i = 0; i < 20'000; ++i) co_await ps::with_executor(rt.get_executor(1), there);
    };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_EQ(count, 20'000);
}

TEST(with_executor_away, nested_it_goes_from_worker_to_worker) {
    watchdog const guard;
    ps::runtime rt(workers(4));
    auto last = [&]() -> ps::task<int> {
        EXPECT_TRUE(rt.get_executor(3).is_current());
        co_return 1;
    };
    auto third = [&]() -> ps::task<int> {
        co_return 1 + co_await ps::with_executor(rt.get_executor(3), last);
    };
    auto second = [&]() -> ps::task<int> {
        int const below = co_await ps::with_executor(rt.get_executor(2), third);
        EXPECT_TRUE(rt.get_executor(1).is_current());
        co_return 1 + below;
    };
    auto work = [&]() -> ps::task<int> {
        int const below = co_await ps::with_executor(rt.get_executor(1), second);
        EXPECT_TRUE(rt.get_executor(0).is_current());
        co_return 1 + below;
    };
    EXPECT_EQ(ps::sync_wait(rt, work()).value(), 4);
}

} // namespace
