#include <pitsaw/sim/check_faults.hpp>

#include "sim/fault_driver.hpp"
#include "sim/harness.hpp"
#include "sim/world_parts.hpp"
#include "task/allocation_watch.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
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

/// One run: counts what could fail, and lets its one point fail.
class fault_harness final : worker_observer, allocation_watch {
  public:
    struct plan {
        world_options in;
        std::optional<fault_kind> kind; ///< none: undisturbed
        std::uint64_t nth = 0;
    };
    struct result {
        run_ending ending = run_ending::value;
        std::array<std::uint64_t, 3> counts{}; ///< by kind
        bool has_struck = false;
        std::string imbalance;
        std::string where;
    };

    fault_harness(plan const& what, check_faults_options const& options)
        : plan_(what), options_(options), world_(what.in) {
        loop().observer = this;
        auto& faults = io().faults;
        faults.on_failure = driver_struck;
        faults.context = this;
        if (plan_.kind == fault_kind::submission) faults.failing_call = plan_.nth;
        if (plan_.kind == fault_kind::operation) faults.failing_operation = plan_.nth;
    }

    [[nodiscard]] result run(run_body const& body) {
        words_.set(describe(plan_, result_));
        clear_books(options_.books);
        run_place place{.world = world_};
        begin_allocation_watch(*this);
        result_.ending = body(place);
        end_allocation_watch();
        result_.counts[static_cast<std::size_t>(fault_kind::allocation)] = allocations_;
        result_.counts[static_cast<std::size_t>(fault_kind::submission)] = io().faults.calls;
        result_.counts[static_cast<std::size_t>(fault_kind::operation)] = io().faults.operations;
        result_.imbalance = world_.imbalance();
        loop().observer = nullptr;
        return std::move(result_);
    }

    [[nodiscard]] static fault_report check(run_body const& body, check_faults_options const& options);

  private:
    [[nodiscard]] worker& loop() noexcept { return world_.parts_->own.rt.loop(); }
    [[nodiscard]] fault_driver& io() noexcept { return static_cast<fault_driver&>(*loop().io); }

    void allocating(std::size_t const bytes) override {
        if (++allocations_ != plan_.nth || plan_.kind != fault_kind::allocation) return;
        struck(std::to_string(bytes) + " bytes");
        throw std::bad_alloc();
    }

    static void driver_struck(void* const self, char const* const what) noexcept {
        static_cast<fault_harness*>(self)->struck(what);
    }

    void struck(std::string what) {
        result_.has_struck = true;
        result_.where = std::move(what) + ", at " + sites_of_the_running_task();
        words_.set(describe(plan_, result_));
    }

    void on_suspended(continuation&) noexcept override {}
    void on_completed(continuation&) noexcept override {}
    void before_delivery(std::uint64_t const turn) noexcept override {
        if (turn > options_.turns_max) end_the_process("goes on without an end");
    }
    void on_deadlock() noexcept override { end_the_process("never ends: every task waits"); }

    bool expects_lost_error() noexcept override { return result_.has_struck; }

    [[noreturn]] void end_the_process(char const* const what) noexcept {
        unwatched_allocations const own;
        std::fprintf(stderr, "check_faults: %s, %s\n", describe(plan_, result_).c_str(), what);
        words_.set(""); // it has been said
        std::abort();
    }

    [[nodiscard]] static std::string describe(plan const& of, result const& found) {
        auto text = of.in.is_calm ? std::string("calm world") : "seed " + std::to_string(of.in.seed);
        if (!of.kind.has_value()) return text + ", undisturbed";
        text += std::string(", ") + name_of_fault(*of.kind) + " " + std::to_string(of.nth);
        if (!found.where.empty()) text += " (" + found.where + ")";
        return text;
    }

    static result run_one(run_body const& body, check_faults_options const& options, plan const& what,
                          fault_report& report);

    plan plan_;
    check_faults_options const& options_;
    last_words words_{"check_faults"};
    world world_;
    std::uint64_t allocations_ = 0;
    result result_;
};

fault_harness::result fault_harness::run_one(run_body const& body, check_faults_options const& options,
                                             plan const& what, fault_report& report) {
    auto result = fault_harness(what, options).run(body);
    ++report.runs_;
    if (result.ending == run_ending::exception) ++report.thrown_runs_;
    auto wrong = result.imbalance;
    append_wrong(wrong, options.books);
    if (options.verify) append_wrong(wrong, options.verify(result.ending));
    if (result.ending == run_ending::stopped) append_wrong(wrong, "stopped by nobody");
    if (result.ending == run_ending::exception && !what.kind.has_value())
        append_wrong(wrong, "it throws though nothing fails");
    if (!wrong.empty()) report.failures_ += describe(what, result) + ": " + wrong + "\n";
    return result;
}

fault_report fault_harness::check(run_body const& body, check_faults_options const& options) {
    fault_report report;
    for (std::uint64_t nth = 0; nth <= options.seeds; ++nth) {
        world_options const in{
            .seed = options.first_seed + nth - 1, .is_calm = nth == 0, .pool_buffers = options.pool_buffers};
        // Twice, for what is made once in a process is there the second time.
        if (nth == 0) (void)run_one(body, options, {.in = in, .kind = std::nullopt}, report);
        auto const undisturbed = run_one(body, options, {.in = in, .kind = std::nullopt}, report);
        for (auto const kind : options.kinds) {
            auto& count = report.counts_[static_cast<std::size_t>(kind)];
            auto const points = undisturbed.counts[static_cast<std::size_t>(kind)];
            count.points = std::max(count.points, points);
            auto const stride =
                std::max<std::uint64_t>(1, (points + options.points_max - 1) / options.points_max);
            for (std::uint64_t point = 1; point <= points; point += stride) {
                auto const run = run_one(body, options, {.in = in, .kind = kind, .nth = point}, report);
                if (run.has_struck) ++count.struck;
            }
        }
    }
    if (!report) std::fprintf(stderr, "check_faults: %s", report.failures_.c_str());
    return report;
}

fault_report check_faults_with(run_body const& body, check_faults_options const& options) {
    return fault_harness::check(body, options);
}

} // namespace pitsaw::inline v0::sim
