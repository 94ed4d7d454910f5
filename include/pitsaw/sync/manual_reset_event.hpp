#pragma once
#include <pitsaw/sync/wait_queue.hpp>

#include <coroutine>

namespace pitsaw::inline v0 {

/// A gate: while it is set, who comes to it passes; while it is not, they wait.
///
/// ```cpp
/// ps::manual_reset_event loaded;
/// group.spawn(load(loaded));  // calls loaded.set()
/// co_await loaded.wait();     // as many as like
/// ```
/// A `set` lets all go who wait, also if a `reset` follows at once. Lifetime: it outlives its waits, until
/// each has returned; who was let go may destroy it if no other waited. Destroying it while a task waits is a
/// failed check. Threads: any. Errors: none. Stopping: a leaf; who has been let go goes on. No allocation. 32
/// bytes.
class manual_reset_event : wait_queue {
  public:
    explicit manual_reset_event(bool is_set = false) noexcept : is_set_(is_set) {}
    manual_reset_event(manual_reset_event&&) = delete;

    void set() noexcept;
    void reset() noexcept;
    [[nodiscard]] bool is_set() const noexcept;

    class [[nodiscard]] wait_awaiter : queued_waiter {
      public:
        explicit wait_awaiter(manual_reset_event& of) noexcept : queued_waiter(of), of_(of) {}

        [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;
        void await_resume() const noexcept {}

      private:
        manual_reset_event& of_;
    };

    /// Waits until it is set.
    [[nodiscard]] wait_awaiter wait() noexcept { return wait_awaiter(*this); }

  private:
    detail::guarded<bool> is_set_; // guard
};
static_assert(sizeof(manual_reset_event) <= 32);

} // namespace pitsaw::inline v0
