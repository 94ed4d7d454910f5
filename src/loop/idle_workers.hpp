#pragma once
#include <pitsaw/base/atomic.hpp>

#include <bit>
#include <cstdint>
#include <optional>

namespace pitsaw::inline v0 {

/// Which workers of a runtime sleep, and how many search for work: so that an offer wakes one that sleeps,
/// and no more than one at a time.
///
/// | bits    | meaning                         | set                           | cleared                    |
/// |---------|---------------------------------|-------------------------------|----------------------------|
/// | 0 to 55 | worker i sleeps, or is about to | by it, in `fall_asleep`       | in `rise`, or by its waker |
/// | 56 on   | how many search, the woken too  | `begin_search`, `one_to_wake` | `end_search`/`fall_asleep` |
///
/// Who offers writes the offer and then reads this word; who goes to sleep writes this word and then looks
/// for offers, if nobody else searches. Each side writes one and reads the other's, so these are seq_cst: at
/// least one of the two sees the other. A searcher ceases to count as one before its last look, likewise, so
/// that an offer that relied on it is seen by that. All others are relaxed: a read-modify-write reads the
/// latest, and what a search misses, the last look behind it sees.
///
/// Lifetime: its runtime's. Threads: any worker. tests/model/stealing_test.cpp explores it.
class idle_workers {
  public:
    static constexpr std::uint32_t workers_max = 56;

    idle_workers() = default;
    idle_workers(idle_workers&&) = delete;

    /// After an offer: who is to be woken, if somebody sleeps and nobody searches. It counts as searching
    /// from now on.
    [[nodiscard]] auto one_to_wake() noexcept -> std::optional<std::uint32_t> {
        auto word = word_.load(std::memory_order_seq_cst);
        while (sleeping(word) != 0 && searching(word) == 0) {
            auto const chosen = static_cast<std::uint32_t>(std::countr_zero(word));
            if (word_.compare_exchange_weak(word, (word & ~bit_of(chosen)) + one_searches,
                                            std::memory_order_relaxed))
                return chosen;
        }
        return std::nullopt;
    }

    /// Whether one that has nothing to do is to search: not while another does.
    [[nodiscard]] bool begin_search() noexcept {
        auto word = word_.load(std::memory_order_relaxed); // only a guess for the exchange
        while (searching(word) == 0)
            if (word_.compare_exchange_weak(word, word + one_searches, std::memory_order_relaxed))
                return true;
        return false;
    }

    /// It has found something. True: nobody searches any more and somebody sleeps, so it looks whether there
    /// is more, and if so wakes the next.
    [[nodiscard]] bool end_search() noexcept {
        auto const before = word_.fetch_sub(one_searches, std::memory_order_seq_cst);
        return searching(before) == 1 && sleeping(before) != 0;
    }

    /// Before the sleep. True: nobody searches, so it looks once more before it sleeps.
    [[nodiscard]] bool fall_asleep(std::uint32_t const number, bool const has_searched) noexcept {
        auto const change = bit_of(number) - (has_searched ? one_searches : 0);
        return searching(word_.fetch_add(change, std::memory_order_seq_cst) + change) == 0;
    }

    /// After the sleep. True: it was woken to search, and counts as one that does.
    [[nodiscard]] bool rise(std::uint32_t const number) noexcept {
        return (word_.fetch_and(~bit_of(number), std::memory_order_relaxed) & bit_of(number)) == 0;
    }

  private:
    static constexpr std::uint64_t one_searches = std::uint64_t{1} << workers_max;

    static constexpr std::uint64_t bit_of(std::uint32_t const number) noexcept {
        return std::uint64_t{1} << number;
    }
    static constexpr std::uint64_t sleeping(std::uint64_t const word) noexcept {
        return word & (one_searches - 1);
    }
    static constexpr std::uint64_t searching(std::uint64_t const word) noexcept {
        return word >> workers_max;
    }

    detail::atomic<std::uint64_t> word_ = 0; // any worker
};

} // namespace pitsaw::inline v0
