#pragma once
#include <pitsaw/executor/blocking_pool.hpp>
#include <pitsaw/executor/environment.hpp>
#include <pitsaw/executor/stall.hpp>
#include <pitsaw/stop/inplace_stop_token.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

namespace pitsaw::inline v0 {

class crew;
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

/// What is done with a child that may run on any worker (docs/guide/workers.md).
enum class scheduling : std::uint8_t {
    per_core, ///< it stays where it was spawned: nothing moves that the source does not send
    stealing, ///< a worker that has nothing to do takes it
};

/// What a runtime is told at its start. All members have defaults; a class with a constructor, for GCC 12.2
/// destroys an aggregate like this twice beside a co_await.
struct runtime_options {
    runtime_options() {}

    static constexpr std::uint32_t workers_max = 1024;
    static constexpr std::uint32_t stealing_workers_max = 56; ///< one word says which of them sleep

    /// How many threads run tasks: the one that calls `sync_wait`, which is worker 0, and the runtime's own.
    /// From 1 to `workers_max`, with `scheduling::stealing` to `stealing_workers_max`, else the runtime's
    /// construction fails with `invalid_argument`.
    std::uint32_t workers = 1;
    pitsaw::scheduling scheduling = scheduling::per_core;
    /// Worker i runs on the processor `cpus[i % cpus.size()]` of the system's numbering, worker 0 while it is
    /// in `sync_wait`. Empty: where the system likes. Construction fails with the system's error.
    std::vector<std::uint32_t> cpus;
    /// What the system's tools call the runtime's own threads, followed by `-` and the worker's number: of 15
    /// bytes altogether, so it is cut where it is longer.
    std::string thread_name = "pitsaw";
    /// Called with the worker's number on each of the runtime's own threads, before it runs anything. What it
    /// throws is thrown by the construction, which waits for all of them.
    std::function<void(std::uint32_t worker)> on_thread_start;

    /// Receives exceptions that no coroutine can: a clean-up that failed, a loser's exception. The default
    /// writes a line to stderr, ten a second, and then how many more. Runs on the worker, so with several
    /// workers on several threads at a time; must not throw.
    std::function<void(std::exception_ptr)> on_lost_error;
    /// Receives one line for the operator. The default writes it to stderr. Runs as `on_lost_error`; must not
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
    /// checked error instead of a hang. Portals, foreign awaitables and other workers that have a child of
    /// this one still count as something that can.
    bool is_closed_world = false;
    /// The flight recorder, which `pitsaw record` and a failed check print.
    recorder_options recorder = {};
    /// Who looks for what holds the workers up. A runtime whose time is simulated has none.
    stall_options stall = {};
    /// The pool of threads that `blocking` uses. It has none before the first such await.
    blocking_options blocking = {};
};

/// Workers: of each a thread's loop with its driver, its timers and its ready queue.
///
/// ```cpp
/// ps::runtime rt;
/// ps::outcome<int> end = ps::sync_wait(rt, work());   // the loop runs here, until work() has ended
/// ```
/// With `runtime_options::workers` there are more: worker 0 is the thread that calls `sync_wait`, the others
/// are threads of the runtime, from its construction to its destruction (docs/guide/workers.md).
///
/// Lifetime: an object, no global. It must outlive whatever holds its executors. Destroying it ends its own
/// threads and waits for no work, for each `sync_wait` has: work that is left, or that runs it just then, is
/// a checked error that says what it is. Threads: it belongs to the thread of its first `sync_wait`; only
/// `request_stop` may come from others. Errors: std::bad_alloc or std::system_error from the constructor,
/// `invalid_argument` for options that cannot be, and what `on_thread_start` throws; then no thread is left.
/// Stopping: `request_stop` is final; later work is stopped at its first leaf. It enters at worker 0 and goes
/// down from there.
class runtime {
  public:
    explicit runtime(runtime_options options = {});

    /// With a driver of one's own: a simulated world, for one. It has one worker.
    explicit runtime(std::unique_ptr<driver> own, runtime_options options = {});

    /// With one for each worker: `make_driver(number)` is called on each worker's thread, and may throw.
    using driver_maker = std::function<std::unique_ptr<driver>(std::uint32_t worker)>;
    explicit runtime(driver_maker const& make_driver, runtime_options options = {});

    /// The same where no thread runs any of them: who made it drives each by `loop(number).step`, from one
    /// thread, as a simulated world does.
    struct by_steps {};
    runtime(by_steps, driver_maker const& make_driver, runtime_options options = {});

    runtime(runtime&&) = delete;
    ~runtime();

    /// Of worker 0, or another. A checked error if there is no such worker.
    [[nodiscard]] executor_ref get_executor(std::uint32_t number = 0) const noexcept;
    [[nodiscard]] std::uint32_t worker_count() const noexcept;

    /// Asks everything that runs here to stop. Callbacks registered at tokens run on the calling thread.
    /// Of two threads that ask at a time the second may return before the first's stop is to be seen.
    void request_stop(stop_reason why = stop_reason::shutdown) noexcept;

    /// Saves what the flight recorder of worker 0 holds in a new file that only this user may read, in the
    /// place of one that was there; no link is followed, no device written to. On worker 0 or between runs.
    /// Errors: the
    /// system's; `operation_not_supported` where nothing is recorded; none: it is saved.
    [[nodiscard]] std::error_code save_record(char const* path) const noexcept;

    /// A loop itself, for whoever drives or observes it from below: `sync_wait`, a simulated world.
    [[nodiscard]] worker& loop(std::uint32_t number = 0) const noexcept;

  private:
    std::unique_ptr<crew> crew_;
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
