#pragma once
#include <pitsaw/sync/wait_queue.hpp>

#include <coroutine>

namespace pitsaw::inline v0 {

/// A signal: each `set` lets one task pass, the one that waits longest; if none waits, the next that comes.
///
/// ```cpp
/// for (;;) {
///     co_await has_work.wait();
///     work_off(list);
/// }
/// ```
/// It keeps one permit at most: a second `set` before anybody came is the same as one. Lifetime: it outlives
/// its waits, until each has returned; destroying it while a task waits is a failed check. Threads: any.
/// Errors: none. Stopping: a leaf; who was let pass goes on, and a stop takes no permit, so no `set` is lost.
/// No allocation. 32 bytes.
class auto_reset_event : wait_queue {
  public:
    explicit auto_reset_event(bool is_set = false) noexcept : is_set_(is_set) {}
    auto_reset_event(auto_reset_event&&) = delete;

    void set() noexcept;

    /// Takes the permit if there is one: what `wait` would do without waiting.
    [[nodiscard]] bool try_wait() noexcept;

    class [[nodiscard]] wait_awaiter : queued_waiter {
      public:
        explicit wait_awaiter(auto_reset_event& of) noexcept : queued_waiter(of), of_(of) {}

        [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;
        void await_resume() const noexcept {}

      private:
        auto_reset_event& of_;
    };

    /// Waits for a permit and takes it.
    [[nodiscard]] wait_awaiter wait() noexcept { return wait_awaiter(*this); }

  private:
    [[nodiscard]] bool take() noexcept; // with the lock held

    detail::guarded<bool> is_set_; // guard; never set while somebody waits
};
static_assert(sizeof(auto_reset_event) <= 32);

} // namespace pitsaw::inline v0
