#pragma once
#include <pitsaw/base/atomic.hpp>
#include <pitsaw/sync/wait_queue.hpp>
#include <pitsaw/task/task.hpp>

#include <concepts>
#include <coroutine>
#include <expected>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// Does something once, whoever comes first, while the others wait for it; as `std::call_once`.
///
/// ```cpp
/// co_await connected.call(connect, link);   // a task<>, or a task of an io_result
/// ```
/// Lifetime: it outlives its calls, until each has returned. Threads: any. Errors: an exception, or an
/// `io_result` with an error, goes to the caller whose work failed, and the next caller tries. Stopping: the
/// same; a call that waits is a leaf, one that works is stopped as its work is. A call from within the work
/// waits for itself. A frame for each call; who calls often asks `is_done` first, which is a load. 32 bytes.
class once : wait_queue {
  public:
    once() noexcept = default;
    once(once&&) = delete;

    /// Whether it has been done. True: what it did is seen.
    [[nodiscard]] bool is_done() const noexcept {
        // Acquire, with the release in finish: what the work did.
        return state_.load(std::memory_order_acquire) == done;
    }

    /// Awaits `work(args...)`, unless that has been done; else waits until it has.
    template <class F, class... Args>
        requires std::invocable<F&, Args...>
    [[nodiscard]] std::invoke_result_t<F&, Args...> call(F work, Args... args) {
        using value_type = typename std::invoke_result_t<F&, Args...>::value_type;
        bool const is_mine = co_await turn_awaiter(*this);
        if (!is_mine) co_return value_type();
        turn mine(*this);
        if constexpr (std::is_void_v<value_type>) {
            co_await work(std::move(args)...);
            mine.finish();
        } else {
            auto result = co_await work(std::move(args)...);
            if (result.has_value()) mine.finish();
            co_return result;
        }
    }

  private:
    enum state : unsigned char { idle, running, done };

    /// Who works. Gives the turn to the next caller if it goes without an end.
    class turn {
      public:
        explicit turn(once& of) noexcept : of_(&of) {}
        turn(turn&&) = delete;
        ~turn() {
            if (of_ != nullptr) of_->give_up();
        }
        void finish() noexcept { std::exchange(of_, nullptr)->finish(); }

      private:
        once* of_;
    };

    /// Gives whether the work is the caller's; else it has been done.
    class turn_awaiter : queued_waiter {
      public:
        explicit turn_awaiter(once& of) noexcept : queued_waiter(of), of_(of) {}

        [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;
        [[nodiscard]] bool await_resume() const noexcept { return is_mine_; }

      private:
        friend class once;

        once& of_;
        detail::guarded<bool> is_mine_ = false; // guard, and whom it is granted to
    };

    void finish() noexcept;
    void give_up() noexcept;

    detail::atomic<state> state_ = idle; // written by who holds guard
};
static_assert(sizeof(once) <= 32);

} // namespace pitsaw::inline v0
