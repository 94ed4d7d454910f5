#include "loop/stall_watchdog.hpp"

#include "each_driver.hpp"
#include "observed_runtime.hpp"
#include "workers.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

/// What a runtime says of its stalls; read when it has gone, or where it is atomic.
struct stall_log {
    [[nodiscard]] ps::runtime_options options(ps::duration threshold) {
        ps::runtime_options made;
        made.stall.threshold = threshold;
        made.stall.on_stall = [this](ps::stall_report const& what) {
            reports.push_back(what);
            count.store(reports.size());
        };
        return made;
    }

    std::vector<ps::stall_report> reports;
    std::atomic<std::size_t> count = 0;
};

void compute_until(std::atomic<std::size_t> const& count, std::size_t wanted) {
    while (count.load() < wanted) {
    }
}
void compute_for(std::chrono::nanoseconds span) {
    auto const until = std::chrono::steady_clock::now() + span;
    while (std::chrono::steady_clock::now() < until) {
    }
}

class stalls : public ::testing::TestWithParam<driver_name> {
  protected:
    watchdog const guard;
    stall_log log;
};

TEST_P(stalls, a_task_that_computes_is_told_of_once_with_its_stacks) {
    auto const holds_up = [this]() -> ps::task<> {
        co_await ps::this_task::yield();
        compute_until(log.count, 1);
        compute_for(10ms); // ten thresholds more of the same
    };
    auto const outer = [&]() -> ps::task<> { co_await ps::with_name("sorter", holds_up()); };
    {
        ps::runtime rt(make_driver(GetParam()), log.options(1ms));
        EXPECT_TRUE(ps::sync_wait(rt, outer()).has_value());
    }
    ASSERT_EQ(log.reports.size(), 1u);
    auto const& what = log.reports.front();
    EXPECT_TRUE(what.is_computing);
    EXPECT_GE(what.length, 1ms);
    EXPECT_EQ(what.count, 1u);
    EXPECT_EQ(what.worker, 0u);
    ASSERT_GE(what.async_stack.size(), 2u);
    for (auto const& each : what.async_stack)
        EXPECT_TRUE(std::string_view(each.file_name()).ends_with("stall_watchdog_test.cpp"))
            << each.file_name();
    EXPECT_FALSE(what.native_stack.empty());
    EXPECT_EQ(what.task, "sorter");
    auto const text = what.text();
    EXPECT_NE(text.find("by a task that computes in sorter, the 1. time at this place"), std::string::npos)
        << text;
    EXPECT_NE(text.find("stall_watchdog_test.cpp"), std::string::npos) << text;
}

TEST_P(stalls, a_call_that_blocks_is_told_of_as_such_and_goes_on) {
    auto const blocks = [this]() -> ps::task<> {
        co_await ps::this_task::yield();
        while (log.count.load() == 0) std::this_thread::sleep_for(20ms);
    };
    {
        ps::runtime rt(make_driver(GetParam()), log.options(1ms));
        EXPECT_TRUE(ps::sync_wait(rt, blocks()).has_value());
    }
    ASSERT_FALSE(log.reports.empty());
    EXPECT_FALSE(log.reports.front().is_computing);
    EXPECT_NE(log.reports.front().text().find("by a call that blocks"), std::string::npos);
}

TEST_P(stalls, tasks_that_give_way_hold_nobody_up) {
    auto const gives_way = []() -> ps::task<> {
        for (int i = 0; i < 2000; ++i) {
            compute_for(20us);
            co_await ps::this_task::yield();
        }
        co_await ps::sleep(20ms);
    };
    {
        ps::runtime rt(make_driver(GetParam()), log.options(20ms));
        EXPECT_TRUE(ps::sync_wait(rt, gives_way()).has_value());
    }
    EXPECT_TRUE(log.reports.empty()) << log.reports.front().text();
}

TEST_P(stalls, are_counted_for_each_await_they_stand_behind) {
    auto const holds_up = [this]() -> ps::task<> {
        for (std::size_t wanted : {1u, 2u, 3u}) {
            co_await ps::this_task::yield();
            compute_until(log.count, wanted);
        }
        co_await ps::this_task::yield();
        compute_until(log.count, 4);
    };
    {
        ps::runtime rt(make_driver(GetParam()), log.options(1ms));
        EXPECT_TRUE(ps::sync_wait(rt, holds_up()).has_value());
    }
    ASSERT_GE(log.reports.size(), 4u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(log.reports[i].count, i + 1);
}

TEST_P(stalls, without_stacks_the_thread_is_not_interrupted) {
    auto const holds_up = [this]() -> ps::task<> {
        co_await ps::this_task::yield();
        compute_until(log.count, 1);
    };
    auto options = log.options(1ms);
    options.stall.has_stacks = false;
    {
        ps::runtime rt(make_driver(GetParam()), options);
        EXPECT_TRUE(ps::sync_wait(rt, holds_up()).has_value());
    }
    ASSERT_EQ(log.reports.size(), 1u);
    EXPECT_TRUE(log.reports.front().async_stack.empty());
    EXPECT_TRUE(log.reports.front().native_stack.empty());
}

INSTANTIATE_TEST_SUITE_P(each, stalls, real_drivers(), name_of_driver);

TEST(stall_watchdog, names_the_worker_that_is_held_up) {
    watchdog const guard;
    stall_log log;
    auto options = log.options(1ms);
    options.workers = 2;
    auto const holds_up = [&log]() -> ps::task<> {
        co_await ps::this_task::yield();
        compute_until(log.count, 1);
    };
    {
        ps::runtime rt([](std::uint32_t) { return make_driver({"epoll"}); }, options);
        auto const work = [&]() -> ps::task<> { co_await ps::with_executor(rt.get_executor(1), holds_up); };
        EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    }
    ASSERT_EQ(log.reports.size(), 1u);
    EXPECT_EQ(log.reports.front().worker, 1u);
}

TEST(stall_watchdog, a_handler_of_the_program_is_left_alone) {
    watchdog const guard;
    struct sigaction theirs = {}, before = {}, after = {};
    theirs.sa_handler = [](int) {};
    ASSERT_EQ(::sigaction(SIGRTMIN + 7, &theirs, &before), 0);
    stall_log log;
    auto const holds_up = [&log]() -> ps::task<> {
        co_await ps::this_task::yield();
        compute_until(log.count, 1);
    };
    {
        ps::runtime rt(make_driver({"epoll"}), log.options(1ms));
        EXPECT_TRUE(ps::sync_wait(rt, holds_up()).has_value());
    }
    ASSERT_EQ(::sigaction(SIGRTMIN + 7, &before, &after), 0);
    EXPECT_EQ(after.sa_handler, theirs.sa_handler);
    ASSERT_EQ(log.reports.size(), 1u);
    EXPECT_TRUE(log.reports.front().native_stack.empty());
}

TEST(stall_watchdog, a_threshold_that_cannot_be_kept_is_an_error) {
    stall_log log;
    EXPECT_THROW(ps::runtime(make_driver({"sim"}), log.options(99us)), std::system_error);
    EXPECT_THROW(ps::runtime(make_driver({"sim"}), log.options(-1ms)), std::system_error);
    ASSERT_EQ(::setenv("PITSAW_STALL_MS", "ten", 1), 0);
    EXPECT_THROW(ps::runtime(make_driver({"sim"})), std::system_error);
    ASSERT_EQ(::setenv("PITSAW_STALL_MS", "10", 1), 0);
    EXPECT_NO_THROW(ps::runtime(make_driver({"sim"})));
    ASSERT_EQ(::unsetenv("PITSAW_STALL_MS"), 0);
}

TEST(stall_watchdog, in_simulated_time_nobody_looks) {
    watchdog const guard;
    stall_log log;
    auto const holds_up = []() -> ps::task<> {
        co_await ps::this_task::yield();
        compute_for(20ms);
    };
    {
        ps::runtime rt(make_driver({"sim"}), log.options(1ms));
        EXPECT_TRUE(ps::sync_wait(rt, holds_up()).has_value());
    }
    EXPECT_TRUE(log.reports.empty());
}

} // namespace
