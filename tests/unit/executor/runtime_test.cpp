#include <pitsaw/executor/runtime.hpp>

#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/at_exit.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/sleep.hpp>

#include "lifetime_log.hpp"
#include "run_stopped.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using namespace std::chrono_literals;

constexpr auto for_ever = std::chrono::hours::max();

task<> announce_and_sleep(std::atomic<bool>& is_asleep, lifetime_log& log) {
    probe const local(log, "local");
    is_asleep = true;
    is_asleep.notify_one();
    co_await sleep(for_ever);
    log.note("NEVER");
}

TEST(runtime, a_stop_from_another_thread_reaches_a_task_that_sleeps_for_ever) {
    for (int round = 0; round < 200; ++round) {
        lifetime_log log;
        runtime rt = simulated_runtime();
        std::atomic<bool> is_asleep = false;
        std::thread other([&] {
            is_asleep.wait(false);
            rt.request_stop(stop_reason::peer_gone);
        });
        EXPECT_EQ(sync_wait(rt, announce_and_sleep(is_asleep, log)).reason(), stop_reason::peer_gone);
        EXPECT_EQ(log.take(), "~local");
        other.join();
    }
}

task<> until_the_stop_is_seen() {
    auto const stop = (co_await this_task::get_environment()).stop;
    while (!stop.stop_requested()) {
        (void)co_await as_outcome(this_task::yield());
        std::this_thread::yield(); // the other thread may need this core
    }
}

// The run ends once the stop is seen; the runtime goes while the other thread is in request_stop.
TEST(runtime, may_be_destroyed_while_request_stop_returns) {
    constexpr int rounds = 1'000;
    std::atomic<runtime*> next = nullptr;
    std::thread other([&next] {
        for (int i = 0; i < rounds; ++i) {
            runtime* rt = nullptr;
            while ((rt = next.exchange(nullptr)) == nullptr) next.wait(nullptr);
            rt->request_stop();
        }
    });
    int ended = 0;
    for (int i = 0; i < rounds; ++i) {
        auto const rt = std::make_unique<runtime>(std::make_unique<sim_driver>(sim_driver_options::calm()));
        next = rt.get();
        next.notify_one();
        auto const end = sync_wait(*rt, until_the_stop_is_seen());
        ended += end.has_value() || end.is_stopped() ? 1 : 0;
    }
    other.join();
    EXPECT_EQ(ended, rounds);
}

TEST(runtime, two_threads_may_request_its_stop) {
    for (int round = 0; round < 500; ++round) {
        lifetime_log log;
        runtime rt = simulated_runtime();
        std::atomic<bool> is_asleep = false;
        auto const ask = [&] {
            is_asleep.wait(false);
            rt.request_stop();
        };
        std::thread one(ask);
        std::thread other(ask);
        EXPECT_TRUE(sync_wait(rt, announce_and_sleep(is_asleep, log)).is_stopped());
        one.join();
        other.join();
    }
}

task<int> work() {
    co_await this_task::yield();
    co_return 1;
}
task<int> no_leaf() { co_return 2; }

TEST(runtime, a_stop_is_final) {
    runtime rt = simulated_runtime();
    EXPECT_EQ(sync_wait(rt, work()).value(), 1);
    rt.request_stop(stop_reason::peer_gone);
    rt.request_stop(stop_reason::timeout);
    EXPECT_EQ(sync_wait(rt, work()).reason(), stop_reason::peer_gone);
    EXPECT_EQ(sync_wait(rt, work()).reason(), stop_reason::peer_gone);
    EXPECT_EQ(sync_wait(rt, no_leaf()).value(), 2);
}

TEST(runtime, stopped_and_never_run_it_is_destroyed_all_the_same) {
    runtime rt = simulated_runtime();
    rt.request_stop();
}

TEST(runtime, may_be_made_with_the_driver_of_this_machine) {
    runtime rt;
    EXPECT_EQ(sync_wait(rt, work()).value(), 1);
}

task<> throws() {
    throw std::runtime_error("nobody receives this");
    co_return;
}
task<> throws_a_number() {
    throw 3;
    co_return;
}
task<> lose_two_errors() {
    co_await at_exit(throws);
    co_await at_exit(throws_a_number);
}
task<> swallow_stops() {
    for (int i = 0; i < 1000; ++i) (void)co_await as_outcome(this_task::yield());
}

task<> lose_errors(int count) {
    for (int i = 0; i < count; ++i) co_await at_exit(throws);
}

TEST(runtime, many_lost_errors_are_counted_instead_of_printed) {
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(sync_wait(lose_errors(25)).has_value()); // in virtual time within a second
    auto const printed = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::ranges::count(printed, '\n'), 11) << printed;
    EXPECT_TRUE(printed.ends_with("pitsaw: and 15 lost errors more\n")) << printed;
}

TEST(runtime, by_default_lost_errors_and_logs_go_to_stderr) {
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(sync_wait(lose_two_errors()).has_value());
    EXPECT_TRUE(run_stopped(before_the_start, swallow_stops()).has_value());
    auto const printed = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(printed.find("pitsaw: lost error: nobody receives this\n"), std::string::npos) << printed;
    EXPECT_NE(printed.find("pitsaw: lost error of an unknown type\n"), std::string::npos) << printed;
    EXPECT_NE(printed.find("pitsaw: a task has swallowed 1000 stops in a row"), std::string::npos) << printed;
}

TEST(runtime, two_may_live_on_one_thread_and_run_in_turn) {
    runtime one = simulated_runtime();
    runtime other = simulated_runtime();
    EXPECT_EQ(sync_wait(one, work()).value() + sync_wait(other, work()).value() +
                  sync_wait(one, work()).value(),
              3);
}

TEST(runtime_death_test, destroyed_with_work_left_it_says_so) {
    auto const leave_work = [] {
        runtime rt = simulated_runtime();
        static continuation never_runs;
        rt.get_executor()->post_from_any_thread(never_runs, resume_as::callback);
    };
    EXPECT_DEATH(leave_work(), "destroyed with work that had not ended");
}

} // namespace
