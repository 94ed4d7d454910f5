#pragma once
#include <pitsaw/base/check.hpp>
#include <pitsaw/base/intrusive_list.hpp>
#include <pitsaw/base/spin_lock.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <coroutine>
#include <mutex>

namespace pitsaw::inline v0 {

class wait_list;
class wake_list;

/// The lock of a primitive, which guards what it knows and its lists of waiters. Whoever holds it resumes
/// nothing and calls nothing of the user's, but to move or copy a message where a type says so.
struct wait_lock {
    wait_lock() noexcept = default;
    wait_lock(wait_lock&&) = delete;

    mutable spin_lock guard;
};

/// A task that waits for a primitive of `sync`: a leaf in its frame, and an element of one of the primitive's
/// lists.
///
/// Whoever makes its condition true takes it off the list while the lock is held, which decides that it
/// completes, and resumes it once the lock is free. A stop takes the lock too: who still stands in the list
/// leaves it and stops, who does not has been granted what it wanted, and delivers it. So nothing that was
/// granted is lost, and a stop grants nothing.
///
/// Lifetime: in the awaiting frame. Threads: `is_waiting_` and the links belong to who holds the lock; what
/// else it has belongs to its own worker until it stands in the list, then to who grants it.
class queued_waiter : waiter, public intrusive_list_node {
  public:
    /// Once it has left the list, and without the lock: it goes on, on its own worker. From any thread.
    void resume() noexcept;

  protected:
    /// What becomes possible when this waiter has given up: those behind it may have waited for it alone.
    /// Called with the lock held, once it has left its list.
    using on_withdrawal = void (*)(queued_waiter& leaving, wake_list& woken) noexcept;

    explicit queued_waiter(wait_lock& of, on_withdrawal after = nullptr) noexcept
        : waiter(asked), lock_(of), after_withdrawal_(after) {}

    /// The start of every wait. `take()` runs with the lock held: true if it took what is wanted, so that
    /// there is nothing to wait for. Where it did not, another thread may grant it from the moment it stands
    /// in `list`; it goes on when its worker gets to it, after this.
    template <class Take>
    [[nodiscard]] std::coroutine_handle<> wait_unless(promise_header& header, wait_list& list,
                                                      Take take) noexcept {
        if (header.env->stop.stop_requested()) return header.stop_here();
        return take_or_wait(header, list, take);
    }

    /// The same for who has looked for a stop itself, since it changes something then too. Once is enough: a
    /// stop that comes after that look finds this waiter.
    template <class Take>
    [[nodiscard]] std::coroutine_handle<> take_or_wait(promise_header& header, wait_list& list,
                                                       Take take) noexcept;

    /// The leaf of a stop slot, if it was made with `after`, which tells of what kind it is; else null.
    [[nodiscard]] static queued_waiter* find(waiter* leaf, on_withdrawal const after) noexcept {
        if (leaf == nullptr || leaf->ask != asked) return nullptr;
        auto* const found = static_cast<queued_waiter*>(leaf);
        return found->after_withdrawal_ == after ? found : nullptr;
    }

    /// With the lock held: it has neither been granted what it wants, nor given up.
    [[nodiscard]] bool is_waiting() const noexcept { return is_waiting_; }

  private:
    friend class wait_list;

    static void asked(waiter& self) noexcept;

    wait_lock& lock_;
    on_withdrawal after_withdrawal_;
    promise_header* header_ = nullptr;
    detail::guarded<bool> is_waiting_ = false;
};

/// Waiters that have been granted what they wanted; resumed in their order when this goes.
///
///     wake_list woken; // before the lock is taken, so that it goes after it
///     std::scoped_lock const held(guard);
///     while (has_room()) waiting.grant(woken);
///
/// Threads: one.
class wake_list {
  public:
    wake_list() = default;
    wake_list(wake_list&&) = delete;
    ~wake_list() {
        while (auto* const next = granted_.pop_front()) next->resume();
    }

  private:
    friend class wait_list;

    intrusive_list<queued_waiter> granted_;
};

/// Those who wait for one thing, first come, first served.
///
/// Lifetime: destroying it with waiters is a failed check. Threads: who holds the primitive's lock. No
/// allocation.
class wait_list {
  public:
    wait_list() noexcept = default;
    wait_list(wait_list&&) = delete;
    ~wait_list() {
        check(waiting_.empty(), "a primitive of sync is destroyed while tasks wait: they have to end first");
    }

    [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }

    /// The one whose turn it is; there is one.
    [[nodiscard]] queued_waiter& front() const noexcept { return waiting_.front(); }

    /// The first completes, once `woken` goes.
    void grant(wake_list& woken) noexcept {
        auto& first = *waiting_.pop_front();
        first.is_waiting_ = false;
        woken.granted_.push_back(first);
    }

    void grant_all(wake_list& woken) noexcept {
        while (!empty()) grant(woken);
    }

    /// The first waits behind those in `next`, a list under the same lock.
    void pass_on(wait_list& next) noexcept { next.waiting_.push_back(*waiting_.pop_front()); }

  private:
    friend class queued_waiter;

    void push(queued_waiter& last, promise_header& header) noexcept {
        last.header_ = &header;
        last.is_waiting_ = true;
        waiting_.push_back(last);
    }

    intrusive_list<queued_waiter> waiting_;
};

/// What most primitives have: one lock, one list.
struct wait_queue : wait_lock, wait_list {};

template <class Take>
std::coroutine_handle<> queued_waiter::take_or_wait(promise_header& header, wait_list& list,
                                                    Take take) noexcept {
    lock_.guard.lock();
    bool const has_it = take();
    if (!has_it) list.push(*this, header);
    lock_.guard.unlock();
    return has_it ? transfer(header) : header.suspend_at(*this);
}

} // namespace pitsaw::inline v0
