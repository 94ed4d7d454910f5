#pragma once
#include <pitsaw/scope/with_environment.hpp>

#include <string>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// Awaits `awaited` under a name, which it and all below it have (`this_task::name`), unless they give
/// themselves another; the async stack of a failed check shows it.
///
/// ```cpp
/// clients.spawn([](ps::tcp_stream peer) -> ps::task<> {
///     auto name = "session " + peer_of(peer);
///     co_await ps::with_name(std::move(name), session(std::move(peer)));
/// }, std::move(peer));
/// ```
/// An await costs nothing for it: who asks finds it in the environment.
///
/// Lifetime: the name is owned by the awaiter; `awaited` lives in the same full-expression. Threads: the
/// worker's. Errors: passed on; std::bad_alloc for a long name. Stopping: a boundary of one child: it
/// delivers what completed, else the coroutine stops.
template <awaitable A> [[nodiscard]] auto with_name(std::string name, A&& awaited [[clang::lifetimebound]]) {
    auto change = [name = std::move(name)](environment& env) noexcept { env.name = &name; };
    return with_environment_awaiter<std::remove_cvref_t<A>, decltype(change)>(std::move(change), awaited);
}

} // namespace pitsaw::inline v0
