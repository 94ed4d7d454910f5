#include <pitsaw/scope/fan_scope.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

ps::task<ps::stop_reason> reason_of_stop() {
    auto end = co_await ps::as_outcome(ps::sleep(1h));
    co_return end.reason();
}

ps::task<> throws_after(ps::duration span) {
    co_await deaf_sleep(span);
    throw std::runtime_error("boom");
}

TEST(fan_scope, passes_the_reason_of_an_outer_stop_down_to_each_leaf) {
    observed_runtime world;
    auto inner = []() -> ps::task<ps::stop_reason> {
        auto all = co_await ps::when_all(reason_of_stop(), reason_of_stop());
        EXPECT_EQ(std::get<0>(all), std::get<1>(all));
        co_return std::get<0>(all);
    };
    auto work = [&]() -> ps::task<ps::stop_reason> {
        auto first = co_await ps::when_any(inner());
        co_return *std::get<0>(first);
    };
    EXPECT_EQ(run_stopped(world.rt, 5ms, work(), ps::stop_reason::peer_gone).value(),
              ps::stop_reason::peer_gone);
}

TEST(fan_scope, the_first_reason_stands_when_a_scope_and_an_outer_stop_both_ask) {
    observed_runtime world;
    auto seen = ps::stop_reason::none;
    auto loser = [&]() -> ps::task<> {
        auto end = co_await ps::as_outcome(ps::sleep(1h));
        seen = end.reason();
        co_await deaf_sleep(20ms); // the outer stop comes now
    };
    auto work = [&]() -> ps::task<> { (void)co_await ps::when_any(loser(), ps::sleep(1ms)); };
    EXPECT_TRUE(run_stopped(world.rt, 5ms, work()).has_value());
    EXPECT_EQ(seen, ps::stop_reason::sibling_won);
    EXPECT_EQ(world.elapsed(), 21ms);
}

TEST(fan_scope, a_failing_branch_names_itself_as_the_reason) {
    observed_runtime world;
    auto seen = ps::stop_reason::none;
    auto sibling = [&]() -> ps::task<> { seen = co_await reason_of_stop(); };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(sibling(), throws_after(1ms)); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_exception());
    EXPECT_EQ(seen, ps::stop_reason::sibling_failed);
}

TEST(fan_scope, many_branches_of_every_kind_end_together) {
    observed_runtime world;
    auto group = []() -> ps::task<> {
        co_await ps::task_group::run([](ps::task_group& of) -> ps::task<> {
            for (int i = 0; i < 5; ++i) {
                auto child = []() -> ps::task<> { co_await ps::sleep(1h); };
                of.spawn(child());
            }
            co_await ps::sleep(2h);
        });
    };
    auto endless = []() -> ps::async_generator<int> {
        co_await ps::sleep(1h);
        co_yield 1;
    };
    auto work = [&]() -> ps::task<std::size_t> {
        auto numbers = endless();
        auto first =
            co_await ps::when_any(ps::sleep(1h), group(), ps::with_timeout(2h, ps::sleep(3h)),
                                  ps::as_outcome(ps::sleep(1h)), ps::when_all(ps::sleep(1h), ps::sleep(2h)),
                                  numbers.next(), ps::when_any(ps::sleep(1h)), ps::sleep(5ms));
        EXPECT_TRUE(std::get<3>(first)->is_stopped());
        co_return first.first();
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 7u);
    EXPECT_EQ(world.elapsed(), 5ms);
}

// CA13: a branch may use the locals of the coroutine that awaits, for they outlive it on every ending.
TEST(fan_scope, branches_end_before_the_locals_of_the_awaiting_coroutine) {
    observed_runtime world;
    lifetime_log log;
    auto branch = [&](lifetime_log& notes) -> ps::task<> {
        probe const here(notes, "branch");
        co_await ps::sleep(1h);
    };
    auto work = [&](bool throws) -> ps::task<> {
        probe const local(log, "local");
        if (throws)
            co_await ps::when_all(branch(log), throws_after(1ms));
        else
            (void)co_await ps::when_any(branch(log), ps::sleep(1ms));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work(true)).has_exception());
    EXPECT_EQ(log.take(), "~branch ~local");
    EXPECT_TRUE(ps::sync_wait(world.rt, work(false)).has_value());
    EXPECT_EQ(log.take(), "~branch ~local");
    auto stopped = [&]() -> ps::task<> {
        probe const local(log, "local");
        co_await ps::when_all(branch(log), ps::sleep(1h));
    };
    EXPECT_TRUE(run_stopped(world.rt, 5ms, stopped()).is_stopped());
    EXPECT_EQ(log.take(), "~branch ~local");
}

} // namespace
