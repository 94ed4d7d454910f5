#pragma once
#include <pitsaw/sim/harness.hpp>
#include <pitsaw/sim/run_body.hpp>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

namespace pitsaw::inline v0::sim {

/// What `check_stop` found: true if nothing, and a report.
///
/// ```cpp
/// auto const report = ps::sim::check_stop(body, options);
/// EXPECT_TRUE(report) << report;
/// EXPECT_GT(report.stopped_runs(), 0u); // a stop had a chance
/// ```
/// Lifetime: its own. Threads: one at a time. Errors, stopping: none.
class [[nodiscard]] stop_report : public harness_report {
  public:
    /// How many suspensions the undisturbed run has.
    [[nodiscard]] std::uint64_t points() const noexcept { return points_; }
    /// How many runs ended with a stop.
    [[nodiscard]] std::uint64_t stopped_runs() const noexcept { return stopped_runs_; }

    friend std::ostream& operator<<(std::ostream& out, stop_report const& report) {
        out << report.runs() << " runs over " << report.points_ << " suspensions, " << report.stopped_runs_
            << " stopped";
        report.print_failures(out);
        return out;
    }

  private:
    friend class stop_harness;
    std::uint64_t points_ = 0;
    std::uint64_t stopped_runs_ = 0;
};

/// What a harness asks to stop.
enum class stop_target : std::uint8_t {
    runtime, ///< everything, as a shutdown does
    group,   ///< a task group around the body, as a sibling's failure does; the runtime goes on
};

/// How `check_stop` does it.
///
/// ```cpp
/// ps::sim::check_stop_options options;
/// options.target = ps::sim::stop_target::group;
/// ```
/// Lifetime, Threads, Errors, Stopping: those of `harness_options`; `verify` is called between runs, and what
/// it throws is the caller's.
struct check_stop_options : harness_options {
    check_stop_options() { seeds = 2; }

    /// What is asked to stop.
    stop_target target = stop_target::runtime;
    /// Called after each run, with whether it was stopped: what is wrong with the user's own books, or "".
    std::function<std::string(bool is_stopped)> verify;
};

[[nodiscard]] stop_report check_stop_with(run_body const& body, check_stop_options const& options);

/// Stops `body()` at every await, in every way, and checks the books after each run.
///
/// The body runs once undisturbed, to count its suspensions. Then for each of them it runs with a stop that
/// wins (it comes before the result), with one that is too late for the driver (the operation completes in
/// spite of the cancel), with a completion that wins (the stop comes when the result is there and the
/// coroutine has not gone on), and with both in the same turn of the loop; and once with a stop before it
/// begins. The stop is asked of the runtime, or of a group around the body, and reaches every scope within.
///
/// After each run nothing may be left over in the world (`world::leftovers`), `options.books` must balance,
/// and `options.verify` may say more. The report names the await at which the stop came and those of its
/// callers. A run that never ends is named and ends the process; so is one that is aborted.
///
/// The body runs on the world's own machine, and may make nodes. The suspensions are those of that machine
/// alone, and it alone is stopped. Behind the body each run goes on as `world::run` does, until its nodes
/// have ended and its services were asked to. A node whose program fails is a failure of the undisturbed
/// run; in the others it is an ending, for its peer may have gone.
///
/// ```cpp
/// EXPECT_TRUE(ps::sim::check_stop([&] { return transfer(account_a, account_b, 10); }));
/// EXPECT_TRUE(ps::sim::check_stop([](ps::sim::world& w) { return talk(w.make_stream_pair()); }));
/// ```
/// `body` returns a fresh task each time; it may take the world. The report goes to stderr too if it fails.
template <class F> [[nodiscard]] stop_report check_stop(F&& body, check_stop_options const& options = {}) {
    return check_stop_with(make_run_body(body), options);
}

} // namespace pitsaw::inline v0::sim
