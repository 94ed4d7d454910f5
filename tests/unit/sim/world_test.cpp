#include <pitsaw/sim/world.hpp>

#include "stream_leaves.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>

namespace ps = pitsaw;
using namespace std::chrono_literals;

namespace {

ps::task<std::size_t> echo_once(ps::descriptor left, ps::descriptor right) {
    std::array<std::byte, 16> const out{};
    std::array<std::byte, 16> in{};
    std::size_t got = 0;
    auto const sent = co_await ps::testing::send_some(left, out);
    while (sent.has_value() && got < *sent) {
        auto const received = co_await ps::testing::receive_some(right, std::span(in).subspan(got));
        if (!received.has_value()) break;
        got += *received;
    }
    co_return got;
}

TEST(world, carries_bytes_from_one_end_of_a_stream_to_the_other) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        ps::sim::world world({.seed = seed});
        auto const ends = world.make_stream_pair();
        auto end = world.run(echo_once(ends.first, ends.second));
        ASSERT_TRUE(end.has_value());
        EXPECT_GT(end.value(), 0u);
        EXPECT_EQ(world.readable_bytes(ends.second), 0u);
        EXPECT_EQ(world.imbalance(), "");
    }
}

ps::task<> sleep_an_hour() { co_await ps::sleep(1h); }

TEST(world, an_hour_of_virtual_time_is_over_at_once) {
    ps::sim::world world;
    auto const before = world.now();
    (void)world.run(sleep_an_hour());
    EXPECT_EQ(world.now() - before, 1h);
}

TEST(world, the_same_seed_gives_the_same_times) {
    auto const run = [](std::uint64_t seed) {
        ps::sim::world world({.seed = seed});
        auto const ends = world.make_stream_pair();
        (void)world.run(echo_once(ends.first, ends.second));
        return world.now();
    };
    EXPECT_EQ(run(7), run(7));
    bool is_different = false;
    for (std::uint64_t seed = 8; seed < 40; ++seed) is_different |= run(seed) != run(7);
    EXPECT_TRUE(is_different);
}

TEST(world, reads_the_seed_of_a_failing_run_from_the_environment) {
    ::setenv("PITSAW_SIM_SEED", "42", 1);
    EXPECT_EQ(ps::sim::seed_from_environment(), 42u);
    ::setenv("PITSAW_SIM_SEED", "4x2", 1);
    EXPECT_DEATH((void)ps::sim::seed_from_environment(), "PITSAW_SIM_SEED");
    ::unsetenv("PITSAW_SIM_SEED");
    EXPECT_EQ(ps::sim::seed_from_environment(5), 5u);
}

ps::task<> wait_for_ever() { co_await ps::sleep_until(ps::never); }

TEST(world_death_test, a_wait_that_nothing_can_end_is_a_checked_error) {
    ps::sim::world world;
    EXPECT_DEATH((void)world.run(wait_for_ever()), "deadlock");
}

} // namespace
