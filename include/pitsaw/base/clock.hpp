#pragma once
#include <chrono>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace pitsaw::inline v0 {

/// The one clock of the library: steady, in nanoseconds. It has no `now()`, for the driver owns time: ask
/// `driver::now()` or an executor, so that a simulated world can hold every clock in its hand.
struct clock {
    using rep = std::int64_t;
    using period = std::nano;
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::time_point<clock, duration>;
    static constexpr bool is_steady = true;
};

/// Holds a product of two 64-bit numbers.
__extension__ using wide_integer = __int128;

using duration = clock::duration;
using time_point = clock::time_point;

/// A deadline that does not come: nothing is armed for it.
inline constexpr time_point never = time_point::max();

/// Converts any chrono duration to nanoseconds, rounding up (so that nothing fires early) and saturating at
/// both ends (`std::chrono::hours::max()` is 292 years, not an overflow). NaN counts as zero.
template <class Rep, class Period>
[[nodiscard]] constexpr duration to_duration(std::chrono::duration<Rep, Period> const value) noexcept {
    if constexpr (std::is_floating_point_v<Rep>) {
        using wide = std::chrono::duration<long double, std::nano>;
        auto const nanoseconds = std::chrono::duration_cast<wide>(value).count();
        if (!(nanoseconds == nanoseconds)) return duration::zero();
        if (nanoseconds >= static_cast<long double>(duration::max().count())) return duration::max();
        if (nanoseconds <= static_cast<long double>(duration::min().count())) return duration::min();
        auto const whole = duration(static_cast<std::int64_t>(nanoseconds));
        return static_cast<long double>(whole.count()) < nanoseconds ? whole + duration(1) : whole;
    } else {
        using ratio = std::ratio_divide<Period, std::nano>;
        auto const scaled = static_cast<wide_integer>(value.count()) * ratio::num;
        auto const floored = scaled / ratio::den;
        auto const rounded = floored + ((scaled % ratio::den) > 0 ? 1 : 0);
        if (rounded >= duration::max().count()) return duration::max();
        if (rounded <= duration::min().count()) return duration::min();
        return duration(static_cast<std::int64_t>(rounded));
    }
}

/// `at + by`, held at `never` and at the beginning of time instead of wrapping.
[[nodiscard]] constexpr time_point saturating_add(time_point const at, duration const by) noexcept {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(at.time_since_epoch().count(), by.count(), &sum))
        return time_point(duration(sum));
    return by.count() > 0 ? never : time_point::min();
}

/// `a - b`, saturating.
[[nodiscard]] constexpr duration saturating_difference(time_point const a, time_point const b) noexcept {
    std::int64_t difference = 0;
    if (!__builtin_sub_overflow(a.time_since_epoch().count(), b.time_since_epoch().count(), &difference))
        return duration(difference);
    return a > b ? duration::max() : duration::min();
}

} // namespace pitsaw::inline v0
