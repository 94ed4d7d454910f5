#pragma once
#include <pitsaw/scope/with_environment.hpp>

#include <type_traits>

namespace pitsaw::inline v0::this_task {

/// Awaits `awaited` without the budget that makes whoever passes 256 awaits without waiting give way: while
/// it does not wait, no other task of its priority or a lower one has a turn. `yield` still gives way, and
/// a stop is still noticed.
///
/// ```cpp
/// co_await ps::this_task::unconstrained(drain(queue));   // which ends soon, and knows it
/// ```
/// The driver is polled and timers fire meanwhile, but those whom they wake wait.
///
/// Lifetime: `awaited` lives in the same full-expression. Threads: the worker's. Errors: passed on.
/// Stopping: a boundary of one child: it delivers what completed, else the coroutine stops.
template <awaitable A> [[nodiscard]] auto unconstrained(A&& awaited [[clang::lifetimebound]]) {
    auto const change = [](environment& env) noexcept { env.is_unconstrained = true; };
    return with_environment_awaiter<std::remove_cvref_t<A>, decltype(change)>(change, awaited);
}

} // namespace pitsaw::inline v0::this_task
