#include <pitsaw/task/task.hpp>

#include <pitsaw/scope/when_all.hpp>
#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/at_exit.hpp>
#include <pitsaw/task/or_return.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/sleep.hpp>

#include "lifetime_log.hpp"
#include "run_stopped.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using namespace std::chrono_literals;

task<int> inner(lifetime_log& log, probe) {
    probe const a(log, "inner.a");
    try {
        probe const b(log, "inner.b");
        co_await sleep(100ms);
        log.note("RESUMED");
    } catch (...) {
        log.note("CAUGHT");
        throw;
    }
    co_return 1;
}
task<int> middle(lifetime_log& log) {
    probe const a(log, "middle.a");
    int const value = co_await inner(log, probe(log, "inner.argument"));
    log.note("RESUMED");
    co_return value;
}
task<int> outer(lifetime_log& log) {
    probe const a(log, "outer.a");
    int const value = co_await middle(log);
    co_return value;
}

TEST(stop, destroys_the_innermost_frame_first_and_runs_no_catch_block) {
    lifetime_log log;
    auto const end = run_stopped(20ms, outer(log));
    EXPECT_TRUE(end.is_stopped());
    EXPECT_EQ(end.reason(), stop_reason::requested);
    EXPECT_EQ(log.take(), "~inner.b ~inner.a ~inner.argument ~middle.a ~outer.a");
}

TEST(stop, carries_the_reason_of_the_request) {
    lifetime_log log;
    EXPECT_EQ(run_stopped(20ms, outer(log), stop_reason::peer_gone).reason(), stop_reason::peer_gone);
}

TEST(stop, before_the_start_the_body_runs_up_to_its_first_leaf) {
    lifetime_log log;
    EXPECT_TRUE(run_stopped(before_the_start, outer(log)).is_stopped());
    EXPECT_EQ(log.take(), "~inner.b ~inner.a ~inner.argument ~middle.a ~outer.a");
}

task<int> no_leaf() { co_return 3; }

TEST(stop, does_not_touch_a_task_without_a_leaf) {
    EXPECT_EQ(run_stopped(before_the_start, no_leaf()).value(), 3);
}

task<> named_then_guard(lifetime_log& log) {
    auto named = middle(log);
    probe const guard(log, "guard");
    co_await std::move(named);
}

TEST(stop, a_named_task_outlives_the_later_guards_of_its_parent) {
    lifetime_log log;
    EXPECT_TRUE(run_stopped(20ms, named_then_guard(log)).is_stopped());
    EXPECT_EQ(log.take(), "~guard ~inner.b ~inner.a ~inner.argument ~middle.a");
}

// ---- What guards see

class notes_unwinding {
  public:
    notes_unwinding(lifetime_log& log, std::string name) : log_(log), name_(std::move(name)) {}
    notes_unwinding(notes_unwinding&&) = delete;
    ~notes_unwinding() {
        log_.note(name_ + (this_task::is_unwinding() ? ":unwinding" : ":calm") +
                  (std::uncaught_exceptions() > 0 ? ":exception" : ""));
    }

  private:
    lifetime_log& log_;
    std::string name_;
};

task<> ends_before(lifetime_log& log) {
    notes_unwinding const local(log, "ended");
    co_return;
}
task<> waits_inside(lifetime_log& log) {
    notes_unwinding const local(log, "inside");
    co_await sleep(100ms);
}
task<> throws_inside(lifetime_log& log) {
    notes_unwinding const local(log, "thrown");
    throw std::runtime_error("boom");
    co_return;
}
task<> guards(lifetime_log& log) {
    notes_unwinding const local(log, "root");
    co_await ends_before(log);
    try {
        co_await throws_inside(log);
    } catch (std::runtime_error const&) {
        log.note("caught");
    }
    co_await waits_inside(log);
}
task<> guards_behind_a_boundary(lifetime_log& log) {
    notes_unwinding const local(log, "boundary");
    auto const end = co_await as_outcome(guards(log));
    EXPECT_TRUE(end.is_stopped());
}

TEST(stop, is_unwinding_is_true_in_destructors_of_stopped_frames_only) {
    lifetime_log log;
    EXPECT_TRUE(run_stopped(20ms, guards(log)).is_stopped());
    EXPECT_EQ(log.take(), "ended:calm thrown:calm:exception caught inside:unwinding root:unwinding");
    EXPECT_FALSE(this_task::is_unwinding());
    EXPECT_TRUE(run_stopped(1h, guards(log)).has_value());
    EXPECT_EQ(log.take(), "ended:calm thrown:calm:exception caught inside:calm root:calm");
}

TEST(stop, a_task_above_the_boundary_does_not_unwind) {
    lifetime_log log;
    EXPECT_TRUE(run_stopped(20ms, guards_behind_a_boundary(log)).has_value());
    EXPECT_EQ(log.take(),
              "ended:calm thrown:calm:exception caught inside:unwinding root:unwinding boundary:calm");
}

// ---- The leaves of this layer

task<> yield_for_ever(int& turns) {
    for (;;) {
        ++turns;
        co_await this_task::yield();
    }
}

TEST(stop, ends_a_task_that_only_yields) {
    int turns = 0;
    EXPECT_TRUE(run_stopped(0ms, yield_for_ever(turns)).is_stopped());
    EXPECT_GT(turns, 0);
}

task<> stop_oneself(runtime& rt, lifetime_log& log) {
    rt.request_stop(stop_reason::peer_gone);
    log.note("still_running");
    co_await this_task::yield();
    log.note("NEVER");
}

TEST(stop, requested_by_the_task_itself_waits_for_its_next_leaf) {
    lifetime_log log;
    runtime rt;
    EXPECT_EQ(sync_wait(rt, stop_oneself(rt, log)).reason(), stop_reason::peer_gone);
    EXPECT_EQ(log.take(), "still_running");
}

task<int> complete_at(duration when) {
    co_await sleep(when);
    co_return 5;
}

task<int> arm_a_stop(runtime& rt, std::optional<stop_timer>& stop, duration when) {
    co_await this_task::yield();
    stop.emplace(rt, when, stop_reason::requested);
    co_return 1;
}
task<int> complete_and_be_stopped_in_one_turn(runtime& rt, std::optional<stop_timer>& stop) {
    auto const both = co_await when_all(complete_at(10ms), arm_a_stop(rt, stop, 10ms));
    co_return std::get<0>(both) + std::get<1>(both);
}

TEST(stop, a_leaf_that_completed_delivers_its_result) {
    // Equal deadlines fire in one turn as they were armed: the sleep has completed when the stop comes, and
    // its coroutine is resumed after that.
    runtime rt = simulated_runtime();
    std::optional<stop_timer> stop;
    EXPECT_EQ(sync_wait(rt, complete_and_be_stopped_in_one_turn(rt, stop)).value(), 6);
    EXPECT_TRUE(sync_wait(rt, complete_at(1ms)).is_stopped());
}

// ---- Depth

class in_order {
  public:
    in_order(int level, int& next) : level_(level), next_(next) {}
    in_order(in_order&&) = delete;
    ~in_order() {
        if (next_ == level_) ++next_;
    }

  private:
    int level_;
    int& next_;
};

[[gnu::noinline]] task<> nest(int level, int& next) {
    in_order const local(level, next);
    if (level == 0)
        co_await sleep(1h);
    else
        co_await nest(level - 1, next);
}
[[gnu::noinline]] task<io_result<void>> nest_or_return(int level, int& next) {
    in_order const local(level, next);
    if (level == 0)
        co_await sleep(1h);
    else
        co_await or_return(nest_or_return(level - 1, next));
    co_return io_result<void>();
}
[[gnu::noinline]] task<> nest_timeouts(int level, int& next) {
    in_order const local(level, next);
    if (level == 0)
        co_await sleep(1h);
    else
        (void)co_await with_timeout(24h, nest_timeouts(level - 1, next));
}

constexpr int depth = 20'000;

TEST(stop, destroys_20000_nested_tasks_in_order) {
    int next = 0;
    EXPECT_TRUE(run_stopped(1ms, nest(depth - 1, next)).is_stopped());
    EXPECT_EQ(next, depth);
}

// A boundary between two tasks takes more of the native stack, unoptimised too much of it for the full depth.
#if defined(__OPTIMIZE__)
constexpr int boundary_depth = depth;
#else
constexpr int boundary_depth = 4'000;
#endif

TEST(stop, destroys_20000_nested_boundaries_in_order) {
    int next = 0;
    EXPECT_TRUE(run_stopped(1ms, nest_or_return(boundary_depth - 1, next)).is_stopped());
    EXPECT_EQ(next, boundary_depth);
    next = 0;
    EXPECT_TRUE(run_stopped(1ms, nest_timeouts(boundary_depth - 1, next)).is_stopped());
    EXPECT_EQ(next, boundary_depth);
}

} // namespace
