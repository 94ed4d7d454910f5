#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/executor/timer_node.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/scope/stop_scope.hpp>
#include <pitsaw/task/child.hpp>

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <expected>
#include <system_error>
#include <type_traits>

namespace pitsaw::inline v0 {

/// The part of a deadline's scope that needs no type.
struct deadline_scope : boundary, stop_scope, timer_node {
    deadline_scope(on_child_ended ended, time_point at) noexcept
        : boundary(ended), stop_scope(asked), timer_node(expired) {
        deadline = at;
        is_race = true;
    }

    void open_and_arm(promise_header& header) noexcept;

    /// The child has ended with `how`: gives the coroutine that goes on.
    [[nodiscard]] std::coroutine_handle<> finish(ending how) noexcept;

    duration span = duration::min(); ///< counted from the start, unless it is the minimum
    bool has_expired = false;        ///< the timer asked first
    bool is_timed_out = false;       ///< and the child stopped

  private:
    static void asked(waiter& self) noexcept;
    static void expired(timer_node& self) noexcept;
};

template <class A> class [[nodiscard]] with_deadline_awaiter : deadline_scope {
    using value_type = child_value<A>;
    using result_type = std::conditional_t<is_expected<value_type>, value_type, io_result<value_type>>;

  public:
    with_deadline_awaiter(time_point at, A& awaited) : deadline_scope(ended, at), child_(awaited) {}
    with_deadline_awaiter(duration from_now, A& awaited) : with_deadline_awaiter(time_point(), awaited) {
        span = from_now;
    }

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        open_and_arm(header);
        return child_.start(*this, env, header);
    }

    result_type await_resume() {
        static_assert(std::is_constructible_v<typename result_type::error_type, std::error_code>,
                      "with_timeout reports errc::timed_out: the error type must be constructible from it");
        if (is_timed_out) return std::unexpected(std::make_error_code(std::errc::timed_out));
        if constexpr (std::is_void_v<value_type>) {
            child_.result().take();
            return {};
        } else {
            return child_.result().take();
        }
    }

  private:
    static std::coroutine_handle<> ended(boundary& edge, promise_header&, ending const how) noexcept {
        auto& self = static_cast<with_deadline_awaiter&>(static_cast<deadline_scope&>(edge));
        if (how == ending::value) self.child_.collect();
        return self.finish(how);
    }

    child<A> child_;
};

/// Awaits `awaited`, but stops it at `at`.
///
/// ```cpp
/// auto reply = co_await ps::with_timeout(200ms, fetch(client, url));  // an io_result: timed_out, or its own
/// ```
/// Gives `io_result<T>` of a `task<T>`, and of an `io_result` the same type. It says `timed_out` only if this
/// scope's timer fired and `awaited` stopped; what completed in the meantime is delivered, however late.
/// Lifetime: `awaited` lives in the same full-expression; no frame, no allocation. Threads: the task's
/// worker. Errors: `awaited`'s own are passed on. Stopping: a boundary of one child: an outer stop stops
/// `awaited`, and then the awaiting coroutine, unless `awaited` completed.
template <awaitable A>
[[nodiscard]] auto with_deadline(time_point const at, A&& awaited [[clang::lifetimebound]]) {
    return with_deadline_awaiter<std::remove_cvref_t<A>>(at, awaited);
}

/// The same with a span from the await on.
template <class Rep, class Period, awaitable A>
[[nodiscard]] auto with_timeout(std::chrono::duration<Rep, Period> const span,
                                A&& awaited [[clang::lifetimebound]]) {
    return with_deadline_awaiter<std::remove_cvref_t<A>>(
        std::max(to_duration(span), duration::min() + duration(1)), awaited);
}

} // namespace pitsaw::inline v0
