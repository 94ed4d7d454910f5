#include <pitsaw/scope/unconstrained.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

ps::task<int> one() { co_return 1; }
ps::task<> ends_it(bool& is_over) {
    co_await ps::this_task::yield();
    is_over = true;
}

template <class Round> ps::task<int> unconstrained_rounds(int const how_many, bool& is_over, Round round) {
    int before = 0;
    for (int i = 0; i < how_many; ++i) {
        if (!is_over) ++before;
        co_await round();
    }
    co_return before;
}
template <class Round> int rounds_unconstrained(int const how_many, Round round) {
    observed_runtime world;
    auto const work = [&]() -> ps::task<int> {
        bool is_over = false;
        auto const both = co_await ps::when_all(
            ps::this_task::unconstrained(unconstrained_rounds(how_many, is_over, round)), ends_it(is_over));
        co_return std::get<0>(both);
    };
    return ps::sync_wait(world.rt, work()).value();
}

TEST(unconstrained, gives_no_turn_to_others_while_it_does_not_wait) {
    EXPECT_EQ(rounds_unconstrained(10'000, [] { return one(); }), 10'000);
    EXPECT_EQ(rounds_unconstrained(10'000, [] { return ps::sleep(0ms); }), 10'000);
    EXPECT_EQ(rounds_unconstrained(10'000, [] { return ps::this_task::checkpoint(); }), 10'000);
}

TEST(unconstrained, gives_way_where_it_says_so_itself) {
    EXPECT_LE(rounds_unconstrained(100, [] { return ps::this_task::yield(); }), 3);
}

TEST(unconstrained, sees_a_stop) {
    auto const goes_on = []() -> ps::task<> {
        for (;;) co_await ps::this_task::checkpoint();
    };
    auto const work = [&]() -> ps::task<> { co_await ps::this_task::unconstrained(goes_on()); };
    EXPECT_TRUE(run_stopped(before_the_start, work()).is_stopped());
}

} // namespace
