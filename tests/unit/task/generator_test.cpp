#include <pitsaw/task/generator.hpp>

#include "lifetime_log.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;

static_assert(std::ranges::input_range<generator<int>>);
static_assert(std::ranges::view<generator<int>>);
static_assert(!std::ranges::forward_range<generator<int>>);

generator<int> up_to(int end) {
    for (int i = 0; i < end; ++i) co_yield i;
}

TEST(generator, is_a_range) {
    std::vector<int> seen;
    for (int const value : up_to(4)) seen.push_back(value);
    EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3}));
    for (int const value : up_to(0)) FAIL() << value;
}

TEST(generator, goes_through_standard_views) {
    std::vector<int> seen;
    for (int const value : up_to(1'000'000) | std::views::filter([](int i) { return i % 2 == 1; }) |
                               std::views::transform([](int i) { return i * i; }) | std::views::take(3))
        seen.push_back(value);
    EXPECT_EQ(seen, (std::vector<int>{1, 9, 25}));
}

generator<std::unique_ptr<int>> owned(int end) {
    for (int i = 0; i < end; ++i) co_yield std::make_unique<int>(i);
}

TEST(generator, yields_what_can_only_be_moved) {
    std::vector<std::unique_ptr<int>> kept;
    for (auto&& value : owned(3)) kept.push_back(std::move(value));
    ASSERT_EQ(kept.size(), 3u);
    EXPECT_EQ(*kept[2], 2);
}

generator<std::string> the_same_twice() {
    std::string const kept = "a string that is too long for the small buffer";
    std::string changed = kept;
    co_yield kept;
    co_yield changed;
    co_yield changed;
}

TEST(generator, copies_an_lvalue_so_that_the_consumer_may_move) {
    std::vector<std::string> seen;
    for (std::string&& value : the_same_twice()) seen.push_back(std::move(value));
    ASSERT_EQ(seen.size(), 3u);
    EXPECT_EQ(seen[0], seen[1]);
    EXPECT_EQ(seen[1], seen[2]);
}

generator<std::string&> references(std::vector<std::string>& all) {
    for (auto& one : all) co_yield one;
}

TEST(generator, of_references_yields_the_objects_themselves) {
    std::vector<std::string> all{"a", "b"};
    for (std::string& one : references(all)) one += "!";
    EXPECT_EQ(all, (std::vector<std::string>{"a!", "b!"}));
}

generator<int> throws_after(int values) {
    for (int i = 0; i < values; ++i) co_yield i;
    throw std::runtime_error("boom");
}

TEST(generator, what_it_throws_leaves_begin_or_the_step) {
    auto at_once = throws_after(0);
    EXPECT_THROW((void)at_once.begin(), std::runtime_error);
    auto later = throws_after(1);
    auto at = later.begin();
    EXPECT_EQ(*at, 0);
    EXPECT_THROW(++at, std::runtime_error);
    EXPECT_TRUE(at == later.end());
}

generator<int> logs(lifetime_log& log) {
    probe const local(log, "local");
    co_yield 1;
    co_yield 2;
}

TEST(generator, left_early_destroys_its_locals) {
    lifetime_log log;
    for (int const value : logs(log)) {
        log.note(std::to_string(value));
        break;
    }
    EXPECT_EQ(log.take(), "1 ~local");
    {
        auto const never_begun = logs(log);
    }
    EXPECT_EQ(log.take(), "");
}

TEST(generator, assigned_over_it_may_be_begun_again) {
    lifetime_log log;
    auto values = logs(log);
    EXPECT_EQ(*values.begin(), 1);
    values = logs(log);
    EXPECT_EQ(log.take(), "~local");
    EXPECT_EQ(*values.begin(), 1);
}

TEST(generator, may_be_moved_while_it_is_read) {
    auto values = up_to(3);
    auto at = values.begin();
    auto moved = std::move(values);
    ++at;
    EXPECT_EQ(*at, 1);
    EXPECT_FALSE(at == moved.end());
}

TEST(generator_death_test, a_second_begin_is_a_checked_error) {
    auto values = up_to(3);
    (void)values.begin();
    EXPECT_DEATH((void)values.begin(), "begin\\(\\) of a generator twice");
    auto moved = std::move(values);
    EXPECT_DEATH((void)moved.begin(), "begin\\(\\) of a generator twice");
    EXPECT_DEATH((void)values.begin(), "begin\\(\\) of a moved-from generator");
}

} // namespace
