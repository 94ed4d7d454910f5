#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/executor/timer_node.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <algorithm>
#include <chrono>
#include <coroutine>

namespace pitsaw::inline v0 {

/// Waits for a moment of the environment's clock.
class [[nodiscard]] sleep_awaiter : waiter, timer_node {
  public:
    /// From the start of the await.
    explicit sleep_awaiter(duration span) noexcept : waiter(withdrawn), timer_node(expired), span_(span) {}

    /// Until a moment.
    explicit sleep_awaiter(time_point at) noexcept : waiter(withdrawn), timer_node(expired) { deadline = at; }

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;
    void await_resume() const noexcept {}

  protected:
    /// Before the start: another moment.
    void set_moment(time_point at) noexcept { deadline = at; }

  private:
    static void withdrawn(waiter& self) noexcept;
    static void expired(timer_node& self) noexcept;

    static constexpr duration until_a_moment = duration::min();

    duration span_ = until_a_moment;
    promise_header* header_ = nullptr;
};

/// Waits for `span`, counted from the await (not from a time the loop remembers), never less. Zero and
/// negative spans are over at once; a span beyond the clock's range never ends but by a stop.
///
/// ```cpp
/// co_await ps::sleep(200ms);
/// ```
/// Threads: the task's worker, by type: it cannot be moved, and no handle lets another thread re-arm it.
/// Errors: none. Stopping: a leaf; the timer is withdrawn at once. No allocation.
template <class Rep, class Period>
[[nodiscard]] sleep_awaiter sleep(std::chrono::duration<Rep, Period> const span) noexcept {
    return sleep_awaiter(std::max(to_duration(span), duration::min() + duration(1)));
}

/// Waits until `at`, never shorter; a moment that has passed is over at once.
[[nodiscard]] inline sleep_awaiter sleep_until(time_point const at) noexcept { return sleep_awaiter(at); }

} // namespace pitsaw::inline v0
