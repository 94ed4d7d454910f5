#include <pitsaw/sim/check_stop.hpp>

#include "sim/harness.hpp"

#include <pitsaw/task/promise_header.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
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
class stop_harness final : harness_run {
  public:
    struct plan {
        world_options in;
        std::uint64_t point = 0; ///< 0: before the beginning
        winner who = winner::nobody;
        std::uint64_t turn = unknown; ///< same_turn: when the leaf is known to complete
    };
    struct result {
        std::uint64_t suspensions = 0;
        std::uint64_t completed_in_turn = unknown;
    };

    stop_harness(plan const& what, check_stop_options const& options)
        : harness_run(name, what.in, options), plan_(what) {
        place_.is_in_a_group = options.target == stop_target::group;
        own().cancel_time = [this](operation const&) { return cancel_takes(); };
        if (is_disturbed() && plan_.point != 0) loop().watched = plan_.point;
    }

    [[nodiscard]] static stop_report check(run_body const& body, check_stop_options const& options);

  private:
    static constexpr char const* name = "check_stop";

    [[nodiscard]] remains run(run_body const& body) {
        if (is_disturbed() && plan_.point == 0) request();
        remains left;
        left.ending = run_to_the_end(body);
        result_.suspensions = loop().suspensions;
        left.wrong = wrong(is_disturbed());
        left.described = describe();
        left.seed = world_.seed();
        left.steps = world_.steps();
        return left;
    }

    [[nodiscard]] bool is_disturbed() const noexcept { return plan_.who != winner::nobody; }

    void request() noexcept {
        if (place_.group != nullptr)
            place_.group->request_stop();
        else if (!place_.is_in_a_group || plan_.point == 0)
            own().rt.request_stop();
    }

    void on_suspended(continuation& leaf) noexcept override {
        where_ = await_sites(static_cast<promise_header const*>(&leaf));
        know_more();
        loop().watched_leaf = &leaf;
        if (plan_.who == winner::stop || plan_.who == winner::operation) request();
    }

    void on_completed(continuation&) noexcept override {
        loop().watched_leaf = nullptr;
        result_.completed_in_turn = loop().turn();
        if (plan_.who == winner::completion) request();
    }

    void before_delivery(std::uint64_t const turn) noexcept override {
        harness_run::before_delivery(turn);
        if (plan_.who == winner::same_turn && turn == plan_.turn) request();
    }

    // A cancel that must win takes no time, one that must lose takes for ever; otherwise the seed decides.
    [[nodiscard]] std::optional<duration> cancel_takes() const noexcept {
        if (plan_.who == winner::stop) return duration::zero();
        if (plan_.who == winner::operation) return std::chrono::hours(1);
        return std::nullopt;
    }

    [[nodiscard]] std::string describe() const override {
        auto text = describe_world() + ", suspension " + std::to_string(plan_.point) + " (" +
                    name_of(plan_.who) + ")";
        if (!where_.empty()) text += " at " + where_;
        return text;
    }

    static result run_one(run_body const& body, check_stop_options const& options, plan const& what,
                          stop_report& report);

    plan plan_;
    result result_;
    std::string where_;
};

stop_harness::result stop_harness::run_one(run_body const& body, check_stop_options const& options,
                                           plan const& what, stop_report& report) {
    remains left;
    result found;
    {
        stop_harness one(what, options);
        left = one.run(body);
        found = one.result_;
    }
    bool const is_stopped = left.ending == run_ending::stopped;
    if (is_stopped) ++report.stopped_runs_;
    if (options.verify) append_wrong(left.wrong, options.verify(is_stopped));
    if (what.who == winner::nobody) {
        if (is_stopped) append_wrong(left.wrong, "stopped by nobody");
        if (left.ending == run_ending::exception)
            append_wrong(left.wrong, "it throws though nobody stops it");
    }
    write(report, left);
    return found;
}

stop_report stop_harness::check(run_body const& body, check_stop_options const& options) {
    stop_report report;
    for (auto const& in : worlds(options)) {
        auto const run = [&](std::uint64_t const point, winner const who,
                             std::uint64_t const turn = unknown) {
            return run_one(body, options, {.in = in, .point = point, .who = who, .turn = turn}, report);
        };
        auto const points = run(0, winner::nobody).suspensions;
        report.points_ = std::max(report.points_, points);
        (void)run(0, winner::stop);
        at_points(points, options, [&](std::uint64_t const point) {
            (void)run(point, winner::stop);
            (void)run(point, winner::operation);
            auto const turn = run(point, winner::completion).completed_in_turn;
            if (turn == unknown) return; // it is stopped in the undisturbed run too
            (void)run(point, winner::same_turn, turn);
        });
    }
    print(name, report);
    return report;
}

stop_report check_stop_with(run_body const& body, check_stop_options const& options) {
    return stop_harness::check(body, options);
}

} // namespace pitsaw::inline v0::sim
