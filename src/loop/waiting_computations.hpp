#pragma once
#include <pitsaw/base/atomic.hpp>
#include <pitsaw/base/intrusive_list.hpp>
#include <pitsaw/base/spin_lock.hpp>
#include <pitsaw/executor/compute_lane.hpp>

#include <cstddef>
#include <mutex>

namespace pitsaw::inline v0 {

/// The computations that wait for their turn on one lane, in their order.
///
/// Intrusive, so bounded by the tasks that wait for them. Lifetime: owns nothing. Threads: any, by a lock.
/// Errors: none.
class waiting_computations {
  public:
    waiting_computations() = default;
    waiting_computations(waiting_computations&&) = delete;

    void push(compute_root& last) noexcept {
        std::scoped_lock const held(lock_);
        queue_.push_back(last);
        // seq_cst, for idle_workers: as the end of an offer_queue.
        size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    }

    /// The first, or null.
    [[nodiscard]] compute_root* pop() noexcept {
        if (size_.load(std::memory_order_relaxed) == 0) return nullptr; // the lock is for who finds something
        std::scoped_lock const held(lock_);
        auto* const first = queue_.pop_front();
        if (first != nullptr) shrink();
        return first;
    }

    /// Takes it out, wherever it stands. False: it has been taken.
    [[nodiscard]] bool withdraw(compute_root& one) noexcept {
        std::scoped_lock const held(lock_);
        if (!one.is_linked()) return false;
        intrusive_list<compute_root>::unlink(one);
        shrink();
        return true;
    }

    /// A hint, as `offer_queue::empty`.
    [[nodiscard]] bool empty() const noexcept { return size_.load(std::memory_order_seq_cst) == 0; }

  private:
    void shrink() noexcept {
        size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }

    spin_lock lock_;
    intrusive_list<compute_root> queue_;   ///< under the lock
    detail::atomic<std::size_t> size_ = 0; ///< written under the lock
};

} // namespace pitsaw::inline v0
