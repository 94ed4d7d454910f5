#include <pitsaw/scope/when_all.hpp>

#include "foreign_awaitables.hpp"
#include "lifetime_log.hpp"
#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;
using texts = std::vector<std::string>;

namespace {

ps::task<int> gives(int value, ps::duration after) {
    co_await ps::sleep(after);
    co_return value;
}

ps::task<int> gives_at_once(int value) { co_return value; }

ps::task<int> throws(std::string what, ps::duration after) {
    co_await deaf_sleep(after);
    throw std::runtime_error(what);
}

ps::task<ps::io_result<int>> io_gives(int value, ps::duration after) {
    co_await ps::sleep(after);
    co_return value;
}

ps::task<ps::io_result<int>> io_fails(std::errc why, ps::duration after) {
    co_await deaf_sleep(after);
    co_return std::unexpected(std::make_error_code(why));
}

ps::task<ps::io_result<void>> io_void(ps::duration after) {
    co_await ps::sleep(after);
    co_return {};
}

ps::task<int> observed(lifetime_log& log, std::string name, ps::duration after) {
    probe const here(log, name);
    co_await ps::sleep(after);
    log.note(name);
    co_return 1;
}

TEST(when_all, gives_a_tuple_of_what_the_branches_gave_in_their_order) {
    observed_runtime world;
    auto work = []() -> ps::task<std::string> {
        auto values = co_await ps::when_all(
            gives(1, 20ms), []() -> ps::task<char> { co_return 'c'; }(), []() -> ps::task<> { co_return; }(),
            ps::sleep(5ms), []() -> ps::task<std::unique_ptr<int>> { co_return std::make_unique<int>(4); }());
        auto& [number, letter, nothing, pause, owned] = values;
        static_assert(std::is_same_v<decltype(nothing), std::monostate>);
        static_assert(std::is_same_v<decltype(pause), std::monostate>);
        co_return std::to_string(number) + letter + std::to_string(*owned);
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), "1c4");
    EXPECT_EQ(world.elapsed(), 20ms);
}

TEST(when_all, of_no_branches_or_one_is_nothing_special) {
    observed_runtime world;
    auto work = []() -> ps::task<int> {
        std::tuple<> const nothing = co_await ps::when_all();
        (void)nothing;
        std::tuple<int> const one = co_await ps::when_all(gives(3, 1ms));
        std::tuple<std::monostate> const leaf = co_await ps::when_all(ps::sleep(0ms));
        (void)leaf;
        co_return std::get<0>(one);
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 3);
    auto none = []() -> ps::task<> { co_await ps::when_all(); };
    EXPECT_TRUE(run_stopped(world.rt, before_the_start, none()).has_value()); // all of none completed
}

TEST(when_all, of_io_results_gives_an_io_result_of_what_they_hold) {
    observed_runtime world;
    auto work = []() -> ps::task<ps::io_result<int>> {
        auto all = co_await ps::when_all(io_gives(1, 3ms), gives(2, 2ms), io_void(1ms));
        static_assert(std::is_same_v<decltype(all), ps::io_result<std::tuple<int, int, std::monostate>>>);
        co_return std::get<0>(*all) + std::get<1>(*all);
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value().value(), 3);
}

TEST(when_all, the_first_error_stops_the_others_and_is_the_result) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<std::error_code> {
        auto all = co_await ps::when_all(observed(log, "a", 1h), io_fails(std::errc::io_error, 5ms),
                                         io_fails(std::errc::broken_pipe, 5ms), io_gives(1, 1ms));
        log.note("after");
        co_return all.error();
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), std::errc::io_error);
    EXPECT_EQ(log.take(), "~a after"); // the branch goes with the full-expression
    EXPECT_EQ(world.lost, texts());    // a later error code is dropped
    EXPECT_EQ(world.elapsed(), 5ms);
}

TEST(when_all, the_first_exception_is_rethrown_and_later_ones_are_lost_errors) {
    observed_runtime world;
    auto work = []() -> ps::task<> {
        co_await ps::when_all(throws("late", 6ms), throws("first", 5ms), gives(1, 1h), throws("same", 5ms));
    };
    auto end = ps::sync_wait(world.rt, work());
    ASSERT_TRUE(end.has_exception());
    EXPECT_EQ(text_of(end.exception()), "first");
    EXPECT_EQ(world.lost, (texts{"late", "same"}));
    EXPECT_EQ(world.elapsed(), 6ms); // it waits for all
}

TEST(when_all, an_error_that_came_first_wins_over_an_exception) {
    observed_runtime world;
    auto work = []() -> ps::task<std::error_code> {
        auto all = co_await ps::when_all(throws("late", 6ms), io_fails(std::errc::io_error, 5ms));
        co_return all.error();
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), std::errc::io_error);
    EXPECT_EQ(world.lost, texts{"late"});
}

TEST(when_all, a_branch_that_throws_without_waiting_stops_what_has_not_begun_to_wait) {
    observed_runtime world;
    lifetime_log log;
    auto throws_at_once = []() -> ps::task<> {
        throw std::runtime_error("now");
        co_return;
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(throws_at_once(), observed(log, "a", 1h)); };
    auto end = ps::sync_wait(world.rt, work());
    EXPECT_EQ(text_of(end.exception()), "now");
    EXPECT_EQ(log.take(), "~a");
    EXPECT_EQ(world.elapsed(), 0ms);
}

TEST(when_all, an_outer_stop_ends_it_and_destroys_completed_values) {
    observed_runtime world;
    lifetime_log log;
    auto completed = [&]() -> ps::task<probe> { co_return probe(log, "value"); };
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(completed(), observed(log, "a", 1h));
        log.note("never");
    };
    EXPECT_TRUE(run_stopped(world.rt, 5ms, work()).is_stopped());
    EXPECT_EQ(log.take(), "~a ~value");
    EXPECT_EQ(log.alive(), 0);
}

TEST(when_all, delivers_under_an_outer_stop_if_all_completed) {
    observed_runtime world;
    auto deaf = [](int value) -> ps::task<int> {
        co_await deaf_sleep(10ms);
        co_return value;
    };
    auto work = [&]() -> ps::task<int> {
        auto values = co_await ps::when_all(deaf(1), deaf(2));
        auto& [a, b] = values;
        co_return a + b;
    };
    EXPECT_EQ(run_stopped(world.rt, 5ms, work()).value(), 3);
}

// It can deliver nothing any more, so nobody need go on, perhaps for ever.
TEST(when_all, a_branch_that_stops_by_itself_stops_the_others) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(observed(log, "a", 1h), stops_itself{}, observed(log, "b", 1h));
        log.note("never");
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).is_stopped());
    EXPECT_EQ(log.take(), "~b ~a");
    EXPECT_EQ(world.elapsed(), 0ms);
}

TEST(when_all, as_outcome_around_a_branch_keeps_what_completed) {
    observed_runtime world;
    auto work = []() -> ps::task<std::string> {
        auto values = co_await ps::when_all(ps::as_outcome(gives(4, 1ms)), ps::as_outcome(gives(5, 1h)),
                                            ps::as_outcome(throws("boom", 1ms)));
        auto& [kept, stopped, failed] = values;
        co_return std::to_string(kept.value()) + (stopped.is_stopped() ? " stopped " : " ? ") +
            text_of(failed.exception());
    };
    EXPECT_EQ(run_stopped(world.rt, 5ms, work()).value(), "4 stopped boom");
}

ps::task<int> twenty_foreign() {
    int sum = 0;
    for (int i = 0; i < 20; ++i) {
        auto values = co_await ps::when_all([]() -> foreign_coroutine { co_return 1; }(), foreign_thread(2),
                                            foreign_ready{}, foreign_ready{false});
        auto& [symmetric, threaded, ready, unsuspended] = values;
        sum += symmetric + threaded + ready + unsuspended;
    }
    co_return sum;
}

TEST(when_all, takes_awaitables_of_other_libraries) {
    watchdog const guard;
    observed_runtime world;
    EXPECT_EQ(ps::sync_wait(world.rt, twenty_foreign()).value(), 20 * 9);
    auto through_scopes = []() -> ps::task<int> {
        auto all = co_await ps::when_all(ps::with_timeout(1h, []() -> foreign_coroutine { co_return 1; }()),
                                         ps::as_outcome([]() -> foreign_coroutine { co_return 2; }()));
        co_return std::get<0>(*all) + std::get<1>(*all).value();
    };
    EXPECT_EQ(ps::sync_wait(world.rt, through_scopes()).value(), 3);
}

TEST(when_all, a_sender_that_stops_is_a_branch_that_stops) {
    observed_runtime world;
    auto work = []() -> ps::task<> {
        co_await ps::when_all(foreign_stopped{}, ps::sleep(1h));
        ADD_FAILURE();
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).is_stopped());
    EXPECT_EQ(world.elapsed(), 0ms);
}

TEST(when_all, gives_references) {
    observed_runtime world;
    int target = 1;
    auto refers = [&]() -> ps::task<int&> { co_return target; };
    auto work = [&]() -> ps::task<> {
        std::tuple<int&, int> const all = co_await ps::when_all(refers(), gives(2, 1ms));
        std::get<0>(all) = std::get<1>(all);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(target, 2);
}

// SC5: always-ready tasks, nested: what an operation costs does not depend on what happens around it.
ps::task<int> nested_all(int depth) {
    int sum = 0;
    if (depth == 0) {
        sum = co_await gives_at_once(1);
    } else {
        auto values = co_await ps::when_all(nested_all(depth - 1), nested_all(depth - 1));
        auto& [left, right] = values;
        sum = left + right;
    }
    co_return sum;
}

TEST(when_all, five_deep_over_ready_tasks_suspends_no_leaf_and_costs_the_same_each_time) {
    observed_runtime world;
    auto& worker = *world.rt.get_executor();
    auto work = [](int times) -> ps::task<int> {
        int sum = 0;
        for (int i = 0; i < times; ++i) sum += co_await nested_all(5);
        co_return sum;
    };
    auto const frames_of = [&](int times) {
        auto const before = ps::frame_memory_statistics().frames;
        EXPECT_EQ(ps::sync_wait(world.rt, work(times)).value(), times * 32);
        return ps::frame_memory_statistics().frames - before;
    };
    auto const few = frames_of(1), many = frames_of(100);
    EXPECT_LE(many, 100 * few);
    EXPECT_EQ(worker.suspensions, 0u);
    EXPECT_EQ(world.elapsed(), 0ms);
}

TEST(when_all_death, the_same_task_twice_is_a_checked_error) {
    auto run = []() -> ps::task<> {
        auto once = gives_at_once(1);
        co_await ps::when_all(std::move(once), std::move(once));
    };
    EXPECT_DEATH((void)ps::sync_wait(run()), "given twice to one combinator");
}

} // namespace
