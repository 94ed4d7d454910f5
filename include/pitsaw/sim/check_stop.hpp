#pragma once
#include <pitsaw/sim/book.hpp>
#include <pitsaw/sim/run_body.hpp>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace pitsaw::inline v0::sim {

/// What `check_stop` found: true if nothing, and a report.
class [[nodiscard]] stop_report {
  public:
    [[nodiscard]] explicit operator bool() const noexcept { return failures_.empty(); }

    /// How many suspensions the undisturbed run has.
    [[nodiscard]] std::uint64_t points() const noexcept { return points_; }
    /// How many runs were made.
    [[nodiscard]] std::uint64_t runs() const noexcept { return runs_; }
    /// How many of them ended with a stop.
    [[nodiscard]] std::uint64_t stopped_runs() const noexcept { return stopped_runs_; }
    /// One line for each failure: where the stop came, how, and what was wrong.
    [[nodiscard]] std::string const& failures() const noexcept { return failures_; }

    friend std::ostream& operator<<(std::ostream& out, stop_report const& report) {
        return out << report.runs_ << " runs over " << report.points_ << " suspensions, "
                   << report.stopped_runs_ << " stopped" << (report.failures_.empty() ? "" : "\n")
                   << report.failures_;
    }

  private:
    friend class stop_harness;
    std::uint64_t points_ = 0;
    std::uint64_t runs_ = 0;
    std::uint64_t stopped_runs_ = 0;
    std::string failures_;
};

/// What a harness asks to stop.
enum class stop_target : std::uint8_t {
    runtime, ///< everything, as a shutdown does
    group,   ///< a task group around the body, as a sibling's failure does; the runtime goes on
};

struct check_stop_options {
    check_stop_options() {} // no aggregate: GCC 12.2 destroys one like this twice beside a co_await

    /// Worlds to try: the calm one, and this many seeds from `first_seed` on.
    std::uint64_t seeds = 2;
    std::uint64_t first_seed = 1;
    /// Suspensions to stop at; of a longer run, this many spread evenly.
    std::uint64_t points_max = 2000;
    /// Turns of the loop after which a run counts as endless.
    std::uint64_t turns_max = 1'000'000;
    /// As `world_options::pool_buffers`, of each world.
    std::uint32_t pool_buffers = 256;
    /// What is asked to stop.
    stop_target target = stop_target::runtime;
    /// The user's own counts: cleared before each run, and to be back at nothing after it.
    std::vector<book*> books;
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
/// After each run the books of the world (`world::imbalance`) and `options.books` must balance, and
/// `options.verify` may say more. The report names the await at which the stop came and those of its callers.
/// A run that never ends is named and ends the process; so is one that is aborted.
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
