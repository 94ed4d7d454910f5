#include <pitsaw/sync/once.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"
#include "two_runtimes.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

TEST(once, does_its_work_once_while_the_others_wait_for_it) {
    observed_runtime world;
    ps::once made;
    int times = 0;
    auto makes = [&](int by) -> ps::task<> {
        co_await ps::sleep(1ms);
        times += by;
    };
    auto needs = [&](int self) -> ps::task<> {
        co_await made.call(makes, self);
        EXPECT_EQ(times, 1);
        EXPECT_TRUE(made.is_done());
    };
    auto work = [&]() -> ps::task<> {
        EXPECT_FALSE(made.is_done());
        co_await ps::when_all(needs(1), needs(2), needs(3));
        co_await needs(4);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(world.elapsed(), 1ms);
}

TEST(once, a_failure_is_its_callers_and_the_next_one_tries) {
    observed_runtime world;
    ps::once made;
    int tries = 0;
    auto makes = [&]() -> ps::task<> {
        co_await ps::sleep(1ms);
        if (++tries == 1) throw std::runtime_error("the first");
    };
    auto needs = [&]() -> ps::task<bool> {
        auto const end = co_await ps::as_outcome(made.call(makes));
        co_return end.has_value();
    };
    auto work = [&]() -> ps::task<> {
        auto const all = co_await ps::when_all(needs(), needs(), needs());
        EXPECT_EQ(all, std::make_tuple(false, true, true));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(tries, 2);
}

TEST(once, an_error_code_is_a_failure_too) {
    observed_runtime world;
    ps::once made;
    int tries = 0;
    auto makes = [&]() -> ps::task<ps::io_result<void>> {
        if (++tries == 1) co_return std::unexpected(std::make_error_code(std::errc::timed_out));
        co_return ps::io_result<void>();
    };
    auto work = [&]() -> ps::task<> {
        auto const first = co_await made.call(makes);
        EXPECT_EQ(first.error(), std::errc::timed_out);
        EXPECT_FALSE(made.is_done());
        auto const second = co_await made.call(makes);
        EXPECT_TRUE(second.has_value());
        auto const third = co_await made.call(makes);
        EXPECT_TRUE(third.has_value());
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(tries, 2);
}

TEST(once, the_work_of_a_stopped_caller_is_the_next_ones) { // SY5
    observed_runtime world;
    ps::once made;
    int begun = 0, ended = 0;
    auto makes = [&]() -> ps::task<> {
        ++begun;
        co_await ps::sleep(2ms);
        ++ended;
    };
    auto gives_up = [&](ps::duration after) -> ps::task<> {
        auto const got = co_await ps::with_timeout(after, made.call(makes));
        EXPECT_FALSE(got.has_value());
    };
    auto needs = [&]() -> ps::task<> { co_await made.call(makes); };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(gives_up(2ms - 1us), gives_up(1ms), needs()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(begun, 2);
    EXPECT_EQ(ended, 1);
    EXPECT_TRUE(made.is_done());
}

TEST(once, owns_what_it_calls_and_its_arguments) {
    observed_runtime world;
    ps::once made;
    int seen = 0;
    auto work = [&]() -> ps::task<> {
        auto makes = [&seen](std::unique_ptr<int> of) -> ps::task<> {
            co_await ps::this_task::yield();
            seen = *of;
        };
        co_await made.call(std::move(makes), std::make_unique<int>(5));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(seen, 5);
}

TEST(once, two_runtimes_see_what_was_done) { // LW1
    for (int round = 0; round < 100; ++round) {
        ps::once made;
        int value = 0; // what TSan watches
        auto makes = [&]() -> ps::task<> {
            co_await ps::this_task::yield();
            ++value;
        };
        auto needs = [&]() -> ps::task<> {
            if (!made.is_done()) co_await made.call(makes);
            EXPECT_EQ(value, 1);
        };
        run_on_two_threads(needs, needs);
    }
}

} // namespace
