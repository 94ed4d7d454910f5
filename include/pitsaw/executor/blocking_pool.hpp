#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/base/intrusive_list.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>

namespace pitsaw::inline v0 {

/// Sizes of a `blocking_pool`.
struct blocking_options {
    blocking_options() {}

    /// So many jobs run at a time. At least 1.
    std::uint32_t threads_max = 64;
    /// So many jobs more are taken in, to begin when a thread is free. At least 1.
    std::uint32_t waiting_max = 1024;
    /// What happens to who comes when `waiting_max` jobs wait. False: it waits behind them to be taken in,
    /// first come, first served. True: it gets `resource_unavailable_try_again`, which a server can answer.
    bool refuses_when_full = false;
    /// A thread without a job leaves after so long.
    duration idle_time = std::chrono::seconds(10);
    /// Of each thread's stack; 0: what the system gives. It is touched only as far as it is used.
    std::size_t stack_bytes = 0;
    /// What the system's tools call the threads: the first 15 bytes.
    std::string thread_name = "pitsaw-blocking";
    /// Where time is virtual, a job begins so long after it was awaited, and takes no time.
    duration simulated_time = std::chrono::microseconds(20);
};

/// A call that waits for a thread of a `blocking_pool`: what `blocking` makes of a function.
///
/// Lifetime: the caller's; from `submit` on it belongs to the pool, until `ended` is called or `withdraw`
/// gives it back. Threads: `run` and `ended` are called once at most, by the same thread unless it never
/// runs.
struct blocking_job : intrusive_list_node {
    using runner = void (*)(blocking_job&) noexcept;
    /// The pool's last use of the job. With an error, it was not run.
    using ending_call = void (*)(blocking_job&, std::error_code refused) noexcept;

    blocking_job(runner runs, ending_call ends) noexcept : run(runs), ended(ends) {}

    runner run;        ///< set once
    ending_call ended; ///< set once
};

/// Threads for calls that block: files, name look-ups, libraries that know nothing of coroutines, and
/// whatever computes for longer than a worker may be held up.
///
/// ```cpp
/// ps::blocking_options few;
/// few.threads_max = 4;
/// ps::blocking_pool disk(few);
/// auto digest = co_await ps::blocking(disk, [&] { return digest_of(path); });
/// ```
/// Each runtime has one already (`runtime_options::blocking`), which `blocking` uses where none is named. A
/// pool of one's own keeps jobs of one kind from taking all threads from another kind's.
///
/// Threads are made when a job finds none free, and leave when they have had nothing to do for a while.
/// They block every signal, as do the programs that a job starts unless it says otherwise, and run where
/// the thread that made the pool could run then, whatever worker starts them.
///
/// Lifetime: it outlives the awaits that use it, of whichever runtime; a job that is left when it is
/// destroyed is a checked error. The destructor waits for the threads, which are idle by then. Threads:
/// any. Errors: if the system has no thread for a job, it waits for those that there are; if there are
/// none, every job that waits gets the system's error (`resource_unavailable_try_again`, mostly). The
/// constructor throws std::bad_alloc, and std::system_error with `invalid_argument` where a bound is 0.
/// Memory: jobs wait in their awaiters' frames; a thread needs its stack, and the pool some 1.5 KB.
class blocking_pool {
  public:
    explicit blocking_pool(blocking_options options = {});
    blocking_pool(blocking_pool&&) = delete;
    ~blocking_pool();

    /// How things stand. By the time it is read it may have changed.
    struct load {
        std::uint32_t threads = 0;
        std::uint32_t running = 0; ///< jobs that a thread has begun
        std::size_t waiting = 0;   ///< jobs that were taken in
        std::size_t outside = 0;   ///< jobs that wait to be taken in
    };
    [[nodiscard]] load get_load() const noexcept;

    [[nodiscard]] blocking_options const& options() const noexcept;

    // What `blocking` does with a job.

    /// Hands it to a thread, now or later; its `ended` may be called from within.
    void submit(blocking_job& job) noexcept;

    /// True: no thread has begun it, and none will. False: its `ended` comes.
    [[nodiscard]] bool withdraw(blocking_job& job) noexcept;

  private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

} // namespace pitsaw::inline v0
