#pragma once
#include <atomic>
#include <cstdint>

namespace pitsaw::inline v0 {

/// What a worker shows of itself to the watchdog: a number that changes with each resume, and is even while
/// no coroutine runs.
///
/// Of the standard's atomics, since it decides nothing: who reads a number too old looks again.
///
/// Threads: the worker writes, the watchdog reads. 8 bytes.
class pulse {
  public:
    void resumes() noexcept {
        number_.store((number_.load(std::memory_order_relaxed) + 2) | 1, std::memory_order_relaxed);
    }
    void rests() noexcept {
        number_.store((number_.load(std::memory_order_relaxed) + 1) & ~std::uint64_t{1},
                      std::memory_order_relaxed);
    }

    [[nodiscard]] auto number() const noexcept -> std::uint64_t {
        return number_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] static auto is_at_rest(std::uint64_t number) noexcept -> bool { return number % 2 == 0; }

  private:
    std::atomic<std::uint64_t> number_ = 0;
};

} // namespace pitsaw::inline v0
