#include <pitsaw/sim/check_stop.hpp>

#include "sim/harness.hpp"
#include "sim/world_parts.hpp"

#include <pitsaw/base/check.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

namespace pitsaw::inline v0::sim {

namespace {

/// Which of the two comes first at the chosen suspension.
enum class winner : std::uint8_t { nobody, stop, operation, completion, same_turn };

char const* name_of(winner const who) noexcept {
    switch (who) {
    case winner::nobody:
        return "undisturbed";
    case winner::stop:
        return "stop wins";
    case winner::operation:
        return "stop too late for the driver";
    case winner::completion:
        return "completion wins";
    case winner::same_turn:
        return "both in the same turn";
    }
    std::unreachable();
}

constexpr std::uint64_t unknown = UINT64_MAX;

} // namespace

/// One run: watches for its suspension and requests the stop at its moment.
class stop_harness final : worker_observer {
  public:
    struct plan {
        world_options in;
        std::uint64_t point = 0; ///< 0: before the beginning
        winner who = winner::nobody;
        std::uint64_t turn = unknown; ///< same_turn: when the leaf is known to complete
    };
    struct result {
        run_ending ending = run_ending::value;
        std::uint64_t suspensions = 0;
        std::uint64_t completed_in_turn = unknown;
        std::string imbalance;
        std::string where;
    };

    stop_harness(plan const& what, check_stop_options const& options)
        : plan_(what), options_(options), world_(what.in),
          place_{.world = world_, .is_in_a_group = options.target == stop_target::group} {
        auto& worker = loop();
        worker.observer = this;
        world_.parts_->own.cancel_time = [this](operation const&) { return cancel_takes(); };
        if (plan_.who != winner::nobody && plan_.point != 0) worker.watched = plan_.point;
    }

    [[nodiscard]] result run(run_body const& body) {
        words_.set(describe(plan_, result_));
        clear_books(options_.books);
        if (plan_.who != winner::nobody && plan_.point == 0) request();
        result_.ending = body(place_);
        result_.suspensions = loop().suspensions;
        result_.imbalance = world_.imbalance();
        loop().observer = nullptr;
        return std::move(result_);
    }

    [[nodiscard]] static stop_report check(run_body const& body, check_stop_options const& options);

  private:
    [[nodiscard]] worker& loop() noexcept { return world_.parts_->own.rt.loop(); }
    void request() noexcept {
        if (place_.group != nullptr)
            place_.group->request_stop();
        else if (!place_.is_in_a_group || plan_.point == 0)
            world_.parts_->own.rt.request_stop();
    }

    void on_suspended(continuation& leaf) noexcept override {
        result_.where = await_sites(static_cast<promise_header const*>(&leaf));
        words_.set(describe(plan_, result_));
        loop().watched_leaf = &leaf;
        if (plan_.who == winner::stop || plan_.who == winner::operation) request();
    }

    void on_completed(continuation&) noexcept override {
        loop().watched_leaf = nullptr;
        result_.completed_in_turn = loop().turn();
        if (plan_.who == winner::completion) request();
    }

    void before_delivery(std::uint64_t const turn) noexcept override {
        if (turn > options_.turns_max) end_the_process("goes on without an end");
        if (plan_.who == winner::same_turn && turn == plan_.turn) request();
    }

    void on_deadlock() noexcept override { end_the_process("never ends: every task waits"); }

    // A cancel that must win takes no time, one that must lose takes for ever; otherwise the seed decides.
    [[nodiscard]] std::optional<duration> cancel_takes() const noexcept {
        if (plan_.who == winner::stop) return duration::zero();
        if (plan_.who == winner::operation) return std::chrono::hours(1);
        return std::nullopt;
    }

    [[noreturn]] void end_the_process(char const* what) noexcept {
        std::fprintf(stderr, "check_stop: %s, %s\n", describe(plan_, result_).c_str(), what);
        words_.set(""); // it has been said
        std::abort();
    }

    [[nodiscard]] static std::string describe(plan const& of, result const& found) {
        auto text = of.in.is_calm ? std::string("calm world") : "seed " + std::to_string(of.in.seed);
        text += ", suspension " + std::to_string(of.point) + " (" + name_of(of.who) + ")";
        if (!found.where.empty()) text += " at " + found.where;
        return text;
    }

    static result run_one(run_body const& body, check_stop_options const& options, plan const& what,
                          stop_report& report);

    plan plan_;
    check_stop_options const& options_;
    last_words words_{"check_stop"};
    world world_;
    run_place place_;
    result result_;
};

stop_harness::result stop_harness::run_one(run_body const& body, check_stop_options const& options,
                                           plan const& what, stop_report& report) {
    auto const result = stop_harness(what, options).run(body);
    ++report.runs_;
    bool const is_stopped = result.ending == run_ending::stopped;
    if (is_stopped) ++report.stopped_runs_;
    auto wrong = result.imbalance;
    append_wrong(wrong, options.books);
    if (options.verify) append_wrong(wrong, options.verify(is_stopped));
    if (what.who == winner::nobody) {
        if (is_stopped) append_wrong(wrong, "stopped by nobody");
        if (result.ending == run_ending::exception) append_wrong(wrong, "it throws though nobody stops it");
    }
    if (!wrong.empty()) report.failures_ += describe(what, result) + ": " + wrong + "\n";
    return result;
}

stop_report stop_harness::check(run_body const& body, check_stop_options const& options) {
    stop_report report;
    for (std::uint64_t nth = 0; nth <= options.seeds; ++nth) {
        world_options const in{
            .seed = options.first_seed + nth - 1, .is_calm = nth == 0, .pool_buffers = options.pool_buffers};
        auto const undisturbed = run_one(body, options, {.in = in}, report);
        auto const points = undisturbed.suspensions;
        report.points_ = std::max(report.points_, points);
        (void)run_one(body, options, {.in = in, .point = 0, .who = winner::stop}, report);
        auto const stride =
            std::max<std::uint64_t>(1, (points + options.points_max - 1) / options.points_max);
        for (std::uint64_t point = 1; point <= points; point += stride) {
            (void)run_one(body, options, {.in = in, .point = point, .who = winner::stop}, report);
            (void)run_one(body, options, {.in = in, .point = point, .who = winner::operation}, report);
            auto const completed =
                run_one(body, options, {.in = in, .point = point, .who = winner::completion}, report);
            if (completed.completed_in_turn == unknown) continue; // it is stopped in the undisturbed run too
            (void)run_one(
                body, options,
                {.in = in, .point = point, .who = winner::same_turn, .turn = completed.completed_in_turn},
                report);
        }
    }
    if (!report) std::fprintf(stderr, "check_stop: %s", report.failures_.c_str());
    return report;
}

stop_report check_stop_with(run_body const& body, check_stop_options const& options) {
    return stop_harness::check(body, options);
}

} // namespace pitsaw::inline v0::sim
