#pragma once
#include "loop/worker.hpp"
#include "sim/process.hpp"
#include "sim/report_words.hpp"

#include <pitsaw/sim/harness.hpp>
#include <pitsaw/sim/run_body.hpp>
#include <pitsaw/sim/world.hpp>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

namespace pitsaw::inline v0::sim {

/// Says what was being done if the process is aborted meanwhile: a failed check, an exception that nobody
/// catches.
///
/// Lifetime: on the stack of what it speaks of. Threads: one in the process; an abort on another thread says
/// it too.
class last_words {
  public:
    explicit last_words(char const* harness);
    last_words(last_words&&) = delete;
    ~last_words();

    /// Set whenever more is known; at hand when there is no memory any more. Empty: nothing is to be said.
    void set(std::string what);

  private:
    static void aborting(int);

    using handler = void (*)(int);
    handler before_;
    last_words* outer_;
    std::string text_;
    char const* harness_;
};

/// One run of a body in a world of its own: what `check_stop` and `check_faults` have in common.
///
/// Lifetime: the run's. Threads: the world's.
class harness_run : protected worker_observer {
  public:
    harness_run(harness_run&&) = delete;

  protected:
    harness_run(char const* name, world_options const& in, harness_options const& options);
    ~harness_run() override;

    /// What is disturbed in this run and where, for the reports.
    [[nodiscard]] virtual std::string describe() const = 0;
    /// The world that it is in, to begin that with.
    [[nodiscard]] std::string describe_world() const;

    [[nodiscard]] process& own() noexcept;
    [[nodiscard]] worker& loop() noexcept { return own().rt.loop(); }
    /// `describe()` says more than it did.
    void know_more();

    /// The body, and then the nodes that it has made, to their end.
    [[nodiscard]] run_ending run_to_the_end(run_body const& body);
    /// What is wrong after that. In a run in which something was disturbed, programs of nodes may fail.
    [[nodiscard]] std::string wrong(bool is_disturbed) const;

    void before_delivery(std::uint64_t turn) noexcept override;
    void on_deadlock() noexcept override;
    void on_suspended(continuation&) noexcept override {}
    void on_completed(continuation&) noexcept override {}

    /// What a run leaves to its report when its world is gone.
    struct remains {
        run_ending ending = run_ending::value;
        std::string wrong;
        std::string described;
        std::uint64_t seed = 0;
        std::uint64_t steps = 0;
    };
    /// Counts the run, and writes down whatever is wrong with it.
    static void write(harness_report& report, remains const& of);
    static void print(char const* name, harness_report const& report);

    /// The worlds to try.
    [[nodiscard]] static std::vector<world_options> worlds(harness_options const& options);
    /// Calls `disturb` with each of the `points` that are to be disturbed.
    template <class F>
    static void at_points(std::uint64_t const points, harness_options const& options, F const& disturb) {
        auto const stride = points / options.points_max + (points % options.points_max == 0 ? 0 : 1);
        for (std::uint64_t point = 1; point <= points; point += std::max<std::uint64_t>(1, stride))
            disturb(point);
    }

  private:
    [[noreturn]] void end_the_process(char const* what) noexcept;

    char const* const name_;
    bool const is_calm_;
    harness_options const& options_;
    last_words words_;

  protected:
    sim::world world_;
    detail::run_place place_;
};

} // namespace pitsaw::inline v0::sim
