#include <pitsaw/executor/environment.hpp>

#include <pitsaw/scope/task_group.hpp>
#include <pitsaw/scope/when_any.hpp>
#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/this_task.hpp>

#include "run_stopped.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;

TEST(environment, is_empty_until_a_scope_fills_it) {
    environment const empty;
    EXPECT_FALSE(static_cast<bool>(empty.executor));
    EXPECT_FALSE(empty.stop.stop_possible());
    EXPECT_EQ(empty.memory, nullptr);
    EXPECT_EQ(empty.local, nullptr);
}

task<environment> here() { co_return co_await this_task::get_environment(); }
task<environment> here_below() {
    auto result = co_await here();
    co_return result;
}
task<bool> inherits() {
    environment const mine = co_await this_task::get_environment();
    auto const below = co_await here_below();
    auto const in_scope = co_await with_timeout(std::chrono::seconds(1), here_below());
    auto const same = [&mine](environment const& other) {
        return other.executor == mine.executor && other.local == mine.local && other.memory == mine.memory;
    };
    co_return same(below) && below.stop == mine.stop&& same(*in_scope) && in_scope->stop != mine.stop;
}

TEST(environment, is_inherited_and_a_scope_changes_only_its_part) {
    int mine = 0;
    runtime_options options;
    options.local = &mine;
    runtime rt = simulated_runtime(options);
    EXPECT_TRUE(sync_wait(rt, inherits()).value());
    EXPECT_EQ(sync_wait(rt, here()).value().local, &mine);
}

} // namespace
