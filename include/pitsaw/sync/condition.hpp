#pragma once
#include <pitsaw/sync/mutex.hpp>
#include <pitsaw/task/task.hpp>

#include <concepts>
#include <coroutine>

namespace pitsaw::inline v0 {

/// Waits until something that a mutex guards has become true, as `std::condition_variable`.
///
/// ```cpp
/// ps::condition has_orders{orders};                        // `orders` is the mutex that guards `list`
/// auto held = co_await orders.lock();
/// co_await has_orders.wait(held, [&] { return !list.empty(); });
/// auto next = take(list);                                  // the mutex is held again
/// ```
/// It belongs to one mutex and stands under the same lock: between unlocking and waiting nothing fits, and
/// who is notified waits in the mutex's own queue, with no resume in between. Nobody is notified for nothing;
/// but what was true at the notification may have changed before its turn comes, so the form with a condition
/// is the one to use.
///
/// Lifetime: the mutex outlives it, it outlives its waits; destroying it while a task waits is a failed
/// check. Threads: any; who notifies need not hold the mutex any more. Errors: waiting with a guard of
/// another mutex, or of none, is a failed check. Stopping: a leaf. A stopped wait ends without the mutex, and
/// the guard is empty; one that had been notified and did not get the mutex yet notifies the next. No
/// allocation, but for the frame of the form with a condition. 24 bytes.
class condition {
  public:
    explicit condition(mutex& guarding) noexcept : mutex_(guarding) {}
    condition(condition&&) = delete;

    class [[nodiscard]] wait_awaiter : queued_waiter {
      public:
        wait_awaiter(condition& of, mutex_guard& held) noexcept
            : queued_waiter(of.mutex_, withdrawn), of_(of), held_(held) {}

        [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;
        void await_resume() const noexcept { held_.of_ = &of_.mutex_; }

      private:
        friend class condition;

        static void withdrawn(queued_waiter& leaving, wake_list& woken) noexcept;

        condition& of_;
        mutex_guard& held_;
        detail::guarded<bool> is_notified_ = false; // the mutex's guard
    };

    /// Unlocks, waits to be notified, and locks again.
    [[nodiscard]] wait_awaiter wait(mutex_guard& held) noexcept { return wait_awaiter(*this, held); }

    /// The same until `holds()`, which is called with the mutex held, and at once for a start.
    template <std::predicate Condition> [[nodiscard]] task<> wait(mutex_guard& held, Condition holds) {
        bool is_over = holds();
        while (!is_over) {
            co_await wait(held);
            is_over = holds();
        }
    }

    /// The one that waits longest goes on once it has the mutex; nothing if nobody waits.
    void notify_one() noexcept;
    /// The same for all that wait now.
    void notify_all() noexcept;

  private:
    void notify_first(wake_list& woken) noexcept; // with the lock held

    mutex& mutex_;
    wait_list waiting_; // mutex_.guard
};
static_assert(sizeof(condition) <= 24);

} // namespace pitsaw::inline v0
