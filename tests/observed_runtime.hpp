#pragma once
#include "driver/sim/driver.hpp"
#include "lifetime_log.hpp"

#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/task/at_exit.hpp>
#include <pitsaw/task/frame_memory.hpp>
#include <pitsaw/task/sync_wait.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace pitsaw::testing {

/// What an exception says.
[[nodiscard]] inline std::string text_of(std::exception_ptr const& what) {
    try {
        std::rethrow_exception(what);
    } catch (std::exception const& known) {
        return known.what();
    } catch (...) {
        return "unknown";
    }
}

/// A runtime in a calm simulated world that keeps what nobody else received, and expects at its end that
/// nothing is left: frames, timers, operations, promises by other threads.
struct observed_runtime {
    observed_runtime() : observed_runtime(std::make_unique<sim_driver>(sim_driver_options::calm())) {}
    ~observed_runtime() { expect_nothing_left(); }
    observed_runtime(observed_runtime&&) = delete;

    void expect_nothing_left() {
        auto const& worker = *rt.get_executor();
        EXPECT_EQ(worker.timers.size(), 0u);
        EXPECT_EQ(worker.operations, 0u);
        EXPECT_EQ(worker.foreign, 0u);
        EXPECT_EQ(worker.unwinding, 0u);
        EXPECT_EQ(frame_memory_statistics().live, frames_before_);
    }

    [[nodiscard]] duration elapsed() const { return driver.now().time_since_epoch(); }

  private:
    std::int64_t frames_before_ = frame_memory_statistics().live;

    explicit observed_runtime(std::unique_ptr<sim_driver> made)
        : driver(*made), rt(std::move(made), options_for(*this)) {}

    static runtime_options options_for(observed_runtime& self) {
        runtime_options options;
        options.on_lost_error = [&self](std::exception_ptr what) { self.lost.push_back(text_of(what)); };
        options.on_log = [&self](std::string_view line) { self.lines.emplace_back(line); };
        return options;
    }

  public:
    sim_driver& driver;
    std::vector<std::string> lost;  ///< what went to on_lost_error
    std::vector<std::string> lines; ///< what went to on_log
    runtime rt;
};

/// Calls a function at a moment of a runtime's time, on its worker.
template <class F> class alarm_call : timer_node {
  public:
    alarm_call(runtime& of, duration const in, F call)
        : timer_node(expired), worker_(*of.get_executor()), call_(std::move(call)) {
        deadline = saturating_add(worker_.now(), in);
        worker_.timers.arm(*this);
    }
    alarm_call(alarm_call&&) = delete;
    ~alarm_call() { worker_.timers.disarm(*this); }

  private:
    static void expired(timer_node& self) noexcept { static_cast<alarm_call&>(self).call_(); }

    executor& worker_;
    F call_;
};

/// Ends the process if it is still there after a minute: a test that hangs names itself.
class watchdog {
  public:
    watchdog() : thread_([this] { watch(); }) {}
    watchdog(watchdog&&) = delete;
    ~watchdog() {
        {
            std::lock_guard const lock(mutex_);
            is_over_ = true;
        }
        ended_.notify_one();
        thread_.join();
    }

  private:
    void watch() {
        std::unique_lock lock(mutex_);
        if (ended_.wait_for(lock, std::chrono::seconds(60), [this] { return is_over_; })) return;
        std::fputs("watchdog: the test hangs\n", stderr);
        std::abort();
    }

    std::mutex mutex_;
    std::condition_variable ended_;
    bool is_over_ = false;
    std::thread thread_;
};

/// A leaf that stops although nobody asked, as a sender of another library may.
struct stops_itself {
    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        return header.stop_here();
    }
    void await_resume() const noexcept {}
};

/// A leaf that takes its time whatever is requested.
class deaf_sleep : timer_node {
  public:
    explicit deaf_sleep(duration const span) noexcept : timer_node(expired), span_(span) {}

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        header_ = &header;
        auto& worker = *header.env->executor;
        deadline = saturating_add(worker.now(), span_);
        worker.timers.arm(*this);
        return std::noop_coroutine();
    }
    void await_resume() const noexcept {}

  private:
    static void expired(timer_node& self) noexcept {
        auto& header = *static_cast<deaf_sleep&>(self).header_;
        header.env->executor->ready.push(header);
    }

    duration span_;
    promise_header* header_ = nullptr;
};

} // namespace pitsaw::testing
