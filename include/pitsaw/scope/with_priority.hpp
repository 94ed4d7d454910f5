#pragma once
#include <pitsaw/scope/with_environment.hpp>

#include <type_traits>

namespace pitsaw::inline v0 {

/// Awaits `awaited` with another priority: it and all below it wait for their turns in that queue of their
/// worker.
///
/// ```cpp
/// co_await ps::with_priority(ps::priority::low, compact(log));
/// ```
/// Of what is ready, the highest priority goes first; a lower one that has waited through
/// `ready_levels::turns_max` (16) turns of others gets one, so that none starves. Nothing is interrupted: a
/// task of high priority waits for the await that the running one comes to. It has a meaning among the tasks
/// of one worker, and none for drivers and timers. A child gets one by `group.spawn` of a task that begins
/// with this.
///
/// Lifetime: `awaited` lives in the same full-expression. Threads: the worker's. Errors: passed on. Stopping:
/// a boundary of one child: it delivers what completed, else the coroutine stops.
template <awaitable A>
[[nodiscard]] auto with_priority(priority const level, A&& awaited [[clang::lifetimebound]]) {
    auto const change = [level](environment& env) noexcept { env.level = level; };
    return with_environment_awaiter<std::remove_cvref_t<A>, decltype(change)>(change, awaited);
}

} // namespace pitsaw::inline v0
