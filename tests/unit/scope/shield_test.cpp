#include <pitsaw/scope/shield.hpp>

#include "lifetime_log.hpp"
#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

ps::task<int> commit(lifetime_log& log, ps::duration takes) {
    log.note("begun");
    co_await ps::sleep(takes);
    co_await ps::sleep(takes);
    log.note("done");
    co_return 4;
}

TEST(shield, a_stop_before_keeps_it_from_beginning) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<> { (void)co_await ps::shield(commit(log, 5ms)); };
    EXPECT_TRUE(run_stopped(world.rt, before_the_start, work()).is_stopped());
    EXPECT_EQ(log.take(), "");
}

TEST(shield, a_stop_during_it_is_noticed_at_the_first_leaf_after_it) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<> {
        int const got = co_await ps::shield(commit(log, 5ms));
        log.note(std::to_string(got));
        co_await ps::sleep(0ms);
        log.note("never");
    };
    EXPECT_TRUE(run_stopped(world.rt, 3ms, work()).is_stopped());
    EXPECT_EQ(log.take(), "begun done 4");
    EXPECT_EQ(world.elapsed(), 10ms);
}

TEST(shield, a_stop_after_it_finds_nothing_of_it) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<> {
        (void)co_await ps::shield(commit(log, 1ms));
        co_await ps::sleep(1h);
    };
    EXPECT_TRUE(run_stopped(world.rt, 5ms, work()).is_stopped());
    EXPECT_EQ(log.take(), "begun done");
    EXPECT_EQ(world.elapsed(), 5ms);
}

TEST(shield, the_work_sees_no_stop_and_passes_its_failure_on) {
    observed_runtime world;
    auto looks = []() -> ps::task<bool> {
        co_await ps::sleep(10ms);
        auto const& env = co_await ps::this_task::get_environment();
        co_return env.stop.stop_possible();
    };
    auto throws = []() -> ps::task<> {
        co_await ps::sleep(10ms);
        throw std::runtime_error("boom");
    };
    auto work = [&]() -> ps::task<std::string> {
        bool const could = co_await ps::shield(looks());
        co_return could ? "could" : "could not";
    };
    EXPECT_EQ(run_stopped(world.rt, 5ms, work()).value(), "could not");
    observed_runtime again;
    auto fails = [&]() -> ps::task<> { co_await ps::shield(throws()); };
    EXPECT_EQ(text_of(run_stopped(again.rt, 5ms, fails()).exception()), "boom");
}

TEST(shield, a_timeout_inside_it_works) {
    observed_runtime world;
    auto work = []() -> ps::task<bool> {
        auto got = co_await ps::shield(ps::with_timeout(20ms, ps::sleep(1h)));
        co_return got.has_value();
    };
    EXPECT_FALSE(run_stopped(world.rt, 5ms, work()).value());
    EXPECT_EQ(world.elapsed(), 20ms);
}

TEST(shield, work_that_stops_by_itself_stops_the_awaiting_task) {
    observed_runtime world;
    auto stops = []() -> ps::task<> { co_await stops_itself{}; };
    auto work = [&]() -> ps::task<> {
        co_await ps::shield(stops());
        ADD_FAILURE();
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).is_stopped());
}

TEST(shield, gives_leaves_references_and_move_only_values) {
    observed_runtime world;
    int target = 1;
    auto refers = [&]() -> ps::task<int&> { co_return target; };
    auto owns = []() -> ps::task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); };
    auto work = [&]() -> ps::task<int> {
        co_await ps::shield(ps::sleep(1ms));
        int& same = co_await ps::shield(refers());
        same = 2;
        auto owned = co_await ps::shield(owns());
        co_return *owned;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 3);
    EXPECT_EQ(target, 2);
}

} // namespace
