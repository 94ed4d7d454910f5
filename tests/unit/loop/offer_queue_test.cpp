#include "loop/offer_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace {

using pitsaw::continuation;
using pitsaw::offer_queue;

TEST(offer_queue, the_oldest_goes_first_whoever_takes_it) {
    offer_queue offers;
    std::array<continuation, 5> made;
    for (auto& each : made) EXPECT_TRUE(offers.push(each));
    std::array<continuation*, 8> taken{};
    EXPECT_EQ(offers.take(taken, offer_queue::one), 1u);
    EXPECT_EQ(taken[0], &made[0]);
    EXPECT_EQ(offers.take(taken, offer_queue::half), 2u);
    EXPECT_EQ(taken[0], &made[1]);
    EXPECT_EQ(taken[1], &made[2]);
    EXPECT_EQ(offers.take(taken, offer_queue::half), 1u);
    EXPECT_EQ(offers.take(taken, offer_queue::half), 1u); // of one, all of it
    EXPECT_EQ(taken[0], &made[4]);
    EXPECT_EQ(offers.take(taken, offer_queue::half), 0u);
    EXPECT_TRUE(offers.empty());
}

TEST(offer_queue, full_it_says_so_and_goes_on_when_there_is_room_also_around_its_end) {
    offer_queue offers;
    std::vector<std::unique_ptr<continuation>> made;
    for (std::size_t i = 0; i < 3 * offer_queue::size_max; ++i)
        made.push_back(std::make_unique<continuation>());
    std::size_t next = 0;
    std::size_t first = 0;
    while (offers.push(*made[next])) ++next;
    EXPECT_EQ(next, offer_queue::size_max);
    std::array<continuation*, offer_queue::size_max / 2> taken{};
    while (first < made.size()) {
        auto const count = offers.take(taken, offer_queue::half);
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(taken[i], made[first + i].get());
        first += count;
        while (next < made.size() && offers.push(*made[next])) ++next;
    }
    EXPECT_TRUE(offers.empty());
}

TEST(offer_queue, of_its_owner_and_two_thieves_each_offer_is_had_by_one) {
    constexpr std::size_t count = 60'000;
    struct counted : continuation {
        std::atomic<int> taken = 0;
    };
    std::unique_ptr<counted[]> const made(new counted[count]);
    offer_queue offers;
    std::atomic<bool> is_over = false;
    auto const take_all = [&](offer_queue::amount how) {
        std::array<continuation*, offer_queue::size_max / 2> taken{};
        auto const got = offers.take(taken, how);
        for (std::size_t i = 0; i < got; ++i) ++static_cast<counted*>(taken[i])->taken;
    };
    auto const steals = [&] {
        while (!is_over) take_all(offer_queue::half);
    };
    {
        std::jthread const one(steals);
        std::jthread const other(steals);
        for (std::size_t i = 0; i < count; ++i)
            while (!offers.push(made[i])) take_all(offer_queue::one);
        while (!offers.empty()) take_all(offer_queue::one);
        is_over = true;
    }
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(made[i].taken, 1) << i;
}

} // namespace
