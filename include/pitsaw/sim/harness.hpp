#pragma once
#include <pitsaw/sim/book.hpp>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace pitsaw::inline v0::sim {

/// What `check_stop` and `check_faults` are both told: the worlds to try, and how far each run may go.
///
/// ```cpp
/// ps::sim::check_stop_options options;
/// options.seeds = 6;
/// options.books = {&permits};
/// ```
/// Lifetime: the books' at least. Threads: one. Errors: `points_max` of 0 is a checked one. Stopping: none.
struct harness_options {
    harness_options() {} // no aggregate: GCC 12.2 destroys one like this twice beside a co_await

    /// Worlds to try: the calm one, and this many seeds from `first_seed` on.
    std::uint64_t seeds = 1;
    std::uint64_t first_seed = 1;
    /// Points of each kind to disturb; of a longer run, this many spread evenly. At least 1.
    std::uint64_t points_max = 2000;
    /// Turns of the loop after which a run counts as endless; of all machines together, ten times as many.
    std::uint64_t turns_max = 1'000'000;
    /// As `world_options::pool_buffers`, of each world.
    std::uint32_t pool_buffers = 256;
    /// The user's own counts: cleared before each run, and to be back at nothing after it.
    std::vector<book*> books;
};

/// What `check_stop` and `check_faults` both found: true if nothing, and a report.
///
/// ```cpp
/// auto const report = ps::sim::check_stop(body, options);
/// EXPECT_TRUE(report) << report;
/// ```
/// Lifetime: its own. Threads: one at a time. Errors, stopping: none.
class [[nodiscard]] harness_report {
  public:
    [[nodiscard]] explicit operator bool() const noexcept { return failures_.empty(); }

    /// How many runs were made.
    [[nodiscard]] std::uint64_t runs() const noexcept { return runs_; }
    /// One line for each failure: what was disturbed, where, and what was wrong afterwards.
    [[nodiscard]] std::string const& failures() const noexcept { return failures_; }
    /// Of the first failure: seed, commit, step and a command that runs it again. Empty if there is none.
    [[nodiscard]] std::string const& rerun() const noexcept { return rerun_; }

  protected:
    void print_failures(std::ostream& out) const {
        if (!failures_.empty()) out << '\n' << failures_ << rerun_ << '\n';
    }

  private:
    friend class harness_run;
    std::uint64_t runs_ = 0;
    std::string failures_;
    std::string rerun_;
};

} // namespace pitsaw::inline v0::sim
