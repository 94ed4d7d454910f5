#pragma once
#include <pitsaw/scope/stop_scope.hpp>
#include <pitsaw/task/child.hpp>

#include <coroutine>
#include <type_traits>

namespace pitsaw::inline v0 {

template <class A>
class [[nodiscard]] with_executor_awaiter : inner_boundary {
  public:
    with_executor_awaiter(executor_ref on, A& awaited) : inner_boundary(ended), child_(awaited) {
        env_.executor = on;
    }

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        auto const on = env_.executor;
        check(on.is_current(), "with_executor: this runtime has one worker; the executor of another thread is not "
                               "reachable from a task");
        env_ = *header.env;
        env_.executor = on;
        enter(header);
        return child_.start(*this, env_, header);
    }

    decltype(auto) await_resume() { return child_.result().take(); }

  private:
    static std::coroutine_handle<> ended(boundary& edge, promise_header&, ending const how) noexcept {
        auto& self = static_cast<with_executor_awaiter&>(edge);
        if (how == ending::stopped) return self.leave_stopped();
        if (how == ending::value) self.child_.collect();
        return self.leave();
    }

    child<A> child_;
    environment env_;
};

/// Awaits `awaited` on `on`, and comes back to the own executor afterwards.
///
/// ```cpp
/// auto digest = co_await ps::with_executor(background, digest_of(file));
/// ```
/// Lifetime: `awaited` lives in the same full-expression. Errors: passed on; an executor of another thread is a
/// checked error. Stopping: a boundary of one child: it delivers what completed, else the coroutine stops.
template <awaitable A>
[[nodiscard]] auto with_executor(executor_ref const on, A&& awaited [[clang::lifetimebound]]) {
    return with_executor_awaiter<std::remove_cvref_t<A>>(on, awaited);
}

} // namespace pitsaw::inline v0
