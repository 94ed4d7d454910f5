#pragma once
#include <pitsaw/sync/wait_queue.hpp>

#include <coroutine>
#include <cstdint>

namespace pitsaw::inline v0 {

/// Where a number of tasks wait for each other, phase after phase, as `std::barrier` without its completion
/// function.
///
/// ```cpp
/// for (int step = 0; step != steps; ++step) {
///     compute(part);
///     co_await all.arrive_and_wait();
/// }
/// ```
/// Lifetime: it outlives its waits, until each has returned; destroying it while a task waits is a failed
/// check. Threads: any. Errors: a barrier of nobody, and more arrivals in a phase than are expected, are
/// failed checks. Stopping: a leaf. Who is stopped in the wait, or before it, has arrived in this phase and
/// leaves behind it, as by `arrive_and_drop`: the others wait for it neither now nor later. No allocation. 32
/// bytes.
class barrier : wait_queue {
  public:
    explicit barrier(std::uint32_t expected) noexcept;
    barrier(barrier&&) = delete;

    class [[nodiscard]] wait_awaiter : queued_waiter {
      public:
        explicit wait_awaiter(barrier& of) noexcept : queued_waiter(of, withdrawn), of_(of) {}

        [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;
        void await_resume() const noexcept {}

      private:
        static void withdrawn(queued_waiter& leaving, wake_list& woken) noexcept;

        barrier& of_;
    };

    /// Arrives, and waits until all have. The last goes on without waiting.
    [[nodiscard]] wait_awaiter arrive_and_wait() noexcept { return wait_awaiter(*this); }

    /// Arrives for the last time: from the next phase on one less is expected.
    void arrive_and_drop() noexcept;

  private:
    [[nodiscard]] bool arrive(wake_list& woken) noexcept; // with the lock held; whether it was the last

    detail::guarded<std::uint32_t> expected_; // guard, as the next
    detail::guarded<std::uint32_t> left_;     ///< to arrive in this phase
};
static_assert(sizeof(barrier) <= 32);

} // namespace pitsaw::inline v0
