#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/executor/timer_node.hpp>
#include <pitsaw/stop/inplace_stop_token.hpp>
#include <pitsaw/task/sync_wait.hpp>

#include "driver/sim/driver.hpp"

#include <memory>
#include <utility>

namespace pitsaw::testing {

/// A runtime in a calm simulated world, whose time passes only while everything waits.
[[nodiscard]] inline runtime simulated_runtime(runtime_options options = {}) {
    return runtime(std::make_unique<sim_driver>(sim_driver_options::calm()), std::move(options));
}

/// As `at` of run_stopped: the stop is there before the first leaf.
inline constexpr duration before_the_start = duration(-1);

/// Requests a stop of a runtime from its own worker at a moment of its time.
class stop_timer : timer_node {
  public:
    stop_timer(runtime& of, duration const at, stop_reason const why)
        : timer_node(expired), of_(of), why_(why) {
        if (at < duration::zero()) {
            of_.request_stop(why_);
            return;
        }
        auto& worker = *of_.get_executor();
        deadline = saturating_add(worker.now(), at);
        worker.timers.arm(*this);
    }
    stop_timer(stop_timer&&) = delete;
    ~stop_timer() { of_.get_executor()->timers.disarm(*this); }

  private:
    static void expired(timer_node& self) noexcept {
        auto& timer = static_cast<stop_timer&>(self);
        timer.of_.request_stop(timer.why_);
    }

    runtime& of_;
    stop_reason why_;
};

/// Runs `work` on `rt` and stops everything there once `at` has passed since the start.
template <class A>
[[nodiscard]] auto run_stopped(runtime& rt, duration const at, A&& work,
                               stop_reason const why = stop_reason::requested) {
    stop_timer const stop(rt, at, why);
    return sync_wait(rt, std::forward<A>(work));
}

/// The same in a calm simulated world of its own.
///
///     auto end = run_stopped(20ms, outer(log));
///     EXPECT_TRUE(end.is_stopped());
template <class A>
[[nodiscard]] auto run_stopped(duration const at, A&& work, stop_reason const why = stop_reason::requested) {
    runtime rt = simulated_runtime();
    return run_stopped(rt, at, std::forward<A>(work), why);
}

} // namespace pitsaw::testing
