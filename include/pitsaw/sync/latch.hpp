#pragma once
#include <pitsaw/sync/wait_queue.hpp>

#include <coroutine>
#include <cstdint>

namespace pitsaw::inline v0 {

/// Opens for good when it has been counted down to zero, as `std::latch`.
///
/// ```cpp
/// ps::latch ready{3};
/// co_await ready.wait();   // each of three tasks calls ready.count_down()
/// ```
/// Lifetime: it outlives its waits, until each has returned; who was let go may destroy it if no other
/// waited. Destroying it while a task waits is a failed check. Threads: any. Errors: counting below zero is a
/// failed check. Stopping: a leaf; what was counted down stays so. No allocation. 32 bytes.
class latch : wait_queue {
  public:
    explicit latch(std::uint32_t expected) noexcept : left_(expected) {}
    latch(latch&&) = delete;

    void count_down(std::uint32_t by = 1) noexcept;

    /// Whether it is open: what `wait` would do without waiting.
    [[nodiscard]] bool try_wait() const noexcept;

    class [[nodiscard]] wait_awaiter : queued_waiter {
      public:
        wait_awaiter(latch& of, std::uint32_t by) noexcept : queued_waiter(of), of_(of), by_(by) {}

        [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;
        void await_resume() const noexcept {}

      private:
        latch& of_;
        std::uint32_t by_;
    };

    /// Waits until it is open.
    [[nodiscard]] wait_awaiter wait() noexcept { return wait_awaiter(*this, 0); }

    /// Counts down and waits. Counts down also where it is stopped.
    [[nodiscard]] wait_awaiter arrive_and_wait() noexcept { return wait_awaiter(*this, 1); }

  private:
    void take_off(std::uint32_t by, wake_list& woken) noexcept; // with the lock held

    detail::guarded<std::uint32_t> left_; // guard
};
static_assert(sizeof(latch) <= 32);

} // namespace pitsaw::inline v0
