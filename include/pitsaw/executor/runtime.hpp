#pragma once
#include <pitsaw/executor/blocking_pool.hpp>
#include <pitsaw/executor/environment.hpp>
#include <pitsaw/stop/inplace_stop_token.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace pitsaw::inline v0 {

class driver;
class worker;
struct boundary;

/// How much a worker writes down of what happens to it (docs/guide/recorder.md).
struct recorder_options {
    /// The last so many events of the driver, endings, stops and turns in which timers fired are kept, of 32
    /// bytes each, in memory that is touched as it fills: rounded up to a power of two. Where time is
    /// virtual and no inputs are held, at most 128. 0: nothing is recorded at all.
    std::uint32_t records = 4096;
    /// Up to so many bytes of all that the driver is asked and answers, received bytes included, so that
    /// `sim::replay` can execute the program again. From the start on: what comes when it is full is not
    /// kept. With the records it is at most 1 GiB.
    std::size_t input_bytes = 0;
};
static_assert(std::is_trivially_copyable_v<recorder_options>);

/// What a runtime is told at its start. All members have defaults; a class with a constructor, for GCC 12.2
/// destroys an aggregate like this twice beside a co_await.
struct runtime_options {
    runtime_options() {}

    /// Receives exceptions that no coroutine can: a clean-up that failed, a loser's exception. The default
    /// writes a line to stderr, ten a second, and then how many more. Runs on the worker; must not throw.
    std::function<void(std::exception_ptr)> on_lost_error;
    /// Receives one line for the operator. The default writes it to stderr. Runs on the worker; must not
    /// throw.
    std::function<void(std::string_view)> on_log;
    /// The pool of received bytes: this many buffers of this many bytes, made by the first pooled receive.
    /// Its memory is touched as far as that many receives have data at the same time. At most
    /// 32,768. None: every such receive takes a buffer from the heap.
    std::uint32_t pool_buffers = 1024;
    std::uint32_t pool_buffer_bytes = 4096;
    /// The root environment's task-local pointer.
    void* local = nullptr;
    /// No thread outside will ever wake this runtime or stop it: a wait that nothing can end is then a
    /// checked error instead of a hang. Portals and foreign awaitables still count as something that can.
    bool is_closed_world = false;
    /// The flight recorder, which `pitsaw record` and a failed check print.
    recorder_options recorder = {};
    /// The pool of threads that `blocking` uses. It has none before the first such await.
    blocking_options blocking = {};
};

/// One worker: a thread's loop with its driver, its timers and its ready queue.
///
/// ```cpp
/// ps::runtime rt;
/// ps::outcome<int> end = ps::sync_wait(rt, work());   // the loop runs here, until work() has ended
/// ```
/// Lifetime: an object, no global. It must outlive whatever holds its executor. Destroying it joins nothing,
/// for each `sync_wait` has: work that is left, or that runs it just then, is a checked error. Threads: it
/// belongs to the thread of its first `sync_wait`; only `request_stop` may come from others. Errors:
/// std::bad_alloc or std::system_error from the constructor. Stopping: `request_stop` is final; later work is
/// stopped at its first leaf.
class runtime {
  public:
    explicit runtime(runtime_options options = {});

    /// With a driver of one's own: a simulated world, for one.
    explicit runtime(std::unique_ptr<driver> own, runtime_options options = {});

    runtime(runtime&&) = delete;
    ~runtime();

    [[nodiscard]] executor_ref get_executor() const noexcept;

    /// Asks everything that runs here to stop. Callbacks registered at tokens run on the calling thread.
    /// Of two threads that ask at a time the second may return before the first's stop is to be seen.
    void request_stop(stop_reason why = stop_reason::shutdown) noexcept;

    /// Saves what the flight recorder holds in a new file that only this user may read, in the place of one
    /// that was there; no link is followed, no device written to. On the worker or between runs. Errors: the
    /// system's; `operation_not_supported` where nothing is recorded; none: it is saved.
    [[nodiscard]] std::error_code save_record(char const* path) const noexcept;

    /// The loop itself, for whoever drives or observes it from below: `sync_wait`, a simulated world.
    [[nodiscard]] worker& loop() const noexcept { return *worker_; }

  private:
    blocking_pool blocking_;
    std::unique_ptr<worker> worker_;
};

/// Runs one chain on `on` until it has ended: what `sync_wait` is made of.
///
/// Lifetime: on the waiting thread's stack.
class root_run {
  public:
    explicit root_run(runtime& on);
    root_run(root_run&&) = delete;
    ~root_run();

    [[nodiscard]] environment const& env() const noexcept { return env_; }

    /// Runs the loop until `is_done`. `edge` is where a stop of the runtime enters.
    void drive(boundary& edge, bool const& is_done) noexcept;

  private:
    worker& worker_;
    environment env_;
};

} // namespace pitsaw::inline v0
