#include <pitsaw/task/or_return.hpp>

#include <pitsaw/scope/when_all.hpp>
#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/sleep.hpp>

#include "lifetime_log.hpp"
#include "run_stopped.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <system_error>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using namespace std::chrono_literals;

std::error_code const timed_out = std::make_error_code(std::errc::timed_out);
std::error_code const io_error = std::make_error_code(std::errc::io_error);

io_result<int> three() { return 3; }
io_result<int> failure() { return std::unexpected(timed_out); }

task<io_result<int>> child(lifetime_log& log, bool fails) {
    probe const lock(log, "child.lock");
    auto given = fails ? failure() : three();
    int const value = co_await or_return(std::move(given));
    log.note("went_on");
    co_return value;
}
task<int> parent(lifetime_log& log, bool fails) {
    auto const result = co_await child(log, fails);
    log.note("parent");
    co_return result.value_or(-1);
}

TEST(or_return, unwraps_a_value_and_ends_the_coroutine_with_an_error) {
    lifetime_log log;
    EXPECT_EQ(sync_wait(parent(log, false)).value(), 3);
    EXPECT_EQ(log.take(), "went_on ~child.lock parent");
    EXPECT_EQ(sync_wait(parent(log, true)).value(), -1);
    EXPECT_EQ(log.take(), "~child.lock parent"); // at the end of the full-expression
}

int use(lifetime_log& log, io_result<int> const& result) {
    log.note("use");
    return result.value_or(-1);
}
task<int> use_in_one_expression(lifetime_log& log, bool fails) {
    int const value = use(log, co_await child(log, fails));
    co_return value;
}
task<int> await_a_named_child(lifetime_log& log, bool fails) {
    auto named = child(log, fails);
    auto const result = co_await std::move(named);
    log.note("parent");
    co_return result.value_or(-1);
}

TEST(or_return, after_an_error_the_locals_die_with_the_task_object) {
    lifetime_log log;
    EXPECT_EQ(sync_wait(use_in_one_expression(log, true)).value(), -1);
    EXPECT_EQ(log.take(), "use ~child.lock");
    EXPECT_EQ(sync_wait(await_a_named_child(log, true)).value(), -1);
    EXPECT_EQ(log.take(), "parent ~child.lock");
}

task<io_result<std::unique_ptr<int>>> own(bool fails) {
    co_await this_task::yield();
    if (fails) co_return std::unexpected(io_error);
    co_return std::make_unique<int>(5);
}
task<io_result<int>> of_a_task(bool fails) {
    auto const value = co_await or_return(own(fails));
    co_return *value;
}

TEST(or_return, takes_a_task) {
    EXPECT_EQ(sync_wait(of_a_task(false)).value().value(), 5);
    EXPECT_EQ(sync_wait(of_a_task(true)).value().error(), io_error);
}

class result_later {
  public:
    result_later(io_result<int> result, bool suspends) : result_(std::move(result)), suspends_(suspends) {}
    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        if (!suspends_) return transfer(header);
        header.env->executor->ready.push(header);
        return std::noop_coroutine();
    }
    io_result<int> await_resume() { return std::move(result_); }

  private:
    io_result<int> result_;
    bool suspends_;
};
task<io_result<std::string>> of_a_leaf(bool fails, bool suspends) {
    auto result = fails ? failure() : three();
    int const value = co_await or_return(result_later(std::move(result), suspends));
    co_return std::to_string(value);
}

TEST(or_return, takes_a_leaf) {
    for (bool const suspends : {false, true}) {
        EXPECT_EQ(sync_wait(of_a_leaf(false, suspends)).value().value(), "3");
        EXPECT_EQ(sync_wait(of_a_leaf(true, suspends)).value().error(), timed_out);
    }
}

task<io_result<void>> succeed_or_not(bool fails) {
    co_await this_task::yield();
    if (fails) co_return std::unexpected(io_error);
    co_return io_result<void>();
}
task<io_result<void>> of_void(lifetime_log& log, bool fails) {
    co_await or_return(succeed_or_not(fails));
    log.note("after_task");
    io_result<void> ready;
    co_await or_return(ready); // an lvalue is copied
    io_result<void> failed = std::unexpected(timed_out);
    co_await or_return(std::move(failed));
    log.note("NEVER");
    co_return io_result<void>();
}

TEST(or_return, takes_results_without_a_value) {
    lifetime_log log;
    EXPECT_EQ(sync_wait(of_void(log, true)).value().error(), io_error);
    EXPECT_EQ(log.take(), "");
    EXPECT_EQ(sync_wait(of_void(log, false)).value().error(), timed_out);
    EXPECT_EQ(log.take(), "after_task");
}

task<int> cannot_carry(bool of_task) {
    int value = 0;
    if (of_task)
        value = *co_await or_return(own(true));
    else
        value = co_await or_return(failure());
    co_return value;
}
task<> cannot_carry_either() {
    co_await or_return(succeed_or_not(true));
    ADD_FAILURE();
}

TEST(or_return, throws_in_a_coroutine_that_cannot_carry_the_error) {
    for (bool const of_task : {false, true}) {
        try {
            (void)sync_wait(cannot_carry(of_task)).value();
            ADD_FAILURE();
        } catch (std::system_error const& error) {
            EXPECT_EQ(error.code(), of_task ? io_error : timed_out);
        }
    }
    EXPECT_THROW((void)sync_wait(cannot_carry_either()).value(), std::system_error);
}

task<std::expected<int, std::string>> error_of_another_type() {
    co_return std::unexpected(std::string("bad"));
}
task<std::expected<double, std::string>> carries_another_type() {
    int const value = co_await or_return(error_of_another_type());
    co_return value;
}
task<> throws_another_type() { (void)co_await or_return(error_of_another_type()); }

TEST(or_return, carries_errors_of_any_type) {
    EXPECT_EQ(sync_wait(carries_another_type()).value().error(), "bad");
    EXPECT_THROW((void)sync_wait(throws_another_type()).value(), std::bad_expected_access<std::string>);
}

task<std::expected<int, transfer_error>> transfers() {
    co_return std::unexpected(transfer_error(io_error, 7));
}
task<io_result<int>> forgets_progress() {
    auto result = co_await transfers();
    int const value = co_await or_return(forget_progress(std::move(result)));
    co_return value;
}

TEST(or_return, takes_a_transfer_whose_progress_is_forgotten_on_purpose) {
    EXPECT_EQ(sync_wait(forgets_progress()).value().error(), io_error);
}

task<io_result<int>> throws_instead() {
    co_await this_task::yield();
    throw std::runtime_error("boom");
    co_return 1;
}
task<io_result<int>> lets_exceptions_pass() {
    int const value = co_await or_return(throws_instead());
    co_return value;
}

TEST(or_return, lets_an_exception_pass) {
    EXPECT_THROW((void)sync_wait(lets_exceptions_pass()).value(), std::runtime_error);
}

task<io_result<int>> sleeps(lifetime_log& log) {
    probe const local(log, "inner");
    co_await sleep(1h);
    co_return 1;
}
task<io_result<int>> waits_for_sleep(lifetime_log& log) {
    probe const local(log, "outer");
    int const value = co_await or_return(sleeps(log));
    co_return value;
}

TEST(or_return, a_stop_passes_through) {
    lifetime_log log;
    EXPECT_TRUE(run_stopped(5ms, waits_for_sleep(log)).is_stopped());
    EXPECT_EQ(log.take(), "~inner ~outer");
}

task<io_result<int>> of_all(bool fails) {
    auto const both = co_await or_return(when_all(own(false), of_a_task(fails)));
    co_return *std::get<0>(both) + std::get<1>(both);
}

TEST(or_return, takes_a_scope) {
    EXPECT_EQ(sync_wait(of_all(false)).value().value(), 10);
    EXPECT_EQ(sync_wait(of_all(true)).value().error(), io_error);
}

class counts_levels {
  public:
    explicit counts_levels(int& count) : count_(count) {}
    counts_levels(counts_levels&&) = delete;
    ~counts_levels() { ++count_; }

  private:
    int& count_;
};
task<io_result<int>> chain(int level, int& destroyed, bool fails) {
    counts_levels const local(destroyed);
    int value = 1;
    if (level > 0)
        value += co_await or_return(chain(level - 1, destroyed, fails));
    else if (fails)
        value = co_await or_return(failure());
    co_return value;
}

// Unoptimised frames of the native stack are larger: docs/design/0005 promises the depth from -O1 on.
#if defined(__OPTIMIZE__)
constexpr int chain_length = 20'000;
#else
constexpr int chain_length = 4'000;
#endif

TEST(or_return, passes_a_result_through_20000_frames) {
    int destroyed = 0;
    EXPECT_EQ(sync_wait(chain(chain_length - 1, destroyed, false)).value().value(), chain_length);
    EXPECT_EQ(destroyed, chain_length);
    destroyed = 0;
    EXPECT_EQ(sync_wait(chain(chain_length - 1, destroyed, true)).value().error(), timed_out);
    EXPECT_EQ(destroyed, chain_length);
}

} // namespace
