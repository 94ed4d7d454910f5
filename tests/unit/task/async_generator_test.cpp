#include <pitsaw/task/async_generator.hpp>

#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/or_return.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/sleep.hpp>

#include "lifetime_log.hpp"
#include "run_stopped.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using namespace std::chrono_literals;

async_generator<std::unique_ptr<int>> count(int end, duration between) {
    for (int i = 0; i < end; ++i) {
        co_await sleep(between);
        co_yield std::make_unique<int>(i);
    }
}
task<int> sum(int end, duration between) {
    auto values = count(end, between);
    int total = 0;
    while (auto value = co_await values.next()) total += **value;
    auto const after_the_end = co_await values.next();
    EXPECT_FALSE(after_the_end.has_value());
    co_return total;
}

TEST(async_generator, gives_its_values_then_nothing_for_ever) {
    EXPECT_EQ(sync_wait(sum(100, 1ms)).value(), 4950);
    EXPECT_EQ(sync_wait(sum(100, 0ms)).value(), 4950);
    EXPECT_EQ(sync_wait(sum(0, 0ms)).value(), 0);
    EXPECT_EQ(sync_wait(sum(20'000, -1ms)).value(), 199'990'000);
}

async_generator<int> throws_after_one(lifetime_log& log) {
    probe const local(log, "generator");
    co_yield 1;
    co_await sleep(1ms);
    throw std::runtime_error("boom");
}
task<> consume_until_it_throws(lifetime_log& log) {
    auto values = throws_after_one(log);
    auto const first = co_await values.next();
    log.note(std::to_string(first.value_or(0)));
    try {
        (void)co_await values.next();
    } catch (std::runtime_error const& thrown) {
        log.note(thrown.what());
    }
    auto const after = co_await values.next();
    log.note(after.has_value() ? "?" : "over");
}

TEST(async_generator, what_it_throws_leaves_that_next_and_then_it_is_over) {
    lifetime_log log;
    EXPECT_TRUE(sync_wait(consume_until_it_throws(log)).has_value());
    EXPECT_EQ(log.take(), "1 ~generator boom over");
}

async_generator<int> waits_after_one(lifetime_log& log) {
    probe const local(log, "generator");
    co_yield 1;
    co_await sleep(1h);
    log.note("NEVER");
    co_yield 2;
}
task<> consume_all(lifetime_log& log) {
    probe const local(log, "consumer");
    auto values = waits_after_one(log);
    while (auto const value = co_await values.next()) log.note(std::to_string(*value));
    log.note("NEVER");
}

TEST(async_generator, a_stop_inside_it_stops_the_consumer) {
    lifetime_log log;
    EXPECT_TRUE(run_stopped(1s, consume_all(log)).is_stopped());
    EXPECT_EQ(log.take(), "1 ~generator ~consumer");
}

class notes_unwinding {
  public:
    notes_unwinding(lifetime_log& log, char const* name) : log_(log), name_(name) {}
    notes_unwinding(notes_unwinding&&) = delete;
    ~notes_unwinding() {
        log_.note(std::string(name_) + (this_task::is_unwinding() ? ":unwinding" : ":calm"));
    }

  private:
    lifetime_log& log_;
    char const* name_;
};
async_generator<int> yields_then_waits(lifetime_log& log, char const* name) {
    notes_unwinding const local(log, name);
    co_yield 1;
    co_await sleep(1h);
}
task<> drop_between_values(lifetime_log& log) {
    {
        auto dropped = yields_then_waits(log, "between_values");
        auto const first = co_await dropped.next();
        log.note(std::to_string(first.value_or(0)));
    }
    {
        auto const untouched = yields_then_waits(log, "untouched");
    }
    auto stopped = yields_then_waits(log, "in_the_middle");
    (void)co_await stopped.next();
    auto const end = co_await as_outcome(stopped.next());
    log.note(end.is_stopped() ? "stopped" : "?");
    auto const after = co_await as_outcome(stopped.next());
    log.note(after.is_stopped() ? "still" : "?");
}

TEST(async_generator, dropped_between_two_values_its_locals_go_at_once) {
    lifetime_log log;
    EXPECT_TRUE(run_stopped(1s, drop_between_values(log)).has_value());
    EXPECT_EQ(log.take(), "1 between_values:calm stopped still in_the_middle:unwinding");
}

task<int> time_out_the_first(lifetime_log& log) {
    auto values = waits_after_one(log);
    auto const first = co_await with_timeout(1s, values.next());
    EXPECT_TRUE(first.has_value() && first->has_value());
    auto const second = co_await with_timeout(1s, values.next());
    EXPECT_FALSE(second.has_value());
    log.note(second.error() == std::errc::timed_out ? "timed_out" : "?");
    try { // what is missing must not look like the end of the sequence
        (void)co_await with_timeout(1s, values.next());
    } catch (std::system_error const& ended) {
        co_return ended.code() == std::errc::operation_canceled ? 1 : 2;
    }
    co_return 0;
}

TEST(async_generator, is_over_once_a_timeout_has_stopped_it) {
    lifetime_log log;
    EXPECT_EQ(run_stopped(1h, time_out_the_first(log)).value(), 1);
    EXPECT_EQ(log.take(), "timed_out ~generator");
}

io_result<int> fails() { return std::unexpected(std::make_error_code(std::errc::io_error)); }
async_generator<int> cannot_carry_errors() {
    int const value = co_await or_return(fails());
    co_yield value;
}
task<> consume_one() {
    auto values = cannot_carry_errors();
    (void)co_await values.next();
}

TEST(async_generator, or_return_in_it_throws) {
    EXPECT_THROW((void)sync_wait(consume_one()).value(), std::system_error);
}

async_generator<int> from_another(int end) {
    auto values = count(end, 1ms);
    while (auto value = co_await values.next()) co_yield **value * 2;
}
task<int> sum_of_nested() {
    auto values = from_another(10);
    int total = 0;
    while (auto const value = co_await values.next()) total += *value;
    co_return total;
}

TEST(async_generator, may_consume_another) {
    EXPECT_EQ(sync_wait(sum_of_nested()).value(), 90);
    EXPECT_TRUE(run_stopped(5ms, sum_of_nested()).is_stopped());
}

task<> move_and_assign(lifetime_log& log) {
    auto values = waits_after_one(log);
    auto const first = co_await values.next();
    EXPECT_TRUE(first.has_value());
    auto moved = std::move(values);
    moved = waits_after_one(log);
    log.note("assigned");
    auto const again = co_await moved.next();
    EXPECT_TRUE(again.has_value());
}

TEST(async_generator, assigning_over_it_frees_the_old_one) {
    lifetime_log log;
    EXPECT_TRUE(sync_wait(move_and_assign(log)).has_value());
    EXPECT_EQ(log.take(), "~generator assigned ~generator");
}

async_generator<int> never_waits() {
    for (int i = 0;; ++i) co_yield i;
}
task<int> consume_without_end(int& seen) {
    auto values = never_waits();
    for (;;) {
        if (seen == 1'000) co_return 1; // the stop was not noticed
        seen += (co_await values.next()).has_value() ? 1 : 0;
    }
}

TEST(async_generator, a_body_that_never_waits_is_stopped_at_next) {
    int seen = 0;
    EXPECT_TRUE(run_stopped(before_the_start, consume_without_end(seen)).is_stopped());
    EXPECT_EQ(seen, 0);
}

TEST(async_generator_death_test, next_of_a_moved_from_one_is_a_checked_error) {
    lifetime_log log;
    auto values = waits_after_one(log);
    auto const moved = std::move(values);
    EXPECT_DEATH((void)values.next(), "next\\(\\) of a moved-from async_generator");
}

} // namespace
