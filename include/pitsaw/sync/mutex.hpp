#pragma once
#include <pitsaw/sync/wait_queue.hpp>

#include <coroutine>
#include <source_location>
#include <utility>

namespace pitsaw::inline v0 {

class mutex;

/// Holds a mutex, and unlocks it when it goes.
///
/// ```cpp
/// auto held = co_await accounts.lock();
/// co_await transfer();  // others wait meanwhile, and their threads go on
/// held.unlock();        // or at the end of its scope
/// ```
/// Lifetime: the mutex outlives it; move-only. Threads: one at a time, any. Errors: none. 8 bytes.
class [[nodiscard]] mutex_guard {
  public:
    mutex_guard() noexcept = default;
    mutex_guard(mutex_guard&& from) noexcept : of_(from.give_away()) {}
    mutex_guard& operator=(mutex_guard&& from) noexcept {
        auto* const taken = from.give_away();
        unlock();
        of_ = taken;
        return *this;
    }
    ~mutex_guard() { unlock(); }

    /// Whether it holds one.
    [[nodiscard]] explicit operator bool() const noexcept { return of_ != nullptr; }

    /// Gives it to the one that waits longest; nothing if it holds none.
    void unlock() noexcept;

  private:
    friend class mutex;
    friend class condition;
    explicit mutex_guard(mutex& of) noexcept : of_(&of) {}

    [[nodiscard]] mutex* give_away() noexcept;

    mutex* of_ = nullptr;
};

/// One task at a time, in the order in which they came: it is handed to the next, nobody overtakes. Waiting
/// for it blocks no thread, so it may be held across `co_await`.
///
/// ```cpp
/// auto const held = co_await accounts.lock();
/// ```
/// Lifetime: it outlives its guards and its waits, until each has returned; destroying it while it is held is
/// a failed check. Threads: any, workers of several runtimes too. Errors: who waits for what it holds itself,
/// or who waits for it holds, waits for ever. Where debug checks are on that is a failed check, which names
/// where it was locked and where it is awaited; found are cycles of tasks of one worker whose guards stand
/// where they were made, and none that a timeout or a `when_any` may end. Stopping: `lock` is a leaf; who was
/// handed the mutex has it, and its guard unlocks when it goes. No allocation. 48 bytes; without others about
/// one locked instruction each to lock and to unlock.
class mutex : wait_queue {
  public:
    mutex() noexcept = default;
    mutex(mutex&&) = delete;
    ~mutex() { check(!is_locked_, "a mutex is destroyed while it is held: its guards have to go first"); }

    class [[nodiscard]] lock_awaiter : queued_waiter {
      public:
        explicit lock_awaiter(mutex& of) noexcept : queued_waiter(of, withdrawn), of_(of) {}

        [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
            if constexpr (detail::debug_checks) {
                header_ = &header;
                of_.look_for_cycle(header);
            }
            return wait_unless(header, of_, [this] { return of_.take(); });
        }
        [[nodiscard]] mutex_guard await_resume() const noexcept {
            if constexpr (detail::debug_checks) of_.note_owner(header_);
            return mutex_guard(of_);
        }

      private:
        friend class mutex;

        static void withdrawn(queued_waiter&, wake_list&) noexcept {} // nobody waited for this waiter alone

        mutex& of_;
        promise_header* header_ = nullptr; // debug checks
    };

    /// Waits for the mutex; gives a `mutex_guard`.
    [[nodiscard]] lock_awaiter lock() noexcept { return lock_awaiter(*this); }

    /// Holds nothing if another holds it.
    [[nodiscard]] mutex_guard try_lock() noexcept;

  private:
    friend class mutex_guard;
    friend class condition;

    // With the lock held. Who waits has the mutex handed over, so a free one has no waiters.
    [[nodiscard]] bool take() noexcept {
        bool const was_free = !is_locked_;
        is_locked_ = true;
        return was_free;
    }
    void hand_over(wake_list& woken) noexcept {
        owner_ = nullptr;
        if (empty())
            is_locked_ = false;
        else
            grant(woken);
    }

    void unlock() noexcept {
        wake_list woken;
        guard.lock();
        hand_over(woken);
        guard.unlock();
    }

    // Debug checks: who has locked it. Where the guard was moved, nobody: it may be anywhere.
    void note_owner(promise_header* header) noexcept;
    void look_for_cycle(promise_header& waiting) noexcept;

    detail::guarded<bool> is_locked_ = false; // guard, as the others
    promise_header* owner_ = nullptr;         ///< in whose frame the guard stands, so that it lives
    std::source_location locked_at_;
};
static_assert(sizeof(mutex) <= 48);

inline mutex* mutex_guard::give_away() noexcept {
    if constexpr (detail::debug_checks)
        if (of_ != nullptr) of_->note_owner(nullptr);
    return std::exchange(of_, nullptr);
}

inline void mutex_guard::unlock() noexcept {
    if (of_ != nullptr) std::exchange(of_, nullptr)->unlock();
}

} // namespace pitsaw::inline v0
