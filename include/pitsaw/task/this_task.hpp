#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/task/await_transform.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <coroutine>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <vector>

namespace pitsaw::inline v0 {

/// Gives way: the coroutine goes to the tail of the ready queue.
class [[nodiscard]] yield_awaiter {
  public:
    yield_awaiter() = default;

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        if (header.env->stop.stop_requested()) [[unlikely]]
            return header.stop_here();
        auto& worker = *header.env->executor;
        worker.ready.push(header, resume_as::coroutine, header.env->level);
        worker.note_suspension(header);
        worker.note_completion(header); // its turn cannot be withdrawn
        return std::noop_coroutine();
    }

    void await_resume() const noexcept {}
};

/// Gives way if somebody waits; of a loop that computes.
class [[nodiscard]] checkpoint_awaiter {
  public:
    checkpoint_awaiter() = default;

    /// For combinators, which have a header and no coroutine.
    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        return may_pass(header) ? transfer(header) : give_turn(header);
    }
    void await_resume() const noexcept {}

    /// A coroutine that may pass is not even suspended.
    struct in_coroutine {
        promise_header* header;
        [[nodiscard]] bool await_ready() const noexcept { return may_pass(*header); }
        [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept {
            return give_turn(*header);
        }
        void await_resume() const noexcept {}
    };
    [[nodiscard]] in_coroutine await_in(promise_header& header) && noexcept { return {&header}; }

  private:
    /// Of the budget: between two of these stands a piece of a computation. When it is spent, the worker
    /// looks at its clock and, every millisecond, at its driver.
    static constexpr std::int32_t hops = 8;

    [[nodiscard]] static bool may_pass(promise_header const& header) noexcept {
        auto const& env = *header.env;
        auto& worker = *env.executor;
        if (env.stop.stop_requested()) [[unlikely]]
            return false;
        return (env.is_unconstrained || !worker.ready.has_at_least(env.level)) && worker.hops.spend(hops);
    }
    [[nodiscard]] static std::coroutine_handle<> give_turn(promise_header& header) noexcept;
};

/// Reads the environment without suspending.
class [[nodiscard]] get_environment_awaiter {
  public:
    get_environment_awaiter() = default;

    struct ready {
        environment const* env;
        [[nodiscard]] bool await_ready() const noexcept { return true; }
        void await_suspend(std::coroutine_handle<>) const noexcept {}
        [[nodiscard]] environment const& await_resume() const noexcept { return *env; }
    };

    [[nodiscard]] ready await_in(promise_header& header) && noexcept { return {header.env}; }
};

/// What a task can ask and say about itself.
namespace this_task {

/// Lets every other ready task of its priority, and those of higher ones, run once. Stopping: a leaf.
///
/// ```cpp
/// for (auto& row : table) { work(row); co_await ps::this_task::yield(); }
/// ```
inline yield_awaiter yield() noexcept { return {}; }

/// Lets others run if some are ready, of its priority or a higher one, or if it has not given way for long:
/// for the inside of loops that compute. It costs next to nothing while nobody waits. Stopping: a leaf.
///
/// ```cpp
/// for (auto& row : table) { work(row); co_await ps::this_task::checkpoint(); }
/// ```
inline checkpoint_awaiter checkpoint() noexcept { return {}; }

/// The environment of the awaiting task; never stops. The reference is valid while the task runs, not in
/// destructors of its locals, which a stop may run when the scope that owns the environment has gone.
inline get_environment_awaiter get_environment() noexcept { return {}; }

/// The time of the running task's worker. Outside a task it is a checked error.
[[nodiscard]] time_point now() noexcept;

/// A number that no other task of this process has: of the child of a group that runs, the branch of a
/// `when_all`, or whatever else began at a boundary. They are given in the order in which they are asked
/// for, from 1 on, so that a task pays nothing for one that nobody wants to know. Outside a task it is a
/// checked error.
[[nodiscard]] std::uint32_t id() noexcept;

/// What `with_name` called the running task, or what it runs in; empty where nobody did. Outside a task it
/// is a checked error. Valid while the task runs.
[[nodiscard]] std::string_view name() noexcept;

/// Whether this thread is destroying frames that a stop left suspended: the stop's `uncaught_exceptions() >
/// 0`, for guards that commit unless something went wrong.
[[nodiscard]] bool is_unwinding() noexcept;

/// The async stack of the running task, innermost first: where each coroutine stands in its await. Empty
/// outside a task.
[[nodiscard]] std::vector<std::source_location> async_stack();

} // namespace this_task

} // namespace pitsaw::inline v0
