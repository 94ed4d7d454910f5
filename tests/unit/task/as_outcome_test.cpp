#include <pitsaw/task/as_outcome.hpp>

#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/sleep.hpp>

#include "lifetime_log.hpp"
#include "run_stopped.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using namespace std::chrono_literals;

task<std::unique_ptr<int>> value_at(duration when) {
    co_await sleep(when);
    co_return std::make_unique<int>(7);
}
task<std::unique_ptr<int>> failure_at(duration when) {
    co_await sleep(when);
    throw std::runtime_error("boom");
    co_return nullptr;
}
task<std::string> describe(task<std::unique_ptr<int>> work) {
    auto end = co_await as_outcome(std::move(work));
    std::string text = end.is_stopped() ? "stopped" : end.has_exception() ? "exception" : "value";
    if (end.has_value()) text += std::to_string(*end.value());
    if (end.is_stopped()) text += end.reason() == stop_reason::peer_gone ? ":peer_gone" : ":?";
    co_return text;
}

TEST(as_outcome, gives_every_ending_as_data) {
    EXPECT_EQ(run_stopped(20ms, describe(value_at(10ms))).value(), "value7");
    EXPECT_EQ(run_stopped(20ms, describe(failure_at(10ms))).value(), "exception");
    EXPECT_EQ(run_stopped(20ms, describe(value_at(30ms)), stop_reason::peer_gone).value(),
              "stopped:peer_gone");
    EXPECT_EQ(run_stopped(before_the_start, describe(value_at(30ms)), stop_reason::peer_gone).value(),
              "stopped:peer_gone");
}

task<bool> outcome_of_leaves(lifetime_log& log) {
    auto const first = co_await as_outcome(sleep(10ms));
    auto const second = co_await as_outcome(this_task::yield());
    log.note(first.has_value() && second.has_value() ? "values" : "?");
    auto const third = co_await as_outcome(sleep(10ms));
    log.note(third.is_stopped() ? "stopped" : "?");
    auto const fourth = co_await as_outcome(this_task::yield());
    co_return fourth.is_stopped();
}

TEST(as_outcome, takes_a_leaf_without_a_task_around_it) {
    lifetime_log log;
    EXPECT_TRUE(run_stopped(15ms, outcome_of_leaves(log)).value());
    EXPECT_EQ(log.take(), "values stopped");
}

task<int&> refer_to(int& object) { co_return object; }
task<bool> is_the_same(int& object) {
    auto end = co_await as_outcome(refer_to(object));
    co_return &end.value() == &object;
}

TEST(as_outcome, takes_a_task_of_a_reference) {
    int object = 0;
    EXPECT_TRUE(sync_wait(is_the_same(object)).value());
}

task<> next_leaf_after_the_stop(lifetime_log& log) {
    auto const end = co_await as_outcome(value_at(1h));
    log.note(end.is_stopped() ? "stopped" : "?");
    co_await sleep(1ms);
    log.note("NEVER");
}

TEST(as_outcome, the_stop_stays_requested) {
    lifetime_log log;
    EXPECT_TRUE(run_stopped(20ms, next_leaf_after_the_stop(log)).is_stopped());
    EXPECT_EQ(log.take(), "stopped");
}

task<int> nested_outcomes() {
    auto const end = co_await as_outcome(as_outcome(as_outcome(value_at(1h))));
    co_return end.has_value() ? 1 : 0;
}

TEST(as_outcome, the_innermost_takes_the_stop) { EXPECT_EQ(run_stopped(20ms, nested_outcomes()).value(), 1); }

task<> swallow(int times) {
    for (int i = 0; i < times; ++i) {
        auto const end = co_await as_outcome(sleep(1h));
        EXPECT_TRUE(end.is_stopped());
    }
}
task<int> no_leaf() { co_return 1; }
task<> swallow_with_a_value_between(int before, int after) {
    for (int i = 0; i < before; ++i) (void)co_await as_outcome(sleep(1h));
    auto const calm = co_await as_outcome(no_leaf());
    EXPECT_TRUE(calm.has_value());
    for (int i = 0; i < after; ++i) (void)co_await as_outcome(sleep(1h));
}

TEST(as_outcome, the_thousandth_stop_in_a_row_is_logged_once) {
    std::vector<std::string> lines;
    runtime_options options;
    options.on_log = [&lines](std::string_view line) { lines.emplace_back(line); };
    runtime rt = simulated_runtime(options);
    EXPECT_TRUE(run_stopped(rt, before_the_start, swallow(999)).has_value());
    EXPECT_EQ(lines.size(), 0u);
    EXPECT_TRUE(sync_wait(rt, swallow(2500)).has_value());
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].find("swallowed 1000 stops in a row"), std::string::npos) << lines[0];
    EXPECT_NE(lines[0].find("as_outcome_test.cpp:"), std::string::npos) << lines[0];
    lines.clear();
    EXPECT_TRUE(sync_wait(rt, swallow_with_a_value_between(999, 999)).has_value());
    EXPECT_EQ(lines.size(), 0u);
}

} // namespace
