#include <pitsaw/base/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace {

using namespace pitsaw;

static_assert(std::uniform_random_bit_generator<random_source>);

// From the authors' C code, seeded through their splitmix64.
TEST(random, the_same_seed_gives_the_published_numbers_everywhere) {
    random_source zero(0);
    for (std::uint64_t const expected :
         {0x99ec5f36cb75f2b4u, 0xbf6e1f784956452au, 0x1a5f849d4933e6e0u, 0x6aa594f1262d2d2cu}) {
        EXPECT_EQ(zero(), expected);
    }
    random_source other(1234567);
    EXPECT_EQ(other(), 0x30a3a1c363600467u);
    static_assert(random_source(0)() == 0x99ec5f36cb75f2b4u);
}

TEST(random, a_copy_repeats_the_original) {
    random_source original(5);
    (void)original();
    random_source copy = original;
    EXPECT_EQ(copy(), original());
}

TEST(random, bounded_numbers_stay_in_bounds_and_reach_them) {
    random_source random(1);
    for (std::uint64_t const bound : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{7},
                                      std::uint64_t{1} << 63, std::numeric_limits<std::uint64_t>::max()}) {
        for (int i = 0; i < 1000; ++i) ASSERT_LT(random.below(bound), bound);
    }
    bool low = false, high = false;
    for (int i = 0; i < 1000; ++i) {
        auto const number = random.between(-3, 4);
        ASSERT_TRUE(-3 <= number && number <= 4);
        low |= number == -3;
        high |= number == 4;
    }
    EXPECT_TRUE(low && high);
    EXPECT_EQ(random.between(9, 9), 9);
    constexpr auto least = std::numeric_limits<std::int64_t>::min(),
                   most = std::numeric_limits<std::int64_t>::max();
    EXPECT_NE(random.between(least, most), random.between(least, most));
    EXPECT_GE(random.between(most - 1, most), most - 1);
}

TEST(random, bounded_numbers_are_equally_likely) {
    // With this bound a modulo, or an uncorrected product, makes every second result twice as likely as the
    // rest.
    constexpr std::uint64_t bound = std::numeric_limits<std::uint64_t>::max() / 3 * 2;
    random_source random(2);
    int low = 0, odd = 0;
    constexpr int rounds = 100'000;
    for (int i = 0; i < rounds; ++i) {
        auto const number = random.below(bound);
        low += number < bound / 2;
        odd += number % 2 == 1;
    }
    EXPECT_NEAR(low, rounds / 2, 1000); // six standard deviations are 949
    EXPECT_NEAR(odd, rounds / 2, 1000);
    std::vector<int> counts(6);
    for (int i = 0; i < rounds; ++i) ++counts[random.below(6)];
    for (int const count : counts) EXPECT_NEAR(count, rounds / 6, 800);
}

TEST(random, a_chance_comes_about_as_often_as_it_says) {
    random_source random(3);
    int hits = 0;
    for (int i = 0; i < 100'000; ++i) {
        EXPECT_FALSE(random.chance(0.0));
        EXPECT_FALSE(random.chance(-1.0));
        EXPECT_FALSE(random.chance(std::numeric_limits<double>::quiet_NaN()));
        EXPECT_TRUE(random.chance(1.0));
        hits += random.chance(0.25);
    }
    EXPECT_NEAR(hits, 25'000, 850);
}

TEST(random, a_chance_takes_one_number_whatever_the_probability) {
    random_source first(4), second(4);
    (void)first.chance(0.0);
    (void)second.chance(1.0);
    EXPECT_EQ(first(), second());
}

TEST(random, shuffling_permutes_and_reaches_every_order) {
    random_source random(5);
    std::vector<int> counts(6);
    for (int round = 0; round < 6000; ++round) {
        std::vector<int> cards{0, 1, 2};
        random.shuffle(std::span(cards));
        ++counts[static_cast<std::size_t>(cards[0] * 2 + (cards[1] > cards[2]))];
        std::ranges::sort(cards);
        ASSERT_EQ(cards, (std::vector{0, 1, 2}));
    }
    for (int const count : counts) EXPECT_NEAR(count, 1000, 180);
    std::vector<int> none;
    random.shuffle(std::span(none));
}

} // namespace
