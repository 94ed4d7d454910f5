#pragma once
#include <pitsaw/base/check.hpp>
#include <pitsaw/task/await_transform.hpp>
#include <pitsaw/task/frame_memory.hpp>
#include <pitsaw/task/promise_header.hpp>
#include <pitsaw/task/result_slot.hpp>

#include <coroutine>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

template <class T> class task_promise;

/// The destruction of a frame that a stop left suspended, as `this_task::is_unwinding` sees it.
[[gnu::cold, gnu::noinline]] void begin_unwinding() noexcept;
[[gnu::cold, gnu::noinline]] void end_unwinding() noexcept;

/// A piece of asynchronous work: lazy, awaited once, ending with a value, an exception or a stop.
///
/// ```cpp
/// ps::task<int> add(int a, int b) { co_return a + b; }
/// ps::task<> work() { int sum = co_await add(1, 2); use(sum); }
/// ```
/// Lifetime: owns its coroutine frame; what it refers to must live until it has ended, which awaiting it in
/// place gives by itself. Never awaited, it never ran. Threads: it runs on the worker of its environment; an
/// unstarted one may be handed to another thread. Errors: what the body throws is rethrown where it is
/// awaited; `co_await or_return(x)` passes an error value on. Awaiting an lvalue does not compile, awaiting
/// twice is a checked error. std::bad_alloc where the frame is made. Stopping: as a stopped leaf's parent, it
/// is never resumed; its locals are destroyed, innermost frame first. T may be a reference; it must not be
/// over-aligned.
template <class T = void> class [[nodiscard]] task {
  public:
    using promise_type = task_promise<T>;
    using value_type = T;

    task() = default;
    task(task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
    task& operator=(task&& other) noexcept {
        task old(std::exchange(frame_, std::exchange(other.frame_, {})));
        return *this;
    }

    // The task destroys, the awaiter only copies the handle: the shape in which Clang elides the frame.
    // Always inlined, since a call on a cold path would let the handle escape, and nothing would be elided.
    [[gnu::always_inline]] ~task() {
        if (!frame_) return;
        if (frame_.promise().is_suspended_midway()) [[unlikely]] {
            begin_unwinding();
            frame_.destroy();
            end_unwinding();
        } else {
            frame_.destroy();
        }
    }

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(frame_); }

    class awaiter {
      public:
        explicit awaiter(std::coroutine_handle<promise_type> child) noexcept : child_(child) {}

        [[nodiscard]] bool await_ready() const noexcept { return false; }

        template <environment_promise Promise>
        [[nodiscard]] std::coroutine_handle<>
        await_suspend(std::coroutine_handle<Promise> parent) const noexcept {
            auto& promise = child_.promise();
            promise.join_chain(parent.promise());
            return transfer(promise);
        }

        T await_resume() const { return child_.promise().result.take(); }

      private:
        std::coroutine_handle<promise_type> child_;
    };

    [[nodiscard]] awaiter operator co_await() && noexcept { return awaiter(startable()); }

    /// The frame, which must exist and not have been started: for combinators, which start it in a scope.
    [[nodiscard]] std::coroutine_handle<promise_type> startable() const noexcept {
        check(static_cast<bool>(frame_), "an empty or moved-from task was awaited");
        check(!frame_.promise().is_started(),
              "a task was awaited twice: it runs once, keep its result instead");
        return frame_;
    }

  private:
    friend task_promise<T>;
    explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

    std::coroutine_handle<promise_type> frame_;
};

/// What `task<T>` and `task<void>` share of `co_return`.
template <class T> struct task_result {
    result_slot<T> result;

    template <class U = T>
        requires std::is_constructible_v<T, U>
    void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>) {
        result.set_value(std::forward<U>(value));
    }
};

template <> struct task_result<void> {
    result_slot<void> result;

    void return_void() noexcept { result.set_value(); }
};

template <class T> class task_promise : public promise_header, public task_result<T>, public recycled_frame {
  public:
    using result_type = T;

    struct final_awaiter {
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        [[nodiscard]] std::coroutine_handle<>
        await_suspend(std::coroutine_handle<task_promise> const finished) const noexcept {
            auto& promise = finished.promise();
            return promise.ended(promise.result.has_exception() ? ending::exception : ending::value);
        }
        void await_resume() const noexcept {}
    };

    [[nodiscard]] task<T> get_return_object() noexcept {
        static_assert(alignof(task_promise) <= continuation::frame_prefix,
                      "an over-aligned result cannot live in a coroutine frame: return a pointer to it");
        return task<T>(std::coroutine_handle<task_promise>::from_promise(*this));
    }
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] final_awaiter final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { this->result.set_exception(std::current_exception()); }

    /// Started, not ended: what a stop leaves behind.
    [[nodiscard]] bool is_suspended_midway() const noexcept {
        return this->result.is_empty() && is_started();
    }

    template <class Awaitable>
    [[nodiscard]] auto await_transform(Awaitable&& awaitable,
                                       std::source_location where = std::source_location::current()) {
        awaiting = where;
        return awaiter_for(*this, std::forward<Awaitable>(awaitable));
    }
};

} // namespace pitsaw::inline v0
