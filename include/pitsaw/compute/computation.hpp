#pragma once
#include <pitsaw/base/check.hpp>
#include <pitsaw/base/transferable.hpp>
#include <pitsaw/executor/compute_lane.hpp>
#include <pitsaw/task/frame_memory.hpp>

#include <concepts>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

template <class T> class computation_promise;
template <class T> class await_computation;

/// A coroutine that computes, whose parts may run on any worker: what `fork_join` forks and `compute`
/// begins.
///
/// ```cpp
/// ps::computation<int> fib(int n) {
///     if (n < 2) co_return n;
///     auto both = co_await ps::fork_join(fib(n - 1), fib(n - 2));
///     auto& [a, b] = both;
///     co_return a + b;
/// }
/// ps::task<> prints() { std::println("{}", co_await ps::compute(fib(32))); }
/// ```
/// It awaits other computations and nothing else: it has no environment, no stop slot and no worker of its
/// own, so a frame of it is small and a fork costs a few nanoseconds (docs/guide/compute.md).
///
/// Lifetime: owns its frame. What it refers to must live until it has ended, which awaiting it in place
/// gives by itself. Threads: from each of its awaits it may come back on another worker of a runtime that
/// steals; what it holds across one may be no lock and nothing thread-local. Its arguments are looked at:
/// `transferable`. Errors: what the body throws is rethrown where it is awaited; std::bad_alloc where the
/// frame is made. Stopping: by the task that awaits `compute`; it ends at one of its awaits, at the latest
/// after some hundred of them. T may be a reference; it must not be over-aligned.
template <class T = void> class [[nodiscard]] computation {
  public:
    using promise_type = computation_promise<T>;
    using value_type = T;

    computation(computation&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
    computation& operator=(computation&& other) noexcept {
        computation old(std::exchange(frame_, std::exchange(other.frame_, {})));
        return *this;
    }
    ~computation() {
        if (frame_) frame_.destroy();
    }

    /// Takes the frame, which must exist: for who begins it. From then on it destroys itself at its end.
    [[nodiscard]] computation_promise<T>& release() noexcept {
        check(static_cast<bool>(frame_), "a computation was awaited that is moved-from or has been awaited");
        return std::exchange(frame_, {}).promise();
    }

  private:
    friend computation_promise<T>;
    explicit computation(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

    std::coroutine_handle<promise_type> frame_;
};

template <class> inline constexpr bool is_computation = false;
template <class T> inline constexpr bool is_computation<computation<T>> = true;

/// What a computation leaves with who waits for it: nothing before its end, and nothing if it has failed,
/// for its exception is the fork point's.
template <class T> class computed {
  public:
    template <class U> void set(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>) {
        value_.emplace(std::forward<U>(value));
    }
    T take() { return *std::move(value_); }

  private:
    std::optional<T> value_;
};
template <class T> class computed<T&> {
  public:
    void set(T& value) noexcept { value_ = std::addressof(value); }
    T& take() const noexcept { return *value_; }

  private:
    T* value_ = nullptr;
};
template <> class computed<void> {
  public:
    static void take() noexcept {}
};

/// What tells `computation<T>` from `computation<void>`.
template <class T> class computation_result : public fork_child {
  public:
    template <class U = T>
        requires std::is_constructible_v<T, U>
    void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>) {
        result_->set(std::forward<U>(value));
    }
    /// Before it begins.
    void leave_result_in(computed<T>& place) noexcept { result_ = &place; }

  private:
    computed<T>* result_ = nullptr;
};
template <> class computation_result<void> : public fork_child {
  public:
    static void return_void() noexcept {}
    static void leave_result_in(computed<void>&) noexcept {}
};

/// What a computation awaits besides another one: `begin(promise)` begins it for the computation of that
/// promise and returns what runs next, `await_resume()` gives the result.
template <class A>
concept forking = requires(A& awaitable, fork_child& waiting) {
    { awaitable.begin(waiting) } noexcept -> std::same_as<std::coroutine_handle<>>;
    awaitable.await_resume();
};

/// Awaits it in place. A wrapper by value, since GCC 12.2 copies an awaiter that arrives by reference.
template <forking A> class forked {
  public:
    explicit forked(A& awaitable) noexcept : awaitable_(awaitable) {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <std::derived_from<fork_child> Promise>
    [[nodiscard]] std::coroutine_handle<>
    await_suspend(std::coroutine_handle<Promise> const waiting) const noexcept {
        return awaitable_.begin(waiting.promise());
    }
    decltype(auto) await_resume() const { return awaitable_.await_resume(); }

  private:
    A& awaitable_;
};

template <class T> class computation_promise final : public computation_result<T>, public recycled_frame {
  public:
    template <class... Args> explicit computation_promise(Args const&...) noexcept {
        static_assert((transferable<Args> && ...),
                      "an argument of this computation is bound to the worker that made it "
                      "(pitsaw/base/transferable.hpp), and a computation runs on any: pass a value");
        static_assert(transferable<T>, "the result of this computation is bound to the worker that made it");
    }

    struct final_awaiter {
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        [[nodiscard]] std::coroutine_handle<>
        await_suspend(std::coroutine_handle<computation_promise> const finished) const noexcept {
            auto& promise = finished.promise();
            auto& at = *promise.at;
            auto& lane = *promise.lane;
            bool const was_open = promise.is_open;
            finished.destroy();
            return at.child_ended(lane, was_open);
        }
        void await_resume() const noexcept {}
    };

    [[nodiscard]] computation<T> get_return_object() noexcept {
        static_assert(alignof(computation_promise) <= continuation::frame_prefix,
                      "an over-aligned promise cannot live in a coroutine frame");
        return computation<T>(std::coroutine_handle<computation_promise>::from_promise(*this));
    }
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] final_awaiter final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { this->at->fail(std::current_exception()); }

    template <class U> [[nodiscard]] await_computation<U> await_transform(computation<U>&& awaited) noexcept {
        return await_computation<U>(std::move(awaited));
    }
    template <forking A> [[nodiscard]] forked<A> await_transform(A&& awaited) noexcept {
        return forked<A>(awaited);
    }
    template <class A> static void await_transform(A&&) {
        constexpr bool is_computation_or_fork = !std::is_same_v<A, A>;
        static_assert(is_computation_or_fork,
                      "a computation awaits computations, by co_await f(x) or fork_join(f(x), g(y)): what "
                      "waits for anything else is a task");
    }
};

/// Waits for one computation, which runs as a call would.
template <class T> class [[nodiscard]] await_computation final : fork_point {
  public:
    explicit await_computation(computation<T>&& awaited) noexcept
        : fork_point(child, 1), child_(awaited.release()) {
        child_.leave_result_in(result_);
    }
    ~await_computation() {
        if (!has_begun(0)) child_.handle().destroy();
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <std::derived_from<fork_child> Promise>
    [[nodiscard]] std::coroutine_handle<>
    await_suspend(std::coroutine_handle<Promise> const waiting) noexcept {
        return start(waiting.promise());
    }
    T await_resume() {
        rethrow_failure();
        return result_.take();
    }

  private:
    static fork_child* child(fork_point& self, std::uint32_t) noexcept {
        return &static_cast<await_computation&>(self).child_;
    }

    computation_promise<T>& child_; ///< destroys itself when it has begun
    [[no_unique_address]] computed<T> result_;
};

} // namespace pitsaw::inline v0
