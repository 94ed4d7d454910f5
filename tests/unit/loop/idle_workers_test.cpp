#include "loop/idle_workers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace {

using pitsaw::idle_workers;

TEST(idle_workers, a_burst_of_offers_wakes_one_that_sleeps_until_it_has_searched) {
    idle_workers idle;
    for (std::uint32_t i = 1; i < 5; ++i) EXPECT_TRUE(idle.fall_asleep(i, false));
    EXPECT_EQ(idle.one_to_wake(), 1u);
    for (int i = 0; i < 10'000; ++i) EXPECT_EQ(idle.one_to_wake(), std::nullopt);
    EXPECT_TRUE(idle.rise(1)); // it was woken to search
    EXPECT_EQ(idle.one_to_wake(), std::nullopt);
    EXPECT_TRUE(idle.end_search()); // nobody searches, and others sleep
    EXPECT_EQ(idle.one_to_wake(), 2u);
}

TEST(idle_workers, nobody_is_woken_while_all_are_awake) {
    idle_workers idle;
    EXPECT_EQ(idle.one_to_wake(), std::nullopt);
    EXPECT_TRUE(idle.fall_asleep(55, false));
    EXPECT_FALSE(idle.rise(55)); // by itself
    EXPECT_EQ(idle.one_to_wake(), std::nullopt);
}

TEST(idle_workers, one_searches_at_a_time_and_the_others_sleep_meanwhile_without_another_look) {
    idle_workers idle;
    EXPECT_TRUE(idle.begin_search());
    EXPECT_FALSE(idle.begin_search());
    EXPECT_FALSE(idle.fall_asleep(2, false));
    EXPECT_EQ(idle.one_to_wake(), std::nullopt);
    EXPECT_TRUE(idle.fall_asleep(1, true)); // it searched and found nothing: it looks once more
    EXPECT_EQ(idle.one_to_wake(), 1u);
    EXPECT_TRUE(idle.rise(1));
    EXPECT_FALSE(idle.rise(2));
    EXPECT_FALSE(idle.end_search()); // nobody is left to be woken
}

} // namespace
