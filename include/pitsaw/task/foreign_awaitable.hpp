#pragma once
#include <pitsaw/task/promise_header.hpp>

#include <concepts>
#include <coroutine>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// The awaiter of an awaitable by the standard's rules: member or free `operator co_await`, or itself.
template <class A> [[nodiscard]] decltype(auto) standard_awaiter(A&& awaitable) {
    if constexpr (requires { std::forward<A>(awaitable).operator co_await(); })
        return std::forward<A>(awaitable).operator co_await();
    else if constexpr (requires { operator co_await(std::forward<A>(awaitable)); })
        return operator co_await(std::forward<A>(awaitable));
    else
        return static_cast<A&&>(awaitable);
}

/// What a foreign awaitable is given as "the coroutine": a hand-made frame that comes back to our worker.
///
/// Lifetime: in the awaiter, until the awaited thing has resumed it. Threads: resumed once, by any thread.
struct foreign_return {
    struct promise : continuation {
        /// P2300's awaitable senders end with "stopped" by calling this.
        [[nodiscard]] std::coroutine_handle<> unhandled_stopped() noexcept;
        bool is_stopped = false; ///< written by the thread that completes, before it hands over
    };

    void (*resume)(
        void*) noexcept; ///< where the ABI wants it: first "the foreign side is done", then "we go on"
    void (*destroy)(void*) noexcept; ///< likewise; the frame is a member, there is nothing to do
    promise proxy;
    promise_header* header = nullptr; ///< who waits; set before the foreign side is started

    foreign_return() noexcept;
    foreign_return(foreign_return&&) = delete;

    [[nodiscard]] std::coroutine_handle<promise> handle() noexcept {
        return std::coroutine_handle<promise>::from_address(this);
    }

    void expect(promise_header& waiting) noexcept {
        header = &waiting;
        ++waiting.env->executor->foreign;
    }
    void expect_no_more() noexcept { --header->env->executor->foreign; }
};

/// Awaits somebody else's awaitable in our coroutine, and resumes it on its own worker.
///
/// A stop is seen before it starts, and by the next leaf after it; it cannot reach inside.
template <class A> class foreign_awaiter {
    using awaiter = decltype(standard_awaiter(std::declval<A>()));

  public:
    explicit foreign_awaiter(A&& awaitable) : awaiter_(standard_awaiter(std::forward<A>(awaitable))) {}
    foreign_awaiter(foreign_awaiter&&) = delete;

    /// What is ready counts as a hop all the same, so that a loop over such awaits gives way.
    [[nodiscard]] bool await_ready() const noexcept { return false; }

    template <environment_promise Promise>
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> waiting) {
        return start(waiting.promise());
    }

    /// For combinators, which have a header and no coroutine.
    [[nodiscard]] std::coroutine_handle<> start(promise_header& waiting) {
        if (awaiter_.await_ready()) return transfer(waiting);
        return suspend(waiting);
    }

    decltype(auto) await_resume() { return awaiter_.await_resume(); }

  private:
    [[nodiscard]] std::coroutine_handle<> suspend(promise_header& waiting) {
        if (waiting.env->stop.stop_requested()) return waiting.unhandled_stopped();
        return_.expect(waiting);
        std::coroutine_handle<> runs_next;
        try {
            runs_next = suspend_foreign(return_.handle());
        } catch (...) {
            return_.expect_no_more();
            throw;
        }
        if (runs_next) return runs_next; // by now another thread may have resumed us
        return_.expect_no_more();
        return transfer(waiting);
    }

    /// What runs next; null if the foreign side goes on without suspending.
    [[nodiscard]] std::coroutine_handle<>
    suspend_foreign(std::coroutine_handle<foreign_return::promise> frame) {
        using returned = decltype(awaiter_.await_suspend(frame));
        if constexpr (std::is_void_v<returned>) {
            awaiter_.await_suspend(frame);
        } else if constexpr (std::same_as<returned, bool>) {
            if (!awaiter_.await_suspend(frame)) return {};
        } else {
            std::coroutine_handle<> const next = awaiter_.await_suspend(frame);
            if (next == frame) return {};
            return next;
        }
        return std::noop_coroutine();
    }

    awaiter awaiter_;
    foreign_return return_;
};

} // namespace pitsaw::inline v0
