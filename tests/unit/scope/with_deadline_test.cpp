#include <pitsaw/scope/with_deadline.hpp>

#include "lifetime_log.hpp"
#include "observed_runtime.hpp"
#include "run_stopped.hpp"
#include "stream_leaves.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

ps::task<int> gives(int value, ps::duration after) {
    co_await ps::sleep(after);
    co_return value;
}

ps::task<int> gives_whatever_is_asked(int value, ps::duration after) {
    co_await deaf_sleep(after);
    co_return value;
}

template <class A> ps::task<std::string> within(ps::duration limit, A work) {
    auto got = co_await ps::with_timeout(limit, std::move(work));
    co_return got ? std::to_string(*got) : got.error().message();
}

std::string const timed_out = std::make_error_code(std::errc::timed_out).message();

TEST(with_timeout, gives_an_io_result_and_keeps_the_type_of_one) {
    observed_runtime world;
    auto io = []() -> ps::task<ps::io_result<int>> {
        co_await ps::sleep(1ms);
        co_return 4;
    };
    auto fails = []() -> ps::task<ps::io_result<int>> {
        co_await ps::sleep(1ms);
        co_return std::unexpected(std::make_error_code(std::errc::io_error));
    };
    auto work = [&]() -> ps::task<> {
        auto plain = co_await ps::with_timeout(10ms, gives(3, 1ms));
        static_assert(std::is_same_v<decltype(plain), ps::io_result<int>>);
        EXPECT_EQ(plain, 3);
        auto same = co_await ps::with_timeout(10ms, io());
        static_assert(std::is_same_v<decltype(same), ps::io_result<int>>);
        EXPECT_EQ(same, 4);
        auto failed = co_await ps::with_timeout(10ms, fails());
        EXPECT_EQ(failed.error(), std::errc::io_error);
        auto leaf = co_await ps::with_timeout(10ms, ps::sleep(1ms));
        static_assert(std::is_same_v<decltype(leaf), ps::io_result<void>>);
        EXPECT_TRUE(leaf.has_value());
        auto owned = co_await ps::with_timeout(
            10ms, []() -> ps::task<std::unique_ptr<int>> { co_return std::make_unique<int>(5); }());
        EXPECT_EQ(**owned, 5);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(world.elapsed(), 4ms);
}

TEST(with_timeout, says_timed_out_when_its_timer_stopped_the_work) {
    observed_runtime world;
    lifetime_log log;
    auto seen = ps::stop_reason::none;
    auto slow = [&]() -> ps::task<int> {
        probe const here(log, "slow");
        auto end = co_await ps::as_outcome(ps::sleep(1h));
        seen = end.reason();
        co_await ps::sleep(1h);
        co_return 1;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, within(10ms, slow())).value(), timed_out);
    EXPECT_EQ(seen, ps::stop_reason::timeout);
    EXPECT_EQ(world.elapsed(), 10ms);
    EXPECT_EQ(log.take(), "~slow");
}

TEST(with_timeout, delivers_what_completed_however_late) {
    observed_runtime world;
    EXPECT_EQ(ps::sync_wait(world.rt, within(10ms, gives_whatever_is_asked(4, 50ms))).value(), "4");
    EXPECT_EQ(ps::sync_wait(world.rt, within(10ms, gives(4, 10ms))).value(),
              timed_out); // its timer was armed first
    EXPECT_EQ(ps::sync_wait(world.rt, within(10ms, gives(4, 10ms - 1ns))).value(), "4");
}

TEST(with_timeout, passes_an_exception_on_also_after_the_timer_has_fired) {
    observed_runtime world;
    auto throws = [](ps::duration after) -> ps::task<int> {
        co_await deaf_sleep(after);
        throw std::runtime_error("boom");
    };
    EXPECT_EQ(text_of(ps::sync_wait(world.rt, within(10ms, throws(1ms))).exception()), "boom");
    EXPECT_EQ(text_of(ps::sync_wait(world.rt, within(10ms, throws(50ms))).exception()), "boom");
}

TEST(with_timeout, an_outer_stop_is_no_time_out) {
    observed_runtime world;
    EXPECT_TRUE(run_stopped(world.rt, 5ms, within(10ms, gives(1, 1h))).is_stopped());
    observed_runtime earlier;
    EXPECT_TRUE(run_stopped(earlier.rt, before_the_start, within(0ms, gives(1, 1h))).is_stopped());
    observed_runtime delivers;
    EXPECT_EQ(run_stopped(delivers.rt, 5ms, within(10ms, gives_whatever_is_asked(1, 20ms))).value(), "1");
    observed_runtime between; // the outer stop comes while the work winds up after the time-out
    auto winds_up = []() -> ps::task<int> {
        (void)co_await ps::as_outcome(ps::sleep(1h));
        co_await deaf_sleep(20ms);
        co_await ps::sleep(1h);
        co_return 1;
    };
    EXPECT_EQ(run_stopped(between.rt, 15ms, within(10ms, winds_up())).value(), timed_out);
}

TEST(with_timeout, work_that_stops_by_itself_stops_the_awaiting_task) {
    observed_runtime world;
    auto stops = []() -> ps::task<int> {
        co_await stops_itself{};
        co_return 1;
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, within(10ms, stops())).is_stopped());
}

TEST(with_timeout, nested_scopes_say_which_of_them_ran_out) {
    observed_runtime world;
    auto nested = [](ps::duration outer, ps::duration inner) -> ps::task<std::string> {
        auto got = co_await ps::with_timeout(outer, within(inner, gives(1, 1h)));
        co_return got ? "inner " + *got : "outer";
    };
    EXPECT_EQ(ps::sync_wait(world.rt, nested(10ms, 20ms)).value(), "outer");
    EXPECT_EQ(ps::sync_wait(world.rt, nested(20ms, 10ms)).value(), "inner " + timed_out);
    EXPECT_EQ(ps::sync_wait(world.rt, nested(10ms, 10ms)).value(), "outer"); // its timer was armed first
}

TEST(with_deadline, stops_at_a_moment_and_at_once_if_that_has_passed) {
    observed_runtime world;
    auto work = []() -> ps::task<> {
        ps::time_point const now = ps::time_point(0ms);
        auto later = co_await ps::with_deadline(now + 10ms, gives(1, 1h));
        EXPECT_EQ(later.error(), std::errc::timed_out);
        auto passed = co_await ps::with_deadline(now + 5ms, gives(1, 1ns));
        EXPECT_EQ(passed.error(), std::errc::timed_out);
        auto beginning = co_await ps::with_deadline(ps::time_point::min(), gives(1, 1ns));
        EXPECT_EQ(beginning.error(), std::errc::timed_out);
        auto no_leaf = co_await ps::with_deadline(now, []() -> ps::task<int> { co_return 4; }());
        EXPECT_EQ(no_leaf, 4);
        auto unlimited = co_await ps::with_deadline(ps::never, gives(5, 1ms));
        EXPECT_EQ(unlimited, 5);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(world.elapsed(), 11ms);
}

TEST(with_timeout, of_a_task_that_refers_gives_the_reference) {
    observed_runtime world;
    int target = 1;
    auto refers = [&]() -> ps::task<std::reference_wrapper<int>> { co_return std::ref(target); };
    auto work = [&]() -> ps::task<> {
        auto got = co_await ps::with_timeout(1ms, refers());
        got->get() = 2;
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(target, 2);
}

// TM1. A span that the clock cannot hold never ends; one that is not positive is over; none is early.
TEST(with_timeout, spans_at_the_ends_of_the_range_neither_wrap_nor_fire_early) {
    observed_runtime world;
    auto expect_unlimited = [](auto span) -> ps::task<> {
        auto got = co_await ps::with_timeout(span, gives(1, 1ms));
        EXPECT_EQ(got, 1);
    };
    auto expect_over = [](auto span) -> ps::task<> {
        auto got = co_await ps::with_timeout(span, gives(1, 1ms));
        EXPECT_EQ(got.error(), std::errc::timed_out);
    };
    auto work = [&]() -> ps::task<> {
        auto const now = ps::time_point(0ms);
        co_await expect_unlimited(ps::duration::max());
        co_await expect_unlimited(std::chrono::hours::max());
        co_await expect_unlimited(std::chrono::milliseconds::max());
        co_await expect_unlimited(ps::duration::max() - now.time_since_epoch());
        co_await expect_unlimited(ps::duration::max() - 1ns);
        co_await expect_unlimited(std::chrono::duration<double>(1e300));
        co_await expect_over(0ns);
        co_await expect_over(-1ns);
        co_await expect_over(1ns);
        co_await expect_over(ps::duration::min());
        co_await expect_over(std::chrono::hours::min());
        co_await expect_over(std::chrono::duration<double>(-1e300));
        auto last = co_await ps::with_deadline(ps::never - 1ns, gives(2, 1ms));
        EXPECT_EQ(last, 2);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(world.elapsed(), 7ms + 1ns);
}

TEST(with_timeout, a_deadline_just_below_never_is_kept) {
    observed_runtime world;
    auto work = []() -> ps::task<> {
        auto last = co_await ps::with_deadline(ps::never - 1ns, ps::sleep_until(ps::never));
        EXPECT_EQ(last.error(), std::errc::timed_out);
        auto beyond = co_await ps::with_timeout(1h, gives(3, 0ms));
        EXPECT_EQ(beyond, 3);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(world.elapsed(), (ps::never - 1ns).time_since_epoch());
}

// TM8, as users meet it.
TEST(with_timeout, a_hundred_thousand_armed_and_cancelled_leave_nothing_behind) {
    observed_runtime world;
    constexpr int count = 100'000;
    auto& worker = *world.rt.get_executor();
    std::size_t most = 0;
    int ended = 0;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            auto child = [&]() -> ps::task<> {
                auto got = co_await ps::with_timeout(30s, ps::this_task::yield());
                EXPECT_TRUE(got.has_value());
                ++ended;
            };
            for (int i = 0; i < count; ++i) group.spawn(child);
            co_await ps::this_task::yield();
            most = worker.timers.size();
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(ended, count);
    EXPECT_EQ(most, std::size_t{count});
    EXPECT_EQ(world.elapsed(), 0ms);
    world.expect_nothing_left();
}

// CA21: at its return nothing of what it started is left.
TEST(with_timeout, reaches_through_nested_scopes_to_every_leaf) {
    observed_runtime world;
    lifetime_log log;
    auto const [left, right] = world.driver.make_stream_pair();
    auto receive = [&](ps::descriptor from) -> ps::task<> {
        std::array<std::byte, 16> buffer{};
        probe const here(log, "receive");
        (void)co_await receive_some(from, buffer);
    };
    auto nested = [&]() -> ps::task<> {
        probe const here(log, "nested");
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            group.spawn(receive(left));
            auto timed = []() -> ps::task<> { (void)co_await ps::with_timeout(1h, ps::sleep(2h)); };
            group.spawn(timed());
            auto raced = []() -> ps::task<> { (void)co_await ps::when_any(ps::sleep(2h), ps::sleep(3h)); };
            group.spawn(raced());
            co_await ps::sleep(10s);
        });
    };
    auto work = [&]() -> ps::task<> {
        auto& worker = *world.rt.get_executor();
        auto const frames = ps::frame_memory_statistics().live;
        {
            auto got = co_await ps::with_timeout(50ms, nested());
            EXPECT_EQ(got.error(), std::errc::timed_out);
        }
        EXPECT_EQ(worker.operations, 0u);
        EXPECT_EQ(worker.timers.size(), 0u);
        EXPECT_EQ(ps::frame_memory_statistics().live, frames);
        EXPECT_EQ(log.take(), "~receive ~nested");
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(world.elapsed(), 50ms);
}

} // namespace
