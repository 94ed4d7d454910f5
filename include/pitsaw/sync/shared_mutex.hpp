#pragma once
#include <pitsaw/sync/wait_queue.hpp>

#include <coroutine>
#include <cstdint>
#include <utility>

namespace pitsaw::inline v0 {

class shared_mutex;

/// Holds a shared mutex, alone or with other readers, and lets go of it when it goes.
///
/// ```cpp
/// auto const reading = co_await table.lock_shared();
/// ```
/// Lifetime: the mutex outlives it; move-only. Threads: one at a time, any. Errors: none. 16 bytes.
class [[nodiscard]] shared_mutex_guard {
  public:
    shared_mutex_guard() noexcept = default;
    shared_mutex_guard(shared_mutex_guard&& from) noexcept
        : of_(std::exchange(from.of_, nullptr)), is_shared_(from.is_shared_) {}
    shared_mutex_guard& operator=(shared_mutex_guard&& from) noexcept {
        shared_mutex_guard old(std::move(*this));
        of_ = std::exchange(from.of_, nullptr);
        is_shared_ = from.is_shared_;
        return *this;
    }
    ~shared_mutex_guard() { unlock(); }

    /// Whether it holds one.
    [[nodiscard]] explicit operator bool() const noexcept { return of_ != nullptr; }
    /// Whether others may hold it too.
    [[nodiscard]] bool is_shared() const noexcept { return of_ != nullptr && is_shared_; }

    /// Lets go of it; nothing if it holds none.
    void unlock() noexcept;

  private:
    friend class shared_mutex;
    shared_mutex_guard(shared_mutex& of, bool is_shared) noexcept : of_(&of), is_shared_(is_shared) {}

    shared_mutex* of_ = nullptr;
    bool is_shared_ = false;
};

/// Many readers or one writer, in the order in which they came: readers that stand next to each other in the
/// queue go together, and a reader that comes after a waiting writer waits behind it. So neither starves.
///
/// ```cpp
/// auto const reading = co_await table.lock_shared();  // with others
/// auto const writing = co_await table.lock();         // alone
/// ```
/// A reader cannot become a writer without letting go first; and who reads may not read once more below that,
/// for a writer may have come between. Lifetime: it outlives its guards and its waits, until each has
/// returned; destroying it while it is held is a failed check. Threads: any. Errors: none. Stopping: a leaf;
/// a writer that gives up lets the readers behind it go. No allocation. 32 bytes.
class shared_mutex : wait_queue {
  public:
    shared_mutex() noexcept = default;
    shared_mutex(shared_mutex&&) = delete;
    ~shared_mutex() {
        check(readers_ == 0, "a shared_mutex is destroyed while it is held: its guards have to go first");
    }

    class [[nodiscard]] lock_awaiter : queued_waiter {
      public:
        lock_awaiter(shared_mutex& of, bool is_shared) noexcept
            : queued_waiter(of, withdrawn), of_(of), is_shared_(is_shared) {}

        [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;
        [[nodiscard]] shared_mutex_guard await_resume() const noexcept { return {of_, is_shared_}; }

      private:
        friend class shared_mutex;

        static void withdrawn(queued_waiter& leaving, wake_list& woken) noexcept;

        shared_mutex& of_;
        bool is_shared_;
    };

    /// Waits to hold it alone; gives a `shared_mutex_guard`.
    [[nodiscard]] lock_awaiter lock() noexcept { return {*this, false}; }
    /// Waits to hold it with other readers; gives a `shared_mutex_guard`.
    [[nodiscard]] lock_awaiter lock_shared() noexcept { return {*this, true}; }

    /// Hold nothing where the others would wait.
    [[nodiscard]] shared_mutex_guard try_lock() noexcept { return try_take(false); }
    [[nodiscard]] shared_mutex_guard try_lock_shared() noexcept { return try_take(true); }

  private:
    friend class shared_mutex_guard;

    static constexpr std::int32_t writing = -1;

    [[nodiscard]] shared_mutex_guard try_take(bool is_shared) noexcept;
    void unlock() noexcept;

    // With the lock held.
    [[nodiscard]] bool take(bool is_shared) noexcept;
    void let_in(wake_list& woken) noexcept;

    detail::guarded<std::int32_t> readers_ = 0; // guard; or `writing`
};
static_assert(sizeof(shared_mutex) <= 32);

inline void shared_mutex_guard::unlock() noexcept {
    if (of_ != nullptr) std::exchange(of_, nullptr)->unlock();
}

} // namespace pitsaw::inline v0
