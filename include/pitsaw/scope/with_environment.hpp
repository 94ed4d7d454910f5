#pragma once
#include <pitsaw/task/child.hpp>

#include <coroutine>
#include <memory_resource>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// A boundary of one child that runs in a changed copy of the environment. `Change` is a function object that
/// edits the copy.
template <class A, class Change> class [[nodiscard]] with_environment_awaiter : inner_boundary {
  public:
    with_environment_awaiter(Change change, A& awaited)
        : inner_boundary(ended), child_(awaited), change_(std::move(change)) {}

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        env_ = *header.env;
        change_(env_);
        enter(header);
        return child_.start(*this, env_, header);
    }

    decltype(auto) await_resume() { return child_.result().take(); }

  private:
    static std::coroutine_handle<> ended(boundary& edge, promise_header&, ending const how) noexcept {
        auto& self = static_cast<with_environment_awaiter&>(edge);
        if (how == ending::stopped) return self.leave_stopped();
        if (how == ending::value) self.child_.collect();
        return self.leave();
    }

    child<A> child_;
    Change change_;
    environment env_;
};

/// Awaits `awaited` with `resource` as what its scopes take their nodes from (a group's children). Frames are
/// not taken from it: a lazy task's frame exists before its environment does.
///
/// ```cpp
/// std::pmr::monotonic_buffer_resource arena;
/// co_await ps::with_memory(arena, serve(listener));
/// ```
/// Lifetime: `resource` outlives the await, `awaited` lives in the same full-expression. Threads: the
/// resource is used by the worker only. Errors: passed on. Stopping: a boundary of one child: it delivers
/// what completed, else the coroutine stops.
template <awaitable A>
[[nodiscard]] auto with_memory(std::pmr::memory_resource& resource, A&& awaited [[clang::lifetimebound]]) {
    auto const change = [&resource](environment& env) noexcept { env.memory = &resource; };
    return with_environment_awaiter<std::remove_cvref_t<A>, decltype(change)>(change, awaited);
}

/// The same with the user's task-local pointer: `awaited` and all below it see `local` in their environment.
template <awaitable A>
[[nodiscard]] auto with_local(void* const local, A&& awaited [[clang::lifetimebound]]) {
    auto const change = [local](environment& env) noexcept { env.local = local; };
    return with_environment_awaiter<std::remove_cvref_t<A>, decltype(change)>(change, awaited);
}

} // namespace pitsaw::inline v0
