#pragma once
#include <pitsaw/base/clock.hpp>

#include <cstdint>

namespace pitsaw::inline v0 {

/// Every choice of a simulated driver, from one seed (splitmix64).
class sim_choices {
  public:
    explicit sim_choices(std::uint64_t seed) noexcept : state_(seed) {}

    [[nodiscard]] auto bits() noexcept -> std::uint64_t {
        auto z = (state_ += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    /// 0 to `bound` - 1; `bound` is at most 2^32.
    [[nodiscard]] auto below(std::uint64_t bound) noexcept -> std::uint64_t {
        return ((bits() >> 32) * bound) >> 32;
    }
    [[nodiscard]] auto chance(unsigned percent) noexcept -> bool {
        return percent != 0 && below(100) < percent;
    }
    [[nodiscard]] auto up_to(duration most) noexcept -> duration {
        return most <= duration::zero() ? duration::zero()
                                        : duration(static_cast<std::int64_t>(
                                              bits() % (static_cast<std::uint64_t>(most.count()) + 1)));
    }

  private:
    std::uint64_t state_;
};

} // namespace pitsaw::inline v0
