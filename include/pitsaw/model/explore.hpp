#pragma once
#include <pitsaw/model/atomic.hpp>
#include <pitsaw/model/mutex.hpp>
#include <pitsaw/model/thread.hpp>
#include <pitsaw/model/var.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>

namespace pitsaw::inline v0::model {

/// How far `explore` goes.
struct options {
    static constexpr std::uint32_t unbounded = UINT32_MAX;

    /// How often a thread that could go on may be interrupted in one run. Unbounded: every behaviour is seen,
    /// and of interleavings that cannot be told apart one only. A bound: every interleaving within it, and
    /// each for itself; for what is too large otherwise.
    std::uint32_t preemptions_max = unbounded;
    std::uint64_t executions_max = 5'000'000; ///< then it ends, with `is_complete` false
    std::uint32_t steps_max = 2'000;          ///< of one run; more are an endless loop, a failure
    std::uint32_t spurious_failures_max = 1;  ///< of compare_exchange_weak, in one run
    bool reduces =
        true; ///< false: every interleaving for itself, also without a bound (to check the checker)
    std::string replay = {}; ///< runs only this, the `replay` of an earlier report
    /// Says with which order an access of this order at this place is to run instead: does the test notice
    /// when a release becomes relaxed? Empty: as written.
    std::function<std::memory_order(std::memory_order written, std::source_location where)> weaken = {};
};

/// What `explore` has found.
struct report {
    std::string failure; ///< what went wrong, one line; empty: nothing
    std::string trace;   ///< of the failed run: each step with its thread, operation, order, value and source
    std::string replay;  ///< `options::replay` for exactly that run
    std::uint64_t executions = 0; ///< how many runs, the redundant ones included
    std::uint64_t redundant = 0;  ///< of these, begun before it was known that they equal earlier ones
    std::uint64_t steps = 0;      ///< of all runs
    bool is_complete = false;     ///< every behaviour (within the bound) was seen; false after a failure
    double seconds = 0;

    [[nodiscard]] auto has_failed() const noexcept -> bool { return !failure.empty(); }
};

/// Runs `body` in every way in which its threads may interleave and its loads may read, until one fails.
///
/// ```cpp
/// auto const found = model::explore([] {
///     model::atomic<int> flag = 0;
///     model::var<int> data = 0;
///     model::thread writer([&] { data = 1; flag.store(1, std::memory_order_relaxed); });
///     if (flag.load(std::memory_order_acquire) == 1) model::require(data == 1, "the data is there");
/// });
/// // found.failure: "data race ..."; found.trace says how, found.replay repeats it
/// ```
/// A failure is: a requirement that does not hold, a data race on a `var`, a deadlock or lost wake-up, a loop
/// without an end, the use of an object before its construction happened or after its destruction, an
/// exception.
///
/// The memory: per object an order of its stores, from which a load takes any that coherence and what happens
/// before it allow; release sequences, fences, and the order of sequentially consistent operations are
/// C++20's. Not modelled: out-of-thin-air values and load buffering (a load never reads a store that has not
/// been executed); docs/design/0015-model-checker.md says more.
///
/// `body` is deterministic: without time, randomness, or addresses that decide. It is run from the start each
/// time, so what it leaves behind in captured variables adds up.
///
/// Lifetime: returns when all is done. What the threads of a failed run own is not destroyed. Threads: the
/// calling one; others of the system may explore meanwhile, but not from within `body`. Errors: those that it
/// reports.
[[nodiscard]] auto explore(options const& how, std::function<void()> const& body) -> report;
[[nodiscard]] auto explore(std::function<void()> const& body) -> report;

/// Within a body: what has to hold in every run. Outside: ends the process if it does not.
void require(bool holds, char const* what,
             std::source_location where = std::source_location::current()) noexcept;

/// Within a body: this run has failed. For the handlers of a library's own checks.
[[noreturn]] void fail(char const* what,
                       std::source_location where = std::source_location::current()) noexcept;

/// What the trace calls the object at this address. `text` lives as long as the exploration.
void name(void const* object, char const* text) noexcept;

} // namespace pitsaw::inline v0::model
