#include <pitsaw/task/sync_wait.hpp>

#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/this_task.hpp>

#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/sleep.hpp>

#include "foreign_coroutine.hpp"
#include "lifetime_log.hpp"
#include "run_stopped.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using namespace std::chrono_literals;

task<int> value_after(duration span) {
    co_await sleep(span);
    co_return 3;
}

TEST(sync_wait, uses_a_runtime_again_and_again) {
    runtime rt = simulated_runtime();
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(sync_wait(rt, value_after(1ms)).value(), 3);
}

task<> stopped_in_a_scope(bool& was_unwinding) {
    struct commits {
        bool& seen;
        explicit commits(bool& into) : seen(into) {}
        ~commits() { seen = this_task::is_unwinding(); }
    };
    auto const transaction = [](bool& seen) -> task<> {
        commits const guard(seen);
        co_await sleep(1h);
    };
    (void)co_await with_timeout(1ms, transaction(was_unwinding));
}

TEST(sync_wait, a_commit_guard_in_a_scope_of_its_work_sees_the_stop) {
    bool was_unwinding = false;
    EXPECT_TRUE(sync_wait(stopped_in_a_scope(was_unwinding)).has_value());
    EXPECT_TRUE(was_unwinding);
}

task<> waits_with(lifetime_log& log, bool& was_current, executor_ref on, probe) {
    struct looks_around {
        bool& was_current;
        executor_ref on;
        looks_around(bool& seen, executor_ref expected) : was_current(seen), on(expected) {}
        ~looks_around() { was_current = on.is_current(); }
    } const local(was_current, on);
    log.note("waits");
    co_await sleep(1h);
}

TEST(sync_wait, destroys_the_work_on_its_worker_before_it_returns) {
    lifetime_log log;
    runtime rt = simulated_runtime();
    bool was_current = false;
    EXPECT_TRUE(run_stopped(rt, 1ms, waits_with(log, was_current, rt.get_executor(), probe(log, "argument")))
                    .is_stopped());
    log.note("after");
    EXPECT_EQ(log.take(), "waits ~argument after");
    EXPECT_TRUE(was_current);
}

TEST(sync_wait, leaves_a_named_task_empty) {
    auto work = value_after(1ms);
    EXPECT_TRUE(sync_wait(std::move(work)).has_value());
    EXPECT_FALSE(static_cast<bool>(work));
}

// LW1: two threads hand over to each other; a lost wake-up hangs until ctest's watchdog.
task<> wait_for(foreign_event& event) { co_await event; }

TEST(sync_wait, is_woken_by_another_thread_each_time) { // LW1
    constexpr int rounds = 50'000;
    runtime rt = simulated_runtime();
    std::atomic<foreign_event*> current = nullptr;
    std::thread setter([&current] {
        for (int i = 0; i < rounds; ++i) {
            foreign_event* event = nullptr;
            while ((event = current.exchange(nullptr)) == nullptr) current.wait(nullptr);
            event->set();
        }
    });
    int completed = 0;
    for (int i = 0; i < rounds; ++i) {
        auto const event = std::make_unique<foreign_event>();
        current.store(event.get());
        current.notify_one();
        completed += sync_wait(rt, wait_for(*event)).has_value() ? 1 : 0;
    }
    setter.join();
    EXPECT_EQ(completed, rounds);
}

// ---- run

task<> print_nothing() { co_return; }
task<int> exit_code(int code) { co_return code; }
task<io_result<void>> io_failure() { co_return std::unexpected(std::make_error_code(std::errc::io_error)); }
task<io_result<int>> io_success() { co_return 9; }
task<> boom() {
    throw std::runtime_error("boom");
    co_return;
}
task<> throws_a_number() {
    throw 3;
    co_return;
}
struct stops {
    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        return header.stop_here();
    }
    void await_resume() const noexcept {}
};
task<> stops_itself() { co_await stops(); }

TEST(run, gives_what_main_returns) {
    EXPECT_EQ(run(print_nothing()), 0);
    EXPECT_EQ(run(exit_code(7)), 7);
    EXPECT_EQ(run(io_success()), 0);
}

TEST(run, prints_what_failed) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(run(boom()), 1);
    EXPECT_EQ(run(throws_a_number()), 1);
    EXPECT_EQ(run(io_failure()), 1);
    std::string const printed = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(printed.find("error: boom\n"), std::string::npos) << printed;
    EXPECT_NE(printed.find("unknown type"), std::string::npos) << printed;
    EXPECT_NE(printed.find("generic:5"), std::string::npos) << printed;
}

TEST(run, a_stop_is_no_failure) { EXPECT_EQ(run(stops_itself()), 0); }

// ---- Misuse

task<> wait_inside(runtime& rt) {
    (void)sync_wait(rt, print_nothing());
    co_return;
}
task<> run_a_second_runtime() {
    runtime second;
    (void)sync_wait(second, print_nothing());
    co_return;
}
task<> destroy_own_runtime(std::unique_ptr<runtime>& rt) {
    co_await this_task::yield();
    rt.reset();
}

TEST(sync_wait_death_test, on_a_worker_is_a_checked_error) {
    runtime rt = simulated_runtime();
    EXPECT_DEATH((void)sync_wait(rt, wait_inside(rt)), "sync_wait was called by a task");
}

TEST(sync_wait_death_test, of_a_second_runtime_on_a_thread_is_a_checked_error) {
    EXPECT_DEATH((void)sync_wait(run_a_second_runtime()), "a second runtime's thread: co_await instead");
}

TEST(sync_wait_death_test, a_runtime_destroyed_by_its_own_work_is_a_checked_error) {
    auto rt = std::make_unique<runtime>();
    EXPECT_DEATH((void)sync_wait(*rt, destroy_own_runtime(rt)),
                 "a runtime was destroyed by work that runs on it");
}

struct never_set {
    [[nodiscard]] std::coroutine_handle<> start(promise_header&) noexcept { return std::noop_coroutine(); }
    void await_resume() const noexcept {}
};
task<> wait_for_nothing() { co_await never_set(); }

TEST(sync_wait_death_test, a_wait_that_nothing_can_end_is_a_checked_error) {
    EXPECT_DEATH((void)sync_wait(wait_for_nothing()), "deadlock: every task waits");
}

} // namespace
