#include <pitsaw/task/in.hpp>

#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/sleep.hpp>

#include "foreign_coroutine.hpp"
#include "lifetime_log.hpp"
#include "run_stopped.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using namespace std::chrono_literals;

// A worker that runs until the test lets it go, and its environment as a foreign library would keep it.
task<> serve(foreign_event& over, environment& env, std::atomic<bool>& is_open) {
    env = co_await this_task::get_environment();
    is_open = true;
    is_open.notify_one();
    co_await over;
}
class served_runtime {
  public:
    served_runtime()
        : thread_([this] {
              runtime rt = simulated_runtime();
              (void)sync_wait(rt, serve(over_, env_, is_open_));
          }) {
        is_open_.wait(false);
    }
    served_runtime(served_runtime&&) = delete;
    ~served_runtime() {
        over_.set();
        thread_.join();
    }
    [[nodiscard]] environment const& env() const { return env_; }
    [[nodiscard]] std::thread::id worker() const { return thread_.get_id(); }

  private:
    foreign_event over_;
    environment env_;
    std::atomic<bool> is_open_ = false;
    std::thread thread_;
};

/// Counts foreign coroutines that have ended.
class finish_line {
  public:
    void pass() {
        ++passed_;
        passed_.notify_one();
    }
    void wait_for(int count) const {
        for (int now = passed_; now < count; now = passed_) passed_.wait(now);
    }

  private:
    std::atomic<int> passed_ = 0;
};

task<int> value_on(std::thread::id worker) {
    EXPECT_EQ(std::this_thread::get_id(), worker);
    co_await this_task::yield();
    co_return 5;
}
foreign_coroutine await_value(served_runtime& on, finish_line& line, int& result) {
    EXPECT_NE(std::this_thread::get_id(), on.worker());
    EXPECT_EQ(current_executor(), nullptr);
    result = co_await in(on.env(), value_on(on.worker()));
    EXPECT_EQ(std::this_thread::get_id(), on.worker());
    line.pass();
}

TEST(in, runs_ours_on_its_worker_and_goes_on_there) {
    served_runtime on;
    finish_line line;
    int result = 0;
    await_value(on, line, result);
    line.wait_for(1);
    EXPECT_EQ(result, 5);
}

foreign_coroutine await_leaves(served_runtime& on, finish_line& line, bool& timed_out) {
    co_await in(on.env(), sleep(1ms));
    co_await in(on.env(), this_task::yield()); // from the worker itself now
    auto const end = co_await in(on.env(), with_timeout(1ms, sleep(1h)));
    timed_out = !end.has_value();
    line.pass();
}

TEST(in, takes_leaves_and_scopes_from_any_thread) {
    served_runtime on;
    finish_line line;
    bool timed_out = false;
    await_leaves(on, line, timed_out);
    line.wait_for(1);
    EXPECT_TRUE(timed_out);
}

task<int> throws() {
    co_await this_task::yield();
    throw std::runtime_error("boom");
    co_return 0;
}
task<io_result<int>> fails() {
    co_await this_task::yield();
    co_return std::unexpected(std::make_error_code(std::errc::io_error));
}
foreign_coroutine await_failures(served_runtime& on, finish_line& line, std::string& seen) {
    try {
        (void)co_await in(on.env(), throws());
    } catch (std::runtime_error const& error) {
        seen += error.what();
    }
    auto const result = co_await in(on.env(), fails());
    if (!result.has_value() && result.error() == std::errc::io_error) seen += " io_error";
    line.pass();
}

TEST(in, passes_exceptions_and_errors_on) {
    served_runtime on;
    finish_line line;
    std::string seen;
    await_failures(on, line, seen);
    line.wait_for(1);
    EXPECT_EQ(seen, "boom io_error");
}

task<> sleep_with(lifetime_log& log) {
    probe const local(log, "local");
    co_await sleep(duration::max()); // the time of this world passes at once
}
task<io_result<int>> sleep_for_a_result() {
    co_await sleep(duration::max()); // the time of this world passes at once
    co_return 1;
}
foreign_coroutine await_until_stopped(environment env, finish_line& line, lifetime_log& log) {
    try {
        co_await in(env, sleep_with(log));
    } catch (std::system_error const& error) {
        log.note(error.code() == std::errc::operation_canceled ? "thrown" : "?");
    }
    auto const result = co_await in(env, sleep_for_a_result());
    log.note(!result.has_value() && result.error() == std::errc::operation_canceled ? "returned" : "?");
    line.pass();
}
task<> stop_after(inplace_stop_source& source, duration span) {
    co_await sleep(span);
    source.request_stop();
}
foreign_coroutine stop_from_the_worker(served_runtime& on, inplace_stop_source& source, finish_line& line) {
    co_await in(on.env(), stop_after(source, 1ms));
    line.pass();
}

TEST(in, a_stop_becomes_operation_canceled) {
    served_runtime on;
    for (bool const from_worker : {false, true}) {
        inplace_stop_source source;
        environment env = on.env();
        env.stop = source.get_token();
        finish_line line;
        lifetime_log log;
        await_until_stopped(env, line, log);
        if (from_worker)
            stop_from_the_worker(on, source, line);
        else
            source.request_stop();
        line.wait_for(from_worker ? 2 : 1);
        EXPECT_EQ(log.take(), "~local thrown returned");
    }
}

foreign_coroutine await_once(environment env, finish_line& line, std::atomic<int>& values,
                             std::atomic<int>& stops, task<io_result<int>> (*work)()) {
    auto const result = co_await in(env, work());
    result.has_value() ? ++values : ++stops;
    line.pass(); // then it frees itself, on the worker
}
task<io_result<int>> one_yield() {
    co_await this_task::yield();
    co_return 1;
}
task<io_result<int>> ready() { co_return 1; }

// CL7: a foreign coroutine is resumed and destroyed on the worker while this thread is still in its
// await_suspend.
TEST(in, the_awaiting_coroutine_may_end_on_the_worker_before_its_suspension_returns) { // CL7
    constexpr int rounds = 100'000;
    served_runtime on;
    finish_line line;
    std::atomic<int> values = 0;
    std::atomic<int> stops = 0;
    for (int i = 1; i <= rounds; ++i) {
        await_once(on.env(), line, values, stops, ready);
        if (i % 64 == 0) line.wait_for(i - 32); // a bound on what is under way
    }
    line.wait_for(rounds);
    EXPECT_EQ(values, rounds);
    EXPECT_EQ(stops, 0);
}

TEST(in, a_stop_that_races_with_the_end_gives_one_of_the_two) {
    constexpr int rounds = 20'000;
    served_runtime on;
    std::atomic<int> values = 0;
    std::atomic<int> stops = 0;
    for (int i = 0; i < rounds; ++i) {
        finish_line line;
        inplace_stop_source source;
        environment env = on.env();
        env.stop = source.get_token();
        await_once(env, line, values, stops, i % 2 == 0 ? one_yield : sleep_for_a_result);
        source.request_stop();
        line.wait_for(1);
    }
    EXPECT_EQ(values + stops, rounds);
    EXPECT_GE(stops, rounds / 2);
}

foreign_coroutine hop_between_threads(served_runtime& on, resuming_thread& other, finish_line& line,
                                      int& wrong) {
    for (int i = 0; i < 1000; ++i) {
        auto const there = co_await other.resume_me();
        if (std::this_thread::get_id() != there || current_executor() != nullptr) ++wrong;
        co_await in(on.env(), this_task::yield());
        if (std::this_thread::get_id() != on.worker() || current_executor() != &*on.env().executor) ++wrong;
    }
    line.pass();
}

TEST(in, a_coroutine_that_changes_threads_sees_the_thread_it_is_on) { // CL8
    served_runtime on;
    resuming_thread other;
    finish_line line;
    int wrong = 0;
    hop_between_threads(on, other, line, wrong);
    line.wait_for(1);
    EXPECT_EQ(wrong, 0);
}

TEST(in_death_test, an_environment_without_an_executor_is_a_checked_error) {
    EXPECT_DEATH((void)in(environment(), ready()), "the environment has no executor");
}

} // namespace
