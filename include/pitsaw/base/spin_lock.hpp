#pragma once
#include <pitsaw/base/atomic.hpp>

namespace pitsaw::inline v0 {

/// A lock of one byte for the few instructions in which a queue between threads changes.
///
///     std::scoped_lock const held(lock);
///     waiting.push_back(added);
///
/// Lifetime: what it stands in may be destroyed by who locks it next, for `unlock` is the last use. Threads:
/// any, for a handful of instructions: nothing is resumed, allocated or called of the user's meanwhile,
/// except where a type says so. A holder that is pre-empted is waited for with `yield`. Errors: locking it
/// twice by one thread never ends. 1 byte.
class spin_lock {
  public:
    constexpr spin_lock() noexcept = default;
    spin_lock(spin_lock&&) = delete;

    void lock() noexcept {
        for (unsigned looks = 0;; ++looks) {
            // Acquire, with the release in unlock: all that the lock guards.
            if (!is_locked_.exchange(true, std::memory_order_acquire)) return;
            // Relaxed: only a guess for the exchange.
            for (; is_locked_.load(std::memory_order_relaxed); ++looks) detail::pause_thread(looks);
        }
    }

    /// Release, with the acquire in lock.
    void unlock() noexcept { is_locked_.store(false, std::memory_order_release); }

  private:
    detail::atomic<bool> is_locked_ = false; // any thread
};
static_assert(sizeof(spin_lock) == 1 || sizeof(detail::atomic<bool>) != 1);

} // namespace pitsaw::inline v0
