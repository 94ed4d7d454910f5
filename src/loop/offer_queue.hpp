#pragma once
#include <pitsaw/base/atomic.hpp>
#include <pitsaw/executor/continuation.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace pitsaw::inline v0 {

/// What one worker offers to all: a ring that it alone fills, and from whose other end everybody takes, so
/// that the oldest goes first and nothing in it is out of anybody's reach.
///
///     offer_queue offers;
///     if (!offers.push(child)) ...                      // it is full: its owner makes room
///     std::array<continuation*, offer_queue::size_max / 2> taken;
///     auto const count = offers.take(taken, offer_queue::half);
///
/// What is taken is read before the exchange that takes it, and stands if that succeeds: nothing can have
/// been written over it, for its owner sees room only behind an exchange.
///
/// Lifetime: owns nothing. Threads: `push` its owner, the rest any. Errors: none. Sizes: 2 KiB and two lines.
/// Source: the ring is that of Go's scheduler (runtime/proc.go, runqgrab), with one end for all takers.
class offer_queue {
  public:
    static constexpr std::size_t size_max = 256;
    using slot = detail::atomic<continuation*>;

    /// `size`: how many it holds, a power of two.
    explicit offer_queue(std::size_t const size = size_max) : last_(size - 1), ring_(new slot[size]) {}
    offer_queue(offer_queue&&) = delete;

    /// False: it is full.
    [[nodiscard]] bool push(continuation& offered) noexcept {
        auto const end = end_.load(std::memory_order_relaxed); // its own
        // acquire: pairs with the exchange in take(), whose reads of the place to be written precede it.
        if (end - begin_.load(std::memory_order_acquire) > last_) return false;
        place(end).store(&offered, std::memory_order_relaxed); // end_ publishes it
        // seq_cst, for idle_workers: the offer, then the look at who sleeps. As a release: with take().
        end_.store(end + 1, std::memory_order_seq_cst);
        return true;
    }

    /// Takes the oldest: one, or half of what there is, rounded up. Returns how many, at most `into.size()`.
    enum amount : std::uint8_t { one, half };

    [[nodiscard]] std::size_t take(std::span<continuation*> const into, amount const how) noexcept {
        // acquire: who reads what an exchange wrote sees the end that it knew.
        auto begin = begin_.load(std::memory_order_acquire);
        for (;;) {
            auto const there = end_.load(std::memory_order_acquire) - begin; // acquire: with push()
            auto const count = std::min<std::uint64_t>(
                how == one ? std::min<std::uint64_t>(there, 1) : there - there / 2, into.size());
            if (count == 0) return 0;
            for (std::uint64_t i = 0; i < count; ++i)
                into[i] = place(begin + i).load(std::memory_order_relaxed); // end_ published it
            // acq_rel: the release with push() and take(); the acquire for another round.
            if (begin_.compare_exchange_weak(begin, begin + count, std::memory_order_acq_rel,
                                             std::memory_order_acquire))
                return count;
        }
    }

    /// How many were ever pushed, as far as is known.
    [[nodiscard]] std::uint64_t pushed() const noexcept { return end_.load(std::memory_order_relaxed); }

    /// Whether there is no more than one. A hint.
    [[nodiscard]] bool is_small() const noexcept {
        return end_.load(std::memory_order_relaxed) - begin_.load(std::memory_order_relaxed) <= 1;
    }

    /// A hint, but after a seq_cst write of the caller's it sees each offer that was made before.
    [[nodiscard]] bool empty() const noexcept {
        return end_.load(std::memory_order_seq_cst) == begin_.load(std::memory_order_relaxed);
    }

  private:
    [[nodiscard]] slot& place(std::uint64_t const number) noexcept { return ring_[number & last_]; }

    std::uint64_t const last_;           ///< a mask: the size, less one
    std::unique_ptr<slot[]> const ring_; ///< its owner writes what is in there

    alignas(64) detail::atomic<std::uint64_t> begin_ = 0; ///< any thread
    alignas(64) detail::atomic<std::uint64_t> end_ = 0;   ///< its owner
};

} // namespace pitsaw::inline v0
