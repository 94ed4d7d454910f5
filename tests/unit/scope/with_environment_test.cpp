#include <pitsaw/scope/with_environment.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <memory_resource>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

ps::task<ps::environment> environment_below() {
    co_await ps::sleep(1ms);
    co_return co_await ps::this_task::get_environment();
}

TEST(with_environment, changes_one_thing_for_what_is_below_and_nothing_for_the_rest) {
    observed_runtime world;
    std::pmr::monotonic_buffer_resource memory;
    int local = 0;
    auto work = [&]() -> ps::task<> {
        auto const outside = co_await environment_below();
        auto const in_memory = co_await ps::with_memory(memory, environment_below());
        EXPECT_EQ(in_memory.memory, &memory);
        EXPECT_EQ(in_memory.local, outside.local);
        EXPECT_EQ(in_memory.stop, outside.stop);
        auto const both = co_await ps::with_memory(memory, ps::with_local(&local, environment_below()));
        EXPECT_EQ(both.memory, &memory);
        EXPECT_EQ(both.local, &local);
        auto const after = co_await environment_below();
        EXPECT_EQ(after.memory, outside.memory);
        EXPECT_EQ(after.local, outside.local);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(with_environment, is_inherited_through_scopes) {
    observed_runtime world;
    int local = 0;
    int seen = 0;
    auto looks = [&]() -> ps::task<> {
        auto const& env = co_await ps::this_task::get_environment();
        if (env.local == &local) ++seen;
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            group.spawn(looks());
            co_await ps::when_all(looks(), ps::shield(looks()));
            (void)co_await ps::with_timeout(1ms, looks());
        });
    };
    auto outer = [&]() -> ps::task<> { co_await ps::with_local(&local, work()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, outer()).has_value());
    EXPECT_EQ(seen, 4);
}

TEST(with_environment, a_stop_reaches_what_is_below_and_what_completed_is_delivered) {
    observed_runtime world;
    int local = 0;
    auto deaf = []() -> ps::task<int> {
        co_await deaf_sleep(10ms);
        co_return 4;
    };
    auto delivers = [&]() -> ps::task<int> {
        int const got = co_await ps::with_local(&local, deaf());
        co_return got;
    };
    EXPECT_EQ(run_stopped(world.rt, 5ms, delivers()).value(), 4);
    observed_runtime again;
    auto stops = [&]() -> ps::task<> { co_await ps::with_local(&local, ps::sleep(1h)); };
    EXPECT_TRUE(run_stopped(again.rt, 5ms, stops()).is_stopped());
    EXPECT_EQ(again.elapsed(), 5ms);
}

} // namespace
