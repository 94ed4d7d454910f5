#include <pitsaw/task/this_task.hpp>

#include <pitsaw/scope/when_all.hpp>
#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>
#include <pitsaw/time/sleep.hpp>

#include "lifetime_log.hpp"
#include "run_stopped.hpp"

#include <gtest/gtest.h>

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using namespace std::chrono_literals;

task<> write(lifetime_log& log, char const* word) {
    for (int i = 0; i < 3; ++i) {
        log.note(word);
        co_await this_task::yield();
    }
}
task<> write_both(lifetime_log& log) { (void)co_await when_all(write(log, "a"), write(log, "b")); }

TEST(yield, lets_every_other_ready_task_run_once) {
    lifetime_log log;
    EXPECT_TRUE(sync_wait(write_both(log)).has_value());
    EXPECT_EQ(log.take(), "a b a b a b");
}

task<void*> read_local() { co_return (co_await this_task::get_environment()).local; }
task<void*> read_local_below() {
    auto const result = co_await with_timeout(1s, read_local());
    co_return result.value_or(nullptr);
}

TEST(get_environment, reads_what_the_scope_gave) {
    int mine = 0;
    runtime_options options;
    options.local = &mine;
    runtime rt = simulated_runtime(options);
    EXPECT_EQ(sync_wait(rt, read_local()).value(), &mine);
    EXPECT_EQ(sync_wait(rt, read_local_below()).value(), &mine);
}

task<bool> is_on(executor_ref expected) {
    environment const& here = co_await this_task::get_environment();
    co_return here.executor == expected&& here.executor.is_current();
}

TEST(get_environment, names_the_worker) {
    runtime rt = simulated_runtime();
    EXPECT_TRUE(sync_wait(rt, is_on(rt.get_executor())).value());
    EXPECT_FALSE(rt.get_executor().is_current());
}

// ---- The async stack. OB1

struct seen_frame {
    std::string function;
    unsigned line;
};
using seen_stack = std::vector<seen_frame>;

void record(seen_stack& into) {
    for (auto const& at : this_task::async_stack()) {
        EXPECT_NE(std::string_view(at.file_name()).find("this_task_test.cpp"), std::string_view::npos);
        into.push_back({at.function_name(), at.line()});
    }
}

task<> throw_here(seen_stack& seen) {
    record(seen);
    throw std::runtime_error("boom");
    co_return;
}
constexpr unsigned first_line = std::source_location::current().line();
task<> fourth(seen_stack& seen) { co_await throw_here(seen); }
task<> third(seen_stack& seen) { co_await fourth(seen); }
task<> second(seen_stack& seen) { (void)co_await with_timeout(1s, third(seen)); }
task<> first(seen_stack& seen) { (void)co_await when_all(second(seen), this_task::yield()); }
task<> root(seen_stack& seen) { co_await first(seen); }

TEST(async_stack, of_an_exception_five_awaits_deep_has_five_frames_with_their_lines) { // OB1
    seen_stack seen;
    EXPECT_TRUE(sync_wait(root(seen)).has_exception());
    ASSERT_EQ(seen.size(), 5u);
    char const* const names[] = {"fourth", "third", "second", "first", "root"};
    for (unsigned i = 0; i < 5; ++i) {
        EXPECT_NE(seen[i].function.find(names[i]), std::string::npos) << seen[i].function;
        EXPECT_EQ(seen[i].line, first_line + 1 + i);
    }
}

task<> after_a_suspension(seen_stack& seen) {
    co_await this_task::yield();
    co_await sleep(1ms);
    record(seen);
}
task<> calls(seen_stack& seen) { co_await after_a_suspension(seen); }

TEST(async_stack, is_there_after_a_suspension_too) {
    seen_stack seen;
    EXPECT_TRUE(sync_wait(calls(seen)).has_value());
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_NE(seen[1].function.find("calls"), std::string::npos);
}

task<int> one() { co_return 1; }
task<> comes_back(seen_stack& seen) {
    int const value = co_await one();
    EXPECT_EQ(value, 1);
    record(seen);
}

TEST(async_stack, ends_with_the_running_task_when_a_child_has_ended) {
    seen_stack seen;
    EXPECT_TRUE(sync_wait(comes_back(seen)).has_value());
    ASSERT_EQ(seen.size(), 1u);
}

TEST(async_stack, is_empty_outside_a_task) {
    EXPECT_TRUE(this_task::async_stack().empty());
    EXPECT_FALSE(this_task::is_unwinding());
}

} // namespace
