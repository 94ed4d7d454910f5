#pragma once
#include <pitsaw/base/atomic.hpp>
#include <pitsaw/base/clock.hpp>
#include <pitsaw/base/inbox.hpp>
#include <pitsaw/executor/budget.hpp>
#include <pitsaw/executor/continuation.hpp>
#include <pitsaw/executor/ready_levels.hpp>
#include <pitsaw/executor/timer_queue.hpp>

#include <array>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <span>
#include <string_view>

namespace pitsaw::inline v0 {

class blocking_pool;
class buffer_pool;
class compute_lane;
struct cpu_mask;
class driver;
class flight_recorder;
struct event;

/// The part of a worker that running coroutines touch: where they wait for their turn and for time.
///
/// It is what `environment::executor` names. Users hold an `executor_ref`; the library's own leaves use the
/// members directly, for they are on every await's path.
///
/// Lifetime: that of the runtime. Threads: everything is the worker's own, except `post_from_any_thread`.
class executor {
  public:
    executor(executor&&) = delete;

    ready_levels ready;                   ///< coroutines whose turn it is
    budget hops;                          ///< refilled by the loop at each resume
    continuation* current = nullptr;      ///< the running header, null in callbacks and in the loop
    timer_queue timers;                   ///< sleeps and deadlines
    driver* io = nullptr;                 ///< set once
    flight_recorder* recorder = nullptr;  ///< set once; null: nothing is recorded
    std::uint64_t suspensions = 0;        ///< how many leaves have suspended so far
    std::uint64_t watched = UINT64_MAX;   ///< calls `on_watched_suspended` when `suspensions` gets here
    continuation* watched_leaf = nullptr; ///< calls `on_watched_completed` when this one completes
    std::uint32_t operations = 0;         ///< in flight at the driver
    std::uint32_t abandoned = 0; ///< of these, whose owner is gone: each frees itself at its final event
    std::uint32_t foreign = 0;   ///< promises by other threads to post here: portals, foreign awaitables
    std::uint32_t unwinding = 0; ///< how many stopped frames are being destroyed
    blocking_pool* blocking = nullptr;  ///< set once: the runtime's, for what would hold the worker up
    compute_lane* computes = nullptr;   ///< set once: runs this worker's part of computations
    bool has_virtual_time = false;      ///< set once: time passes only where the driver says so
    std::uint32_t away = 0;             ///< chains, and stops of them, on their way between workers
    std::span<executor* const> workers; ///< set once: those of the runtime, this one included
    cpu_mask const* unpinned = nullptr; ///< set once: where threads that it starts may run; null: as it may

    /// Appends `to` to the ready queue from its worker and from anywhere else. A header has its priority in
    /// its environment; a callback waits with that of `level`.
    void post_from_any_thread(continuation& to, resume_as how, priority level = priority::normal) noexcept;

    /// The same, but behind everything that other threads had posted with this priority before this call,
    /// from its worker too.
    void post_in_order(continuation& to, resume_as how, priority level = priority::normal) noexcept;

    /// Appends a callback that any worker of the runtime may run instead. From its worker.
    virtual void offer(continuation& to) noexcept { ready.push(to, resume_as::callback); }

    /// Parks a hop whose budget is spent, behind the others or before them; returns what the hop resumes
    /// instead: nothing.
    [[nodiscard]] std::coroutine_handle<> park(continuation& to, priority level = priority::normal,
                                               bool is_first = false) noexcept;

    /// Counts a leaf that has just suspended; `leaf` is the header that waits.
    void note_suspension(continuation& leaf) noexcept {
        if (++suspensions == watched) [[unlikely]]
            on_watched_suspended(leaf);
    }

    /// A suspended leaf has its result, and `leaf` has been queued to take it.
    void note_completion(continuation& leaf) noexcept {
        if (&leaf == watched_leaf) [[unlikely]]
            on_watched_completed(leaf);
    }

    /// An attempt has succeeded: it is an event that no poll brings.
    void note_attempt(event const& done) const noexcept {
        if (recorder != nullptr) record_attempt(done);
    }

    [[nodiscard]] virtual auto now() const noexcept -> time_point = 0;

    /// An exception that no coroutine can receive.
    virtual void lost_error(std::exception_ptr error) noexcept = 0;

    /// The pool of this worker's driver, made at the first call; null where there is none.
    [[nodiscard]] virtual auto find_buffers() noexcept -> buffer_pool* = 0;

    /// One line for the operator.
    virtual void log(std::string_view line) noexcept = 0;

    /// A check has failed on this thread: who knows more about the run may say so, on stderr.
    virtual void on_check_failed() noexcept {}

  protected:
    executor() = default;
    ~executor() = default;

    /// Waits until no thread is inside `post_from_any_thread`: one may still be about to wake us, although
    /// what it posted has already run and ended everything.
    void wait_for_posters() const noexcept;

    virtual void wake() noexcept = 0; ///< from any thread: the inbox is no longer empty
    // For a harness that acts at exact moments.
    virtual void on_watched_suspended(continuation& leaf) noexcept = 0;
    virtual void on_watched_completed(continuation& leaf) noexcept = 0;

    void record_attempt(event const& done) const noexcept;

    /// One for each priority: any thread pushes, the worker takes.
    std::array<inbox<continuation, &continuation::link>, priority_count> inboxes_;

    detail::atomic<std::uint32_t> posters_ = 0; ///< any thread
};

/// The executor whose worker is this thread, or null. Never inlined: a coroutine may be on another thread
/// after a suspension, and compilers keep the address of a thread-local across it.
[[nodiscard, gnu::noinline]] executor* current_executor() noexcept;

/// Makes `next` this thread's executor and returns the one before.
[[gnu::noinline]] executor* exchange_current_executor(executor* next) noexcept;

/// Names a worker: where coroutines run and where their leaves come back to.
///
/// ```cpp
/// auto here = (co_await ps::this_task::get_environment()).executor;
/// ```
/// Lifetime: the runtime must outlive it. Threads: any may hold, copy and compare it.
class executor_ref {
  public:
    executor_ref() = default;
    explicit(false) executor_ref(executor& named) noexcept : named_(&named) {}

    [[nodiscard]] executor& operator*() const noexcept { return *named_; }
    [[nodiscard]] executor* operator->() const noexcept { return named_; }
    [[nodiscard]] explicit operator bool() const noexcept { return named_ != nullptr; }

    /// The workers of its runtime, in their order.
    [[nodiscard]] std::span<executor* const> workers() const noexcept { return named_->workers; }

    /// Whether the calling thread is this worker.
    [[nodiscard]] bool is_current() const noexcept { return named_ == current_executor(); }

    [[nodiscard]] friend bool operator==(executor_ref, executor_ref) = default;

  private:
    executor* named_ = nullptr;
};

} // namespace pitsaw::inline v0
