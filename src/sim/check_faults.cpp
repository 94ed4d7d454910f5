#include <pitsaw/sim/check_faults.hpp>

#include "sim/fault_driver.hpp"
#include "sim/harness.hpp"
#include "task/allocation_watch.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace pitsaw::inline v0::sim {

namespace {

char const* name_of_fault(fault_kind const kind) noexcept {
    switch (kind) {
    case fault_kind::allocation:
        return "allocation";
    case fault_kind::submission:
        return "submission";
    case fault_kind::operation:
        return "operation";
    }
    std::unreachable();
}

} // namespace

// Not in the header: GCC 12.2 sees an uninitialized array where it inlines this.
check_faults_options::check_faults_options() {}

/// One run: counts what could fail, and lets its one point fail.
class fault_harness final : harness_run, allocation_watch {
  public:
    struct plan {
        world_options in;
        std::optional<fault_kind> kind; ///< none: undisturbed
        std::uint64_t nth = 0;
    };
    struct result {
        std::array<std::uint64_t, 3> counts{}; ///< by kind
        bool has_struck = false;
    };

    fault_harness(plan const& what, check_faults_options const& options)
        : harness_run(name, what.in, options), plan_(what) {
        auto& faults = own().front().faults;
        faults.on_failure = driver_struck;
        faults.context = this;
        if (plan_.kind == fault_kind::submission) faults.failing_call = plan_.nth;
        if (plan_.kind == fault_kind::operation) faults.failing_operation = plan_.nth;
    }

    [[nodiscard]] static fault_report check(run_body const& body, check_faults_options const& options);

  private:
    static constexpr char const* name = "check_faults";

    [[nodiscard]] remains run(run_body const& body) {
        remains left;
        begin_allocation_watch(*this);
        left.ending = run_to_the_end(body);
        end_allocation_watch();
        count_of(fault_kind::allocation) = allocations_;
        count_of(fault_kind::submission) = own().front().faults.calls;
        count_of(fault_kind::operation) = own().front().faults.operations;
        left.wrong = wrong(result_.has_struck);
        append_wrong(left.wrong, lost_);
        left.described = describe();
        left.seed = world_.seed();
        left.steps = world_.steps();
        return left;
    }

    [[nodiscard]] std::uint64_t& count_of(fault_kind const kind) noexcept {
        return result_.counts[static_cast<std::size_t>(kind)];
    }

    void allocating(std::size_t const bytes) override {
        if (++allocations_ != plan_.nth || plan_.kind != fault_kind::allocation) return;
        struck(std::to_string(bytes) + " bytes", std::errc::not_enough_memory);
        throw std::bad_alloc();
    }

    static void driver_struck(void* const self, char const* const what, std::errc const with) noexcept {
        static_cast<fault_harness*>(self)->struck(what, with);
    }

    void struck(std::string what, std::errc const with) {
        result_.has_struck = true;
        injected_ = with;
        where_ = std::move(what) + ", at " + sites_of_the_running_task();
        know_more();
    }

    /// Of a fault its own error alone is expected; what else is lost would be lost by a program's user too.
    bool expects_lost_error(std::exception_ptr const& error) noexcept override {
        unwatched_allocations const own;
        if (!is_the_fault(error)) append_wrong(lost_, "lost error: " + sim::describe(error));
        return true;
    }
    [[nodiscard]] bool is_the_fault(std::exception_ptr const& error) const noexcept {
        if (!result_.has_struck) return false;
        try {
            std::rethrow_exception(error);
        } catch (std::bad_alloc const&) {
            return true;
        } catch (std::system_error const& what) {
            return what.code() == injected_;
        } catch (...) {
            return false;
        }
    }

    [[nodiscard]] std::string describe() const override {
        if (!plan_.kind.has_value()) return describe_world() + ", undisturbed";
        auto text = describe_world() + ", " + name_of_fault(*plan_.kind) + " " + std::to_string(plan_.nth);
        if (!where_.empty()) text += " (" + where_ + ")";
        return text;
    }

    static result run_one(run_body const& body, check_faults_options const& options, plan const& what,
                          fault_report& report);

    plan plan_;
    result result_;
    std::uint64_t allocations_ = 0;
    std::errc injected_{};
    std::string where_;
    std::string lost_; ///< errors that nobody could receive
};

fault_harness::result fault_harness::run_one(run_body const& body, check_faults_options const& options,
                                             plan const& what, fault_report& report) {
    remains left;
    result found;
    {
        fault_harness one(what, options);
        left = one.run(body);
        found = one.result_;
    }
    if (left.ending == run_ending::exception) ++report.thrown_runs_;
    if (options.verify) append_wrong(left.wrong, options.verify(left.ending));
    if (left.ending == run_ending::stopped) append_wrong(left.wrong, "stopped by nobody");
    if (left.ending == run_ending::exception && !what.kind.has_value())
        append_wrong(left.wrong, "it throws though nothing fails");
    write(report, left);
    return found;
}

fault_report fault_harness::check(run_body const& body, check_faults_options const& options) {
    fault_report report;
    for (auto const& in : worlds(options)) {
        auto const run = [&](std::optional<fault_kind> const kind, std::uint64_t const nth = 0) {
            return run_one(body, options, {.in = in, .kind = kind, .nth = nth}, report);
        };
        // Twice, for what is made once in a process is there the second time.
        if (in.is_calm) (void)run(std::nullopt);
        auto const undisturbed = run(std::nullopt);
        for (auto const kind : options.kinds) {
            auto& count = report.counts_[static_cast<std::size_t>(kind)];
            auto const points = undisturbed.counts[static_cast<std::size_t>(kind)];
            count.points = std::max(count.points, points);
            at_points(points, options, [&](std::uint64_t const point) {
                if (run(kind, point).has_struck) ++count.struck;
            });
        }
    }
    print(name, report);
    return report;
}

fault_report check_faults_with(run_body const& body, check_faults_options const& options) {
    return fault_harness::check(body, options);
}

} // namespace pitsaw::inline v0::sim
