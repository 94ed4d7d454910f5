#include <pitsaw/scope/with_executor.hpp>

#include "lifetime_log.hpp"
#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

ps::task<int> gives(int value, ps::duration after) {
    co_await ps::sleep(after);
    co_return value;
}

TEST(with_executor, on_ones_own_executor_it_is_just_the_work) {
    observed_runtime world;
    auto throws = []() -> ps::task<> {
        co_await ps::sleep(1ms);
        throw std::runtime_error("boom");
    };
    auto work = [&]() -> ps::task<int> {
        auto const here = (co_await ps::this_task::get_environment()).executor;
        int const got = co_await ps::with_executor(here, gives(4, 1ms));
        (void)co_await ps::with_executor(here, gives, 5, 1ms);
        std::string caught;
        try {
            co_await ps::with_executor(here, throws());
        } catch (std::exception const& what) {
            caught = what.what();
        }
        EXPECT_EQ(caught, "boom");
        co_return got;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 4);
    EXPECT_EQ(world.elapsed(), 3ms);
}

TEST(with_executor, a_stop_reaches_the_work_and_what_completed_is_delivered) {
    observed_runtime world;
    auto deaf = []() -> ps::task<int> {
        co_await deaf_sleep(10ms);
        co_return 4;
    };
    auto work = [&](auto inner) -> ps::task<int> {
        int const got = co_await ps::with_executor(world.rt.get_executor(), std::move(inner));
        co_return got;
    };
    EXPECT_EQ(run_stopped(world.rt, 5ms, work(deaf())).value(), 4);
    observed_runtime again;
    auto stopped = [&]() -> ps::task<> {
        (void)co_await ps::with_executor(again.rt.get_executor(), gives(1, 1h));
    };
    EXPECT_TRUE(run_stopped(again.rt, 5ms, stopped()).is_stopped());
    EXPECT_EQ(again.elapsed(), 5ms);
}

TEST(with_executor, work_that_stops_by_itself_stops_the_awaiting_task) {
    observed_runtime world;
    auto stops = []() -> ps::task<> { co_await stops_itself{}; };
    auto work = [&]() -> ps::task<> {
        co_await ps::with_executor(world.rt.get_executor(), stops);
        ADD_FAILURE();
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).is_stopped());
}

TEST(with_executor_death, the_executor_of_another_runtime_is_a_checked_error) {
    auto elsewhere = [] {
        ps::runtime other;
        ps::runtime own;
        auto work = [&]() -> ps::task<> {
            (void)co_await ps::with_executor(other.get_executor(), gives, 1, 1ms);
        };
        (void)ps::sync_wait(own, work());
    };
    EXPECT_DEATH(elsewhere(), "an executor of another runtime");
}

} // namespace
