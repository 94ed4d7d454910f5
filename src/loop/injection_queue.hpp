#pragma once
#include <pitsaw/base/atomic.hpp>
#include <pitsaw/base/spin_lock.hpp>
#include <pitsaw/executor/continuation.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

namespace pitsaw::inline v0 {

/// The offers for which a worker's ring had no room, the oldest first, of all workers of a runtime.
///
/// Intrusive, so bounded by the children that exist. Lifetime: owns nothing. Threads: any, by a lock that is
/// held for as many steps as elements are moved. Errors: none.
class injection_queue {
  public:
    injection_queue() = default;
    injection_queue(injection_queue&&) = delete;

    void push(std::span<continuation* const> const added) noexcept {
        std::scoped_lock const held(lock_);
        for (auto* const each : added) queue_.push(*each);
        // seq_cst: as the end of an offer_queue.
        size_.store(size_.load(std::memory_order_relaxed) + added.size(), std::memory_order_seq_cst);
    }

    /// The oldest; returns how many.
    [[nodiscard]] std::size_t take(std::span<continuation*> const into) noexcept {
        if (size_.load(std::memory_order_relaxed) == 0) return 0; // the lock is for who will find something
        std::scoped_lock const held(lock_);
        std::size_t count = 0;
        while (count < into.size() && !queue_.empty()) into[count++] = queue_.pop().next;
        size_.store(size_.load(std::memory_order_relaxed) - count, std::memory_order_relaxed);
        return count;
    }

    /// A hint, as `offer_queue::empty`.
    [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_seq_cst); }

  private:
    spin_lock lock_;
    ready_queue queue_;                    ///< under the lock
    detail::atomic<std::size_t> size_ = 0; ///< written under the lock
};

} // namespace pitsaw::inline v0
