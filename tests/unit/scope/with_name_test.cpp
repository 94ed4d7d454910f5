#include <pitsaw/scope/with_name.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

ps::task<std::string> name_here() {
    co_await ps::sleep(1ms);
    co_return std::string(ps::this_task::name());
}
ps::task<std::uint32_t> id_here() {
    auto const first = ps::this_task::id();
    co_await ps::sleep(1ms);
    EXPECT_EQ(ps::this_task::id(), first);
    co_return first;
}

TEST(with_name, what_is_below_has_the_name_and_the_rest_has_none) {
    observed_runtime world;
    auto const work = [&]() -> ps::task<> {
        EXPECT_EQ(co_await name_here(), "");
        std::string outer = "a session whose name does not fit into a string itself";
        auto const inside = [&]() -> ps::task<std::string> {
            EXPECT_EQ(ps::this_task::name(), outer);
            EXPECT_EQ(co_await ps::with_name("inner", name_here()), "inner");
            auto const both = co_await ps::when_all(name_here(), ps::shield(name_here()));
            EXPECT_EQ(std::get<0>(both), outer);
            EXPECT_EQ(std::get<1>(both), outer);
            co_return std::string(ps::this_task::name());
        };
        EXPECT_EQ(co_await ps::with_name(outer, inside()), outer);
        EXPECT_EQ(ps::this_task::name(), "");
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(this_task_id, is_each_tasks_own_and_stays) {
    observed_runtime world;
    auto const work = [&]() -> ps::task<> {
        auto const mine = co_await id_here();
        EXPECT_EQ(co_await id_here(), mine); // one chain of awaits is one task
        auto const others = co_await ps::when_all(id_here(), id_here());
        EXPECT_NE(std::get<0>(others), std::get<1>(others));
        EXPECT_NE(std::get<0>(others), mine);
        EXPECT_NE(mine, 0u);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

ps::task<> fails_a_check() {
    co_await ps::this_task::yield();
    ps::check(false, "on purpose");
}
ps::task<> is_named() { co_await ps::with_name("session 10.0.0.7", fails_a_check()); }
ps::task<> has_no_name() { (void)co_await ps::when_all(fails_a_check(), ps::sleep(1ms)); }

TEST(with_name_death_test, the_async_stack_of_a_failed_check_names_the_task) {
    EXPECT_DEATH((void)ps::sync_wait(is_named()), "in task [0-9]+ \"session 10.0.0.7\"");
    EXPECT_DEATH((void)ps::sync_wait(has_no_name()), "in task [0-9]+\n");
}

TEST(with_name_death_test, outside_a_task_there_is_neither) {
    EXPECT_DEATH((void)ps::this_task::id(), "outside a task");
    EXPECT_DEATH((void)ps::this_task::name(), "outside a task");
}

} // namespace
