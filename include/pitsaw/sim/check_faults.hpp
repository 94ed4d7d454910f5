#pragma once
#include <pitsaw/sim/harness.hpp>
#include <pitsaw/sim/run_body.hpp>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace pitsaw::inline v0::sim {

/// What can fail under a program that does nothing wrong.
enum class fault_kind : std::uint8_t {
    /// std::bad_alloc: of a coroutine frame, of a node of a scope, and of any `operator new` of the body's
    /// thread where the program links `pitsaw::sim_allocations`.
    allocation,
    /// The driver lacks something: an attempt or a submission ends with `not_enough_memory`, a new socket
    /// with `too_many_files_open`, a buffer pool is refused.
    submission,
    /// An operation is broken by the world a little later: `connection_reset` for receive, send and watch,
    /// `connection_refused` for connect, `too_many_files_open` for accept, `not_connected` for shutdown. The
    /// connection is reset for its peer too. What closes does not fail.
    operation,
};

/// What `check_faults` found: true if nothing, and a report.
///
/// ```cpp
/// auto const report = ps::sim::check_faults(body, options);
/// EXPECT_TRUE(report) << report;
/// EXPECT_GT(report.struck(ps::sim::fault_kind::operation), 0u); // there was one that could fail
/// ```
/// Lifetime: its own. Threads: one at a time. Errors, stopping: none.
class [[nodiscard]] fault_report : public harness_report {
  public:
    /// How many of a kind the undisturbed run has.
    [[nodiscard]] std::uint64_t points(fault_kind of) const noexcept { return of_(of).points; }
    /// How many runs there were in which one of them failed.
    [[nodiscard]] std::uint64_t struck(fault_kind of) const noexcept { return of_(of).struck; }
    /// How many runs ended with an exception.
    [[nodiscard]] std::uint64_t thrown_runs() const noexcept { return thrown_runs_; }

    friend std::ostream& operator<<(std::ostream& out, fault_report const& report) {
        out << report.runs() << " runs over " << report.points(fault_kind::allocation) << " allocations, "
            << report.points(fault_kind::submission) << " submissions and "
            << report.points(fault_kind::operation) << " operations, " << report.thrown_runs_ << " thrown";
        report.print_failures(out);
        return out;
    }

  private:
    friend class fault_harness;
    struct count {
        std::uint64_t points = 0;
        std::uint64_t struck = 0;
    };
    [[nodiscard]] count const& of_(fault_kind kind) const noexcept {
        return counts_[static_cast<std::size_t>(kind)];
    }

    count counts_[3];
    std::uint64_t thrown_runs_ = 0;
};

/// How `check_faults` does it.
///
/// ```cpp
/// ps::sim::check_faults_options options;
/// options.kinds = {ps::sim::fault_kind::allocation};
/// ```
/// Lifetime, Threads, Errors, Stopping: those of `harness_options`; `verify` is called between runs, and what
/// it throws is the caller's.
struct check_faults_options : harness_options {
    check_faults_options(); // no aggregate: GCC 12.2 destroys one like this twice beside a co_await

    /// What is to fail.
    std::vector<fault_kind> kinds = {fault_kind::allocation, fault_kind::submission, fault_kind::operation};
    /// Called after each run: what is wrong with the user's own books, or "".
    std::function<std::string(run_ending)> verify;
};

[[nodiscard]] fault_report check_faults_with(run_body const& body, check_faults_options const& options);

/// Lets the nth allocation, submission and operation under `body()` fail, for each n, and checks the books
/// after each run.
///
/// The body runs undisturbed first, to count them. Then it runs once for each, and that one fails; see
/// `fault_kind` for how. A run may end with a value, an error or an exception, but nothing may be left over
/// in the world (`world::leftovers`), `options.books` must balance, and `options.verify` may say more. An
/// exception that nobody can receive (`runtime_options::on_lost_error`) is a failure too, unless it is the
/// fault: `std::bad_alloc`, or a `std::system_error` with the injected code. The report names the kind, n,
/// and the awaits under which it failed: of an allocation, the last await of the task that allocates and
/// those of its callers. A run that never ends, or that is aborted, is named and ends the process.
///
/// The body runs on the world's own machine, and may make nodes. Of the allocations the nodes' are counted
/// too, of the submissions, the operations and the lost errors those of the world's own machine alone.
/// Behind the body each run goes on as `world::run` does, until its nodes have ended and its services were
/// asked to. A node whose program fails is a failure of a run in which nothing was made to fail; else it is
/// an ending.
///
/// ```cpp
/// EXPECT_TRUE(ps::sim::check_faults([&] { return transfer(account_a, account_b, 10); }));
/// EXPECT_TRUE(ps::sim::check_faults([](ps::sim::world& w) { return talk(w.make_stream_pair()); }));
/// ```
/// `body` returns a fresh task each time; it may take the world. The report goes to stderr too if it fails.
/// Other threads' allocations are neither counted nor refused, and neither are the simulator's.
template <class F>
[[nodiscard]] fault_report check_faults(F&& body, check_faults_options const& options = {}) {
    return check_faults_with(make_run_body(body), options);
}

} // namespace pitsaw::inline v0::sim
