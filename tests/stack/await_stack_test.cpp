#include <pitsaw/scope/task_group.hpp>
#include <pitsaw/scope/when_all.hpp>
#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/or_return.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/sleep.hpp>

#include "run_stopped.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <utility>

// CL1: awaits cost no stack that grows with their number, in each build of the matrix.

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using namespace std::chrono_literals;

constexpr int million = 1'000'000;

/// How far below the test's own frame the stack has reached, wherever `here` was called.
class stack_depth {
  public:
    // The frame's address rather than a local's: AddressSanitizer may keep locals elsewhere.
    [[gnu::noinline]] void here() {
        lowest_ = std::min(lowest_, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
    }
    [[nodiscard]] std::size_t bytes() const { return top_ - lowest_; }

  private:
    std::uintptr_t top_ = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    std::uintptr_t lowest_ = top_;
};
constexpr std::size_t bytes_max = std::size_t{64} << 10;

task<int> ready(stack_depth& depth) {
    depth.here();
    co_return 1;
}
task<int> await_ready_tasks(stack_depth& depth) {
    int sum = 0;
    for (int i = 0; i < million; ++i) {
        sum += co_await ready(depth);
        depth.here();
    }
    co_return sum;
}

TEST(stack, a_million_ready_awaits) { // CL1
    stack_depth depth;
    EXPECT_EQ(sync_wait(await_ready_tasks(depth)).value(), million);
    EXPECT_LT(depth.bytes(), bytes_max);
}

class completes_inline {
  public:
    completes_inline() = default;
    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept { return transfer(header); }
    int await_resume() const noexcept { return 1; }
};
task<int> await_inline_leaves(stack_depth& depth) {
    int sum = 0;
    for (int i = 0; i < million; ++i) {
        sum += co_await completes_inline();
        depth.here();
    }
    co_return sum;
}
task<int> await_inline_scopes(stack_depth& depth) {
    int sum = 0;
    for (int i = 0; i < million / 10; ++i) {
        auto const end = co_await as_outcome(completes_inline());
        sum += end.has_value() ? 1 : 0;
        auto const timed = co_await with_timeout(1h, ready(depth));
        sum += timed.value_or(0);
        auto const all = co_await when_all(completes_inline(), ready(depth));
        sum += std::get<0>(all);
        depth.here();
    }
    co_return sum;
}

TEST(stack, a_million_leaves_that_complete_inline) {
    stack_depth depth;
    EXPECT_EQ(sync_wait(await_inline_leaves(depth)).value(), million);
    EXPECT_EQ(sync_wait(await_inline_scopes(depth)).value(), 3 * (million / 10));
    EXPECT_LT(depth.bytes(), bytes_max);
}

task<> count_one(stack_depth& depth, int& count) {
    ++count;
    depth.here();
    co_return;
}
task<> spawn_thousand(task_group& group, stack_depth& depth, int& count) {
    for (int i = 0; i < 1000; ++i) group.spawn(count_one(depth, count));
    co_return;
}
task<> run_groups(stack_depth& depth, int& count) {
    for (int i = 0; i < million / 1000; ++i) {
        auto body = [&depth, &count](task_group& group) { return spawn_thousand(group, depth, count); };
        co_await task_group::run(body);
        depth.here();
    }
}

TEST(stack, a_million_children_that_complete_inline) { // CL1
    stack_depth depth;
    int count = 0;
    EXPECT_TRUE(sync_wait(run_groups(depth, count)).has_value());
    EXPECT_EQ(count, million);
    EXPECT_LT(depth.bytes(), bytes_max);
}

/// A leaf for two tasks: who passes the baton waits, and the other goes on at once by symmetric transfer.
class baton {
  public:
    class pass {
      public:
        explicit pass(baton& of) noexcept : of_(of) {}
        [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
            auto* const other = std::exchange(of_.waiting_, &header);
            if (other != nullptr) return transfer(*other);
            return std::noop_coroutine();
        }
        void await_resume() const noexcept {}

      private:
        baton& of_;
    };
    [[nodiscard]] pass pass_on() noexcept { return pass(*this); }
    void let_the_last_go() noexcept {
        if (waiting_ != nullptr) waiting_->env->executor->ready.push(*std::exchange(waiting_, nullptr));
    }

  private:
    promise_header* waiting_ = nullptr;
};
task<int> play(baton& between, stack_depth& depth) {
    int passes = 0;
    for (; passes < million; ++passes) {
        depth.here();
        co_await between.pass_on();
    }
    between.let_the_last_go();
    co_return passes;
}
task<int> yield_often(stack_depth& depth) {
    int turns = 0;
    for (; turns < million; ++turns) {
        depth.here();
        co_await this_task::yield();
    }
    co_return turns;
}
task<int> play_together(stack_depth& depth) {
    baton between;
    auto const both = co_await when_all(play(between, depth), play(between, depth));
    co_return std::get<0>(both) + std::get<1>(both);
}
task<int> yield_together(stack_depth& depth) {
    auto const both = co_await when_all(yield_often(depth), yield_often(depth));
    co_return std::get<0>(both) + std::get<1>(both);
}

TEST(stack, two_tasks_that_pass_a_baton_a_million_times) { // CL1
    stack_depth depth;
    EXPECT_EQ(sync_wait(play_together(depth)).value(), 2 * million);
    EXPECT_EQ(sync_wait(yield_together(depth)).value(), 2 * million);
    EXPECT_LT(depth.bytes(), bytes_max);
}

// ---- Depth. 8 MiB of stack are enough to destroy these; to run and to end them takes next to nothing.

constexpr int levels = 20'000;

// A scope at each level takes more of the native stack; unoptimised, too much of it for the full depth.
#if defined(__OPTIMIZE__)
constexpr int scope_levels = levels;
#else
constexpr int scope_levels = 4'000;
#endif

[[gnu::noinline]] task<int> nest(int level, stack_depth& depth) {
    int below = 0;
    depth.here();
    if (level > 0) below = co_await nest(level - 1, depth);
    depth.here();
    co_return below + 1;
}
[[gnu::noinline]] task<io_result<int>> nest_until_an_error(int level, stack_depth& depth) {
    int below = 0;
    depth.here();
    if (level > 0) {
        below = co_await or_return(nest_until_an_error(level - 1, depth));
    } else {
        io_result<int> failed = std::unexpected(std::make_error_code(std::errc::io_error));
        below = co_await or_return(std::move(failed));
    }
    co_return below + 1;
}
[[gnu::noinline]] task<int> nest_scopes(int level, stack_depth& depth) {
    int below = 0;
    depth.here();
    if (level > 0) {
        auto end = co_await as_outcome(nest_scopes(level - 1, depth));
        below = end.value();
    }
    depth.here();
    co_return below + 1;
}
[[gnu::noinline]] task<int> nest_until_a_throw(int level, stack_depth& depth) {
    int below = 0;
    depth.here();
    if (level == 0) throw level;
    below = co_await nest_until_a_throw(level - 1, depth);
    co_return below;
}

TEST(stack, twenty_thousand_nested_tasks_begin_and_end_in_constant_stack) {
    stack_depth depth;
    EXPECT_EQ(sync_wait(nest(levels - 1, depth)).value(), levels);
    EXPECT_EQ(sync_wait(nest_scopes(scope_levels - 1, depth)).value(), scope_levels);
    EXPECT_TRUE(sync_wait(nest_until_a_throw(levels - 1, depth)).has_exception());
    EXPECT_LT(depth.bytes(), bytes_max);
}

TEST(stack, an_error_passes_through_twenty_thousand_or_returns) {
    stack_depth depth;
    EXPECT_EQ(sync_wait(nest_until_an_error(scope_levels - 1, depth)).value().error(), std::errc::io_error);
    EXPECT_LT(depth.bytes(), bytes_max);
}

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
[[gnu::noinline]] task<> nest_and_wait(int level, int& next) {
    in_order const local(level, next);
    if (level == 0)
        co_await sleep(1h);
    else
        co_await nest_and_wait(level - 1, next);
}

TEST(stack, twenty_thousand_nested_suspended_tasks_are_stopped_in_order) {
    int next = 0;
    EXPECT_TRUE(run_stopped(1ms, nest_and_wait(levels - 1, next)).is_stopped());
    EXPECT_EQ(next, levels);
}

} // namespace
