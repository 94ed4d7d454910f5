#include <pitsaw/compute/parallel.hpp>

#include "observed_runtime.hpp"
#include "workers.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using namespace ps::testing;

namespace {

ps::runtime_options thieves(std::uint32_t const count) {
    auto options = workers(count);
    options.scheduling = ps::scheduling::stealing;
    return options;
}

template <class T> ps::task<T> awaits(ps::computation<T> work) {
    co_return co_await ps::compute(std::move(work));
}

TEST(parallel_for, takes_each_step_once) {
    watchdog const guard;
    for (std::uint32_t const count : {1u, 2u, 4u})
        for (std::uint64_t const grain : {0u, 1u, 7u, 100'000u}) {
            ps::runtime rt(thieves(count));
            std::vector<std::atomic<int>> taken(10'000);
            auto step = [&](std::size_t const i) { ++taken[i]; };
            EXPECT_TRUE(ps::sync_wait(rt, awaits(ps::parallel_for(std::size_t{0}, taken.size(), step, grain)))
                            .has_value());
            int wrong = 0;
            for (auto const& each : taken) wrong += each == 1 ? 0 : 1;
            EXPECT_EQ(wrong, 0);
        }
}

TEST(parallel_for, of_an_empty_or_a_turned_range_does_nothing) {
    observed_runtime world;
    int steps = 0;
    auto step = [&](int) { ++steps; };
    EXPECT_TRUE(ps::sync_wait(world.rt, awaits(ps::parallel_for(3, 3, step))).has_value());
    EXPECT_TRUE(ps::sync_wait(world.rt, awaits(ps::parallel_for(3, -3, step))).has_value());
    EXPECT_EQ(steps, 0);
}

TEST(parallel_for, knows_the_ends_of_a_type) {
    observed_runtime world;
    std::uint64_t steps = 0;
    auto step = [&](auto) { ++steps; };
    using small = std::numeric_limits<std::int8_t>;
    EXPECT_TRUE(
        ps::sync_wait(world.rt, awaits(ps::parallel_for(small::min(), small::max(), step, 3))).has_value());
    EXPECT_EQ(steps, 255u);
    using large = std::numeric_limits<std::int64_t>;
    auto const few = [&](std::int64_t const i) {
        steps += i == large::max() - 1 || i == large::max() - 2 ? 1 : 0;
    };
    EXPECT_TRUE(
        ps::sync_wait(world.rt, awaits(ps::parallel_for(large::max() - 2, large::max(), few))).has_value());
    EXPECT_EQ(steps, 257u);
}

TEST(parallel_for, awaits_steps_that_are_computations) {
    observed_runtime world;
    int sum = 0;
    auto adds = [&](int const i) -> ps::computation<> {
        sum += i;
        co_return;
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, awaits(ps::parallel_for(0, 100, adds))).has_value());
    EXPECT_EQ(sum, 4950);
}

TEST(parallel_for, goes_through_a_range) {
    watchdog const guard;
    ps::runtime rt(thieves(2));
    std::vector<int> numbers(5000, 1);
    auto doubles = [](int& each) { each *= 2; };
    auto work = [&]() -> ps::task<> { co_await ps::compute(ps::parallel_for(numbers, doubles)); };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_EQ(numbers, std::vector<int>(5000, 2));
}

TEST(parallel_for, an_exception_ends_it) {
    observed_runtime world;
    int steps = 0;
    auto throws = [&](int const i) {
        ++steps;
        if (i == 10) throw std::runtime_error("step 10");
    };
    auto const end = ps::sync_wait(world.rt, awaits(ps::parallel_for(0, 1000, throws, 1)));
    ASSERT_TRUE(end.has_exception());
    EXPECT_EQ(text_of(end.exception()), "step 10");
    EXPECT_EQ(steps, 11);
}

TEST(parallel_reduce, combines_neighbours_from_left_to_right) {
    watchdog const guard;
    std::string expected;
    for (int i = 0; i < 500; ++i) expected += std::to_string(i);
    for (std::uint32_t const count : {1u, 3u})
        for (std::uint64_t const grain : {0u, 1u, 9u}) {
            ps::runtime rt(thieves(count));
            auto all = ps::parallel_reduce(
                0, 500, std::string(), [](int const i) { return std::to_string(i); },
                std::plus<std::string>(), grain);
            EXPECT_EQ(ps::sync_wait(rt, awaits(std::move(all))).value(), expected);
        }
}

TEST(parallel_reduce, of_nothing_is_the_identity) {
    observed_runtime world;
    auto none = ps::parallel_reduce(0, 0, 42, std::identity(), std::plus());
    EXPECT_EQ(ps::sync_wait(world.rt, awaits(std::move(none))).value(), 42);
}

TEST(parallel_reduce, of_floating_point_is_the_same_in_each_run) {
    watchdog const guard;
    auto once = [](std::uint32_t const count) {
        ps::runtime rt(thieves(count));
        return ps::sync_wait(rt, awaits(ps::parallel_reduce(
                                     1, 100'000, 0.0, [](int const i) { return 1.0 / i; }, std::plus())))
            .value();
    };
    auto const first = once(1);
    EXPECT_GT(first, 12.0);
    for (int round = 0; round < 5; ++round) EXPECT_EQ(once(3), first);
}

} // namespace
