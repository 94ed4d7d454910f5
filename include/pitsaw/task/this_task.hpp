#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/task/await_transform.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <coroutine>
#include <source_location>
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
        worker.ready.push(header);
        worker.note_suspension(header);
        worker.note_completion(header); // its turn cannot be withdrawn
        return std::noop_coroutine();
    }

    void await_resume() const noexcept {}
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

/// Lets every other ready task run once. Stopping: a leaf.
///
/// ```cpp
/// for (auto& row : table) { work(row); co_await ps::this_task::yield(); }
/// ```
inline yield_awaiter yield() noexcept { return {}; }

/// The environment of the awaiting task; never stops. The reference is valid while the task runs, not in
/// destructors of its locals, which a stop may run when the scope that owns the environment has gone.
inline get_environment_awaiter get_environment() noexcept { return {}; }

/// The time of the running task's worker. Outside a task it is a checked error.
[[nodiscard]] time_point now() noexcept;

/// Whether this thread is destroying frames that a stop left suspended: the stop's `uncaught_exceptions() >
/// 0`, for guards that commit unless something went wrong.
[[nodiscard]] bool is_unwinding() noexcept;

/// The async stack of the running task, innermost first: where each coroutine stands in its await. Empty
/// outside a task.
[[nodiscard]] std::vector<std::source_location> async_stack();

} // namespace this_task

} // namespace pitsaw::inline v0
