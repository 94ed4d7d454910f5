#pragma once
#include <pitsaw/task/foreign_awaitable.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <concepts>
#include <coroutine>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

template <class T> class task;

template <class> inline constexpr bool is_task = false;
template <class T> inline constexpr bool is_task<task<T>> = true;

/// One of our own awaitables that is no coroutine: a leaf (`sleep`, a receive) or a scope (`when_any`).
///
/// `start(header)` begins it for the coroutine (or hand-made frame) of `header` and returns what runs next:
/// that coroutine itself if the result is there already, otherwise something else or nothing. Before it is
/// done it has put itself into the chain's stop slot; when it is done it puts `header` into the ready queue
/// or transfers to it; when it stops it calls `header.stop_here()`. `await_resume()` then gives the
/// result, once.
template <class A>
concept startable = requires(A& awaitable, promise_header& header) {
    { awaitable.start(header) } noexcept -> std::same_as<std::coroutine_handle<>>;
    awaitable.await_resume();
};

/// Awaits a startable in place. A wrapper by value, since GCC 12.2 copies an awaiter that arrives by
/// reference.
template <startable A> class started {
  public:
    explicit started(A& awaitable) noexcept : awaitable_(awaitable) {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }

    template <environment_promise Promise>
    [[nodiscard]] std::coroutine_handle<>
    await_suspend(std::coroutine_handle<Promise> waiting) const noexcept {
        return awaitable_.start(waiting.promise());
    }

    decltype(auto) await_resume() const { return awaitable_.await_resume(); }

  private:
    A& awaitable_;
};

/// An awaitable whose meaning depends on the coroutine that awaits it: `or_return`, `at_exit`.
template <class A, class Promise>
concept bound_to_its_coroutine =
    requires(A&& awaitable, Promise& promise) { std::move(awaitable).await_in(promise); };

/// The awaiter by which a coroutine with `promise` awaits `awaitable`: the one place where our coroutines
/// tell tasks, leaves and foreign awaitables apart.
template <class Promise, class A>
[[nodiscard]] auto awaiter_for([[maybe_unused]] Promise& promise, A&& awaitable) {
    using bare = std::remove_cvref_t<A>;
    constexpr bool is_ours = is_task<bare> || startable<bare> || bound_to_its_coroutine<bare, Promise>;
    static_assert(!is_ours || !std::is_lvalue_reference_v<A>,
                  "a task or operation is awaited once: write co_await std::move(it)");
    if constexpr (is_task<bare>)
        return std::move(awaitable).operator co_await();
    else if constexpr (bound_to_its_coroutine<bare, Promise>)
        return std::move(awaitable).await_in(promise);
    else if constexpr (startable<bare>)
        return started<bare>(awaitable);
    else
        return foreign_awaiter<A>(std::forward<A>(awaitable));
}

} // namespace pitsaw::inline v0
