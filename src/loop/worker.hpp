#pragma once
#include "loop/flight_recorder.hpp"
#include "loop/fork_lane.hpp"
#include "loop/lost_error_lines.hpp"
#include "loop/pulse.hpp"
#include "loop/stealing.hpp"

#include <pitsaw/base/atomic.hpp>
#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/executor/remote_ask.hpp>
#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/io/buffer_pool.hpp>
#include <pitsaw/io/driver.hpp>
#include <pitsaw/stop/inplace_stop_token.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>

namespace pitsaw::inline v0 {

/// Looks on at a worker, for harnesses that act at exact moments. The worker calls it on its own thread.
struct worker_observer {
    virtual ~worker_observer() = default;
    /// The leaf that was watched for has just suspended.
    virtual void on_suspended(continuation& leaf) noexcept = 0;
    /// It has its result, and its coroutine is queued.
    virtual void on_completed(continuation& leaf) noexcept = 0;
    /// The events and timers of turn `turn` are known and will be delivered next.
    virtual void before_delivery(std::uint64_t turn) noexcept = 0;
    /// Nothing is left that could wake a task. Returning means that it has seen to it.
    virtual void on_deadlock() noexcept = 0;
    /// An exception that nobody can receive. True: it was expected, and no more is said about it.
    [[nodiscard]] virtual bool expects_lost_error(std::exception_ptr const&) noexcept { return false; }
};

/// Who drives a worker by `step`.
struct worker_guide {
    virtual ~worker_guide() = default;
    /// A coroutine is about to be resumed.
    virtual void resumes(continuation& next, resume_as how) noexcept = 0;
    /// A check has failed on this worker's thread, while it is the current one: the process is about to end.
    virtual void check_failed() noexcept = 0;
};

class stall_watchdog;

/// One thread's loop: ready queue, timers, driver, inbox. The only place where coroutines meet a driver.
///
/// Lifetime: the runtime's. Threads: the one that runs it; `wake` and the inbox from any.
class worker final : public executor, public sleeper {
  public:
    worker(std::unique_ptr<driver> own, runtime_options options);
    ~worker();

    /// Turns until `is_done`.
    void run(bool const& is_done) noexcept;

    /// One turn without waiting, for who drives several workers from one thread and in one time.
    void step(bool const& is_done) noexcept;
    /// When a step has something to do, as far as the worker itself knows; its driver may know more.
    [[nodiscard]] auto next_step_at() const noexcept -> time_point {
        bool const is_now = !ready.empty() || (shared != nullptr && shared->is_open());
        return is_now ? time_point::min() : timers.next_wake();
    }

    [[nodiscard]] auto now() const noexcept -> time_point override { return driver_->now(); }
    void lost_error(std::exception_ptr error) noexcept override;
    void log(std::string_view line) noexcept override;
    void on_check_failed() noexcept override {
        if (guide != nullptr) guide->check_failed();
    }
    [[nodiscard]] auto find_buffers() noexcept -> buffer_pool* override;
    void offer(continuation& to) noexcept override;

    /// From another worker, which has laid something open.
    void wake_to_search() noexcept override { wake(); }

    [[nodiscard]] fork_lane& lane() noexcept override { return lane_; }

    /// Between runs: waits for the operations whose owners are gone; each is being cancelled.
    void end_abandoned() noexcept;

    /// From any thread; it may end the last run, and the runtime may be destroyed before it returns.
    void request_stop(stop_reason why) noexcept;

    /// From any thread: a misuse is to be found out.
    [[nodiscard]] bool is_running() const noexcept { return is_running_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t turn() const noexcept { return turn_; }

    /// Set before the first run: the processor that a thread runs on while it is in `sync_wait`.
    std::optional<std::uint32_t> cpu;
    /// Set before the first run: with whom it shares what may run anywhere, and as which of them; or null.
    stealing* shared = nullptr;
    std::uint32_t number = 0;
    stall_watchdog* watchdog = nullptr;  ///< set before the first run; null: nobody looks
    worker_observer* observer = nullptr; ///< set between runs
    worker_guide* guide = nullptr;       ///< set once
    boundary* root = nullptr;            ///< what runs, for a stop of the runtime to reach
    inplace_stop_source stop;            ///< the root environment's
    void* local = nullptr;               ///< set once

  private:
    void wake() noexcept override { driver_->wake(); }
    void on_watched_suspended(continuation& leaf) noexcept override;
    void on_watched_completed(continuation& leaf) noexcept override;

    static void stop_arrived(void* self, bool is_closed) noexcept;

    void resume_ready(bool const& is_done) noexcept;
    void resume_ready_or_open(bool const& is_done) noexcept; ///< the same among others, who leave things open
    [[nodiscard]] bool is_poll_due(std::uint32_t resumes) const noexcept;
    [[nodiscard]] bool has_next() noexcept {
        return !ready.empty() || (shared != nullptr && shared->take(number, ready));
    }
    void resume_one() noexcept;
    void resume(ready_queue::entry const& turn) noexcept;
    static void resume_completed(promise_header& waiting) noexcept;
    void take_inbox() noexcept;
    void poll_once(bool may_wait) noexcept;
    // Apart from the path of those who share nothing.
    [[nodiscard, gnu::noinline, gnu::cold]] bool is_to_sleep_among_others(bool may_wait) noexcept;
    void be_at_home() noexcept;
    void deliver(std::size_t count) noexcept;
    void look_for_deadlock() noexcept;
    void check_nothing_is_left() const noexcept;

    std::unique_ptr<flight_recorder> recorder_;
    std::unique_ptr<buffer_pool> buffers_; ///< before the driver: its memory is lent for the driver's life
    bool has_looked_for_buffers_ = false;
    std::unique_ptr<driver> driver_;
    runtime_options options_;
    pulse pulse_;            ///< for the watchdog
    std::uint64_t home_ = 0; ///< the number of the thread that runs it; none before the first run
    std::uint64_t turn_ = 0;
    time_point polled_at_; ///< the one reading of the clock that each turn needs
    std::uint32_t resumes_between_polls_;
    detail::atomic<bool> is_running_ = false; ///< relaxed: no more than a check looks at it
    lost_error_lines lost_errors_;
    bool has_stop_arrived_ = false;
    remote_ask stop_from_afar_; ///< brings a stop of the runtime to `root`
    std::array<event, 64> events_;
    fork_lane lane_{*this};
};

} // namespace pitsaw::inline v0
