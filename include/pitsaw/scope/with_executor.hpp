#pragma once
#include <pitsaw/base/check.hpp>
#include <pitsaw/scope/with_environment.hpp>

#include <type_traits>

namespace pitsaw::inline v0 {

/// Awaits `awaited` on `on`, and comes back to the own executor afterwards.
///
/// ```cpp
/// auto digest = co_await ps::with_executor(background, digest_of(file));
/// ```
/// Lifetime: `awaited` lives in the same full-expression. Errors: passed on; an executor of another thread is
/// a checked error. Stopping: a boundary of one child: it delivers what completed, else the coroutine stops.
template <awaitable A>
[[nodiscard]] auto with_executor(executor_ref const on, A&& awaited [[clang::lifetimebound]]) {
    auto const change = [on](environment& env) noexcept {
        check(on.is_current(),
              "with_executor: this runtime has one worker; the executor of another thread is not "
              "reachable from a task");
        env.executor = on;
    };
    return with_environment_awaiter<std::remove_cvref_t<A>, decltype(change)>(change, awaited);
}

} // namespace pitsaw::inline v0
