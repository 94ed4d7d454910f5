#include <pitsaw/base/clock.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace {

using namespace pitsaw;
using namespace std::chrono_literals;

TEST(clock, durations_round_up_so_that_nothing_is_early) {
    using third = std::chrono::duration<std::int64_t, std::ratio<1, 3'000'000'000>>; // of a nanosecond
    EXPECT_EQ(to_duration(third(1)), 1ns);
    EXPECT_EQ(to_duration(third(3)), 1ns);
    EXPECT_EQ(to_duration(third(4)), 2ns);
    EXPECT_EQ(to_duration(third(-1)), 0ns);
    EXPECT_EQ(to_duration(third(-4)), -1ns);
    EXPECT_EQ(to_duration(std::chrono::duration<double>(0.25)), 250ms);
    EXPECT_EQ(to_duration(std::chrono::duration<double, std::nano>(1.5)), 2ns);
    EXPECT_EQ(to_duration(std::chrono::duration<double, std::nano>(-1.5)), -1ns);
    static_assert(to_duration(1h) == 3'600'000'000'000ns);
}

// TM1: converting must not overflow on the way.
TEST(clock, durations_saturate_at_both_ends) {
    EXPECT_EQ(to_duration(std::chrono::hours::max()), duration::max());
    EXPECT_EQ(to_duration(std::chrono::hours::min()), duration::min());
    EXPECT_EQ(to_duration(std::chrono::milliseconds::max()), duration::max());
    EXPECT_EQ(to_duration(duration::max()), duration::max());
    EXPECT_EQ(to_duration(duration::max() - 1ns), duration::max() - 1ns);
    EXPECT_EQ(to_duration(duration::min()), duration::min());
    using real = std::chrono::duration<double>;
    EXPECT_EQ(to_duration(real(std::numeric_limits<double>::infinity())), duration::max());
    EXPECT_EQ(to_duration(real(-std::numeric_limits<double>::infinity())), duration::min());
    EXPECT_EQ(to_duration(real(std::numeric_limits<double>::quiet_NaN())), duration::zero());
    using unsigned_hours = std::chrono::duration<std::uint64_t, std::ratio<3600>>;
    EXPECT_EQ(to_duration(unsigned_hours::max()), duration::max());
}

TEST(clock, sums_and_differences_saturate) {
    auto const origin = time_point();
    EXPECT_EQ(saturating_add(origin, 5ns), time_point(5ns));
    EXPECT_EQ(saturating_add(never, 1ns), never);
    EXPECT_EQ(saturating_add(never, -1ns), never - 1ns);
    EXPECT_EQ(saturating_add(time_point(1s), duration::max()), never);
    EXPECT_EQ(saturating_add(time_point(-1s), duration::min()), time_point::min());
    EXPECT_EQ(saturating_difference(never, time_point::min()), duration::max());
    EXPECT_EQ(saturating_difference(time_point::min(), never), duration::min());
    EXPECT_EQ(saturating_difference(time_point(3s), time_point(1s)), 2s);
}

} // namespace
