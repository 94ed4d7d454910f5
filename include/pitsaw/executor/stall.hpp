#pragma once
#include <pitsaw/base/clock.hpp>

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

namespace pitsaw::inline v0 {

/// A worker was held up: one resume of a coroutine ran for longer than the threshold, and nothing else on
/// that worker went on meanwhile.
///
/// ```cpp
/// options.stall.on_stall = [](ps::stall_report const& what) { metrics.add(what.count, what.text()); };
/// ```
/// Lifetime: of the call; copy what is kept. Threads: the watchdog's. Errors: std::bad_alloc.
struct stall_report {
    std::uint32_t worker = 0;  ///< its number in the runtime
    duration length{};         ///< so far: it still runs
    bool is_computing = false; ///< it uses the processor; else it waits for the system, in a call that blocks
    /// How many stalls began behind the same await, this one included.
    std::uint64_t count = 0;
    /// What `with_name` calls the task that runs, cut to 64 bytes; empty where nobody did.
    std::string task;
    /// The awaits of the task that runs, innermost first. What holds the worker up stands behind the first.
    /// Empty where no task was running, and where the thread did not answer.
    std::vector<std::source_location> async_stack;
    /// What the thread was executing, innermost first, as backtrace_symbols(3) writes it: addresses, with
    /// names where the program exports them. `addr2line -Cfe program address` gives the lines.
    std::vector<std::string> native_stack;

    /// All of it, in lines.
    [[nodiscard]] std::string text() const;
};

/// How a runtime looks for what holds its workers up (docs/guide/stalls.md).
///
/// ```cpp
/// ps::runtime_options options;
/// options.stall.threshold = 10ms;
/// ```
/// Lifetime, threads: those of the runtime that has them.
struct stall_options {
    stall_options() {}

    static constexpr duration threshold_min = std::chrono::microseconds(100);

    /// A resume that runs longer is a stall. Zero: nobody looks, and a resume costs one comparison more. At
    /// least `threshold_min`, else the runtime's construction fails with `invalid_argument`. The environment
    /// variable PITSAW_STALL_MS, a number of milliseconds, takes its place where this is zero.
    duration threshold{};
    /// Whether the stalled thread is interrupted by a signal, SIGRTMIN + 7, for its stacks: a call of the
    /// system that it is in may then fail with EINTR. Where the program handles that signal itself it is not
    /// sent.
    bool has_stacks = true;
    /// Hears of each stall once. The default writes `text()` to stderr, of one await once a second. Runs on
    /// the watchdog's thread; must not throw.
    std::function<void(stall_report const&)> on_stall;
};

} // namespace pitsaw::inline v0
