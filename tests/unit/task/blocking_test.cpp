#include <pitsaw/task/blocking.hpp>

#include "each_driver.hpp"
#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/scope/when_all.hpp>
#include <pitsaw/scope/when_any.hpp>
#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/or_return.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/sleep.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using namespace std::chrono_literals;

using blocking_on = on_a_driver;
INSTANTIATE_TEST_SUITE_P(blocking, blocking_on, every_driver(), name_of_driver);
using blocking_on_threads = on_a_driver;
INSTANTIATE_TEST_SUITE_P(blocking, blocking_on_threads, real_drivers(), name_of_driver);

task<io_result<void>> returns_every_kind() {
    EXPECT_EQ(co_await blocking([] { return 1; }), 1);
    bool was_called = false;
    co_await blocking([&] { was_called = true; });
    EXPECT_TRUE(was_called);
    auto const owned = co_await blocking([] { return std::make_unique<int>(2); });
    EXPECT_EQ(*owned, 2);
    int referred = 3;
    int& same = co_await blocking([&]() -> int& { return referred; });
    EXPECT_EQ(&same, &referred);
    EXPECT_EQ(co_await or_return(blocking([]() -> io_result<int> { return 4; })), 4);
    std::string text = "long enough to be on the heap, so that it is moved";
    EXPECT_EQ(
        co_await blocking([](std::string const& given, int add) { return given.size() + add; }, text, 1),
        text.size() + 1);
    co_return {};
}
TEST_P(blocking_on, gives_back_what_the_function_returns) { run(returns_every_kind()); }

task<io_result<void>> throws() {
    auto const end = co_await as_outcome(blocking([]() -> int { throw std::runtime_error("from there"); }));
    EXPECT_TRUE(end.has_exception());
    if (end.has_exception()) {
        EXPECT_EQ(text_of(end.exception()), "from there");
    }
    co_return {};
}
TEST_P(blocking_on, what_the_function_throws_arrives_at_the_awaiter) { run(throws()); }

task<io_result<void>> comes_home() {
    auto const here = std::this_thread::get_id();
    for (int i = 0; i < 100; ++i) {
        auto const there = co_await blocking([] {
            EXPECT_EQ(current_executor(), nullptr); // nobody is the current task there
            return std::this_thread::get_id();
        });
        EXPECT_NE(there, here);
        EXPECT_EQ(std::this_thread::get_id(), here);
    }
    co_return {};
}
TEST_P(blocking_on_threads, runs_on_another_thread_and_goes_on_on_the_worker) { run(comes_home()); }

task<io_result<void>> goes_on_meanwhile() {
    std::latch timers_went_on(3);
    auto const ticks = [&]() -> task<> {
        for (int i = 0; i < 3; ++i) {
            co_await sleep(100us);
            timers_went_on.count_down();
        }
    };
    // It hangs if the worker is held up.
    (void)co_await when_all(ticks(), blocking([&] { timers_went_on.wait(); }));
    co_return {};
}
TEST_P(blocking_on_threads, the_worker_goes_on_while_the_function_blocks) { run(goes_on_meanwhile()); } // LW9

task<io_result<void>> delivers_after_a_stop() {
    std::atomic<bool> has_begun = false;
    auto const job = [&](inplace_stop_token const stop) {
        has_begun = true;
        while (!stop.stop_requested()) std::this_thread::yield();
        return 5; // it was asked, and has its result nevertheless
    };
    auto const leaves_when_begun = [&]() -> task<> {
        while (!has_begun) co_await sleep(50us);
    };
    auto const both = co_await when_any(leaves_when_begun(), blocking(job));
    EXPECT_TRUE(std::get<0>(both).has_value());
    EXPECT_EQ(std::get<1>(both).value_or(0), 5);
    co_return {};
}
TEST_P(blocking_on_threads, a_job_that_runs_is_awaited_and_its_result_is_not_lost) {
    run(delivers_after_a_stop());
}

task<io_result<void>> withdraws() {
    blocking_options one;
    one.threads_max = 1;
    blocking_pool pool(one);
    std::latch open(1);
    std::atomic<bool> has_begun = false;
    bool was_called = false;
    auto const gives_up = [&]() -> task<> {
        while (!has_begun) co_await sleep(50us);
        auto const end = co_await with_timeout(1ms, blocking(pool, [&] { was_called = true; }));
        EXPECT_EQ(end.error(), std::errc::timed_out);
        open.count_down(); // so it did not wait for the job before it
    };
    auto const holds = [&] {
        has_begun = true;
        open.wait();
    };
    (void)co_await when_all(blocking(pool, holds), gives_up());
    EXPECT_FALSE(was_called);
    co_return {};
}
TEST_P(blocking_on_threads, a_job_that_has_not_begun_is_withdrawn) { run(withdraws()); }

task<> blocks_if_it_may(bool& was_called) {
    co_await blocking([&] { was_called = true; });
    ADD_FAILURE() << "the stop was there before the await";
}
TEST(blocking, is_not_called_where_the_stop_was_there_before) {
    bool was_called = false;
    EXPECT_TRUE(run_stopped(before_the_start, blocks_if_it_may(was_called)).is_stopped());
    EXPECT_FALSE(was_called);
}

struct destroyed_on {
    explicit destroyed_on(std::thread::id& where) noexcept : to(&where) {}
    destroyed_on(destroyed_on&& other) noexcept : to(std::exchange(other.to, nullptr)) {}
    ~destroyed_on() {
        if (to != nullptr) *to = std::this_thread::get_id();
    }
    std::thread::id* to;
};
task<io_result<void>> owns_its_arguments() {
    std::thread::id where;
    destroyed_on argument(where);
    co_await blocking([](destroyed_on const&) {}, std::move(argument));
    EXPECT_EQ(where, std::this_thread::get_id());
    co_return {};
}
TEST_P(blocking_on, arguments_are_destroyed_on_the_worker) { run(owns_its_arguments()); }

// ---- Where time is virtual

TEST(blocking, in_virtual_time_runs_on_the_worker_after_the_time_that_was_set) {
    runtime_options options;
    options.is_closed_world = true;
    options.blocking.simulated_time = 3ms;
    auto rt = simulated_runtime(options);
    std::vector<std::string> order;
    auto const here = std::this_thread::get_id();
    auto const work = [&]() -> task<> {
        auto const began = this_task::now();
        auto const sleeps = [&]() -> task<> {
            co_await sleep(2ms);
            order.emplace_back("sleep");
        };
        auto const job = [&] {
            EXPECT_EQ(std::this_thread::get_id(), here);
            EXPECT_EQ(current_executor(), nullptr);
            order.emplace_back("job");
        };
        (void)co_await when_all(blocking(job), sleeps());
        EXPECT_EQ(this_task::now() - began, 3ms);
    };
    EXPECT_TRUE(sync_wait(rt, work()).has_value());
    EXPECT_EQ(order, (std::vector<std::string>{"sleep", "job"}));
}

TEST(blocking, in_virtual_time_a_stop_before_that_withdraws_it) {
    observed_runtime world;
    bool was_called = false;
    auto const work = [&]() -> task<> { co_await blocking([&] { was_called = true; }); };
    EXPECT_TRUE(run_stopped(world.rt, 10us, work()).is_stopped());
    EXPECT_FALSE(was_called);
}

TEST(blocking, that_a_job_is_waited_for_is_no_deadlock_in_a_closed_world) {
    runtime_options options;
    options.is_closed_world = true;
    runtime rt(make_driver({"epoll"}), options);
    auto const work = [&]() -> task<int> { co_return co_await blocking([] { return 1; }); };
    EXPECT_EQ(sync_wait(rt, work()).value(), 1);
}

} // namespace
