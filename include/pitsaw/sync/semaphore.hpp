#pragma once
#include <pitsaw/sync/wait_queue.hpp>

#include <coroutine>
#include <cstddef>
#include <optional>
#include <utility>

namespace pitsaw::inline v0 {

class semaphore;

/// Permits of a semaphore that go back when this goes.
///
/// ```cpp
/// auto const taken = co_await budget.acquire(megabytes);
/// ```
/// Lifetime: within that of its semaphore; move-only. Threads: one at a time, any. Errors: none. 16 bytes.
class [[nodiscard]] semaphore_permits {
  public:
    semaphore_permits(semaphore_permits&& other) noexcept
        : of_(std::exchange(other.of_, nullptr)), count_(std::exchange(other.count_, 0)) {}
    semaphore_permits& operator=(semaphore_permits&& other) noexcept {
        semaphore_permits old(std::move(*this));
        of_ = std::exchange(other.of_, nullptr);
        count_ = std::exchange(other.count_, 0);
        return *this;
    }
    ~semaphore_permits() { release(); }

    /// Gives them back before the end.
    void release() noexcept;

    /// They do not go back by themselves: whoever is meant to calls `semaphore::release`.
    void forget() noexcept {
        of_ = nullptr;
        count_ = 0;
    }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }

  private:
    friend class semaphore;
    friend class acquire_awaiter;
    semaphore_permits(semaphore& of, std::size_t count) noexcept : of_(&of), count_(count) {}

    semaphore* of_;
    std::size_t count_;
};

/// The leaf of `semaphore::acquire`.
class [[nodiscard]] acquire_awaiter : queued_waiter {
  public:
    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;
    semaphore_permits await_resume() noexcept { return {of_, count_}; }

  private:
    friend class semaphore;
    acquire_awaiter(semaphore& of, std::size_t count) noexcept;

    static void withdrawn(queued_waiter& leaving, wake_list& woken) noexcept;

    semaphore& of_;
    std::size_t count_;
};

/// A number of permits, of which tasks take some and give them back: at most so many do a thing at a time.
///
/// ```cpp
/// ps::semaphore uploads{8};
/// auto const permit = co_await uploads.acquire();      // goes back at the end of the block
/// ```
/// Fair: first come, first served, so that who waits for many is not starved by those who take one each.
///
/// Lifetime: it outlives its permits and its awaits, until each has returned; destroying it while a task
/// waits is a failed check. Threads: any, workers of several runtimes too. Errors: none; who wants more
/// permits than there will ever be waits until a stop. Stopping: a leaf; who had its permits when the stop
/// came delivers them, and who gives up lets those behind it go. Nothing is allocated. 32 bytes.
class semaphore : wait_queue {
  public:
    explicit semaphore(std::size_t permits) noexcept : available_(permits) {}
    semaphore(semaphore&&) = delete;

    /// Takes `count` permits once it is this task's turn and there are as many; gives `semaphore_permits`.
    [[nodiscard]] acquire_awaiter acquire(std::size_t count = 1) noexcept {
        return acquire_awaiter(*this, count);
    }

    /// Does not wait: none if there are too few, or if others wait already.
    [[nodiscard]] std::optional<semaphore_permits> try_acquire(std::size_t count = 1) noexcept;

    /// Adds permits: those of somebody who forgot them, or new ones.
    void release(std::size_t count = 1) noexcept;

    /// How many there are at this moment.
    [[nodiscard]] std::size_t available() const noexcept;

  private:
    friend class acquire_awaiter;

    // With the lock held.
    [[nodiscard]] bool take(std::size_t count) noexcept;
    void let_in(wake_list& woken) noexcept;

    detail::guarded<std::size_t> available_; // guard
};

static_assert(sizeof(semaphore) <= 32);

inline void semaphore_permits::release() noexcept {
    if (auto* const of = std::exchange(of_, nullptr)) of->release(std::exchange(count_, 0));
}

inline acquire_awaiter::acquire_awaiter(semaphore& of, std::size_t const count) noexcept
    : queued_waiter(of, withdrawn), of_(of), count_(count) {}

} // namespace pitsaw::inline v0
