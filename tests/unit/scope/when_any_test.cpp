#include <pitsaw/scope/when_any.hpp>

#include "foreign_awaitables.hpp"
#include "lifetime_log.hpp"
#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
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

ps::task<int> gives_whatever_is_asked(int value, ps::duration after) {
    co_await deaf_sleep(after);
    co_return value;
}

ps::task<int> ready(int value) { co_return value; }

ps::task<int> throws(std::string what, ps::duration after) {
    co_await deaf_sleep(after);
    throw std::runtime_error(what);
}

ps::task<int> observed(lifetime_log& log, std::string name, ps::duration after) {
    probe const here(log, name);
    co_await ps::sleep(after);
    log.note(name);
    co_return 1;
}

/// "1: - 5" for: the second was first, and gave 5; the first gave nothing.
template <class... T> std::string text_of_result(ps::when_any_result<T...> const& result) {
    std::string text = std::to_string(result.first()) + ":";
    std::apply([&](auto const&... branch) { ((text += branch ? " " + std::to_string(*branch) : " -"), ...); },
               static_cast<typename ps::when_any_result<T...>::optionals const&>(result));
    return text;
}

template <class A, class B> ps::task<std::string> race(A a, B b) {
    auto first = co_await ps::when_any(std::move(a), std::move(b));
    co_return text_of_result(first);
}

TEST(when_any, gives_what_the_first_gave_and_stops_the_other) {
    observed_runtime world;
    EXPECT_EQ(ps::sync_wait(world.rt, race(gives(1, 10ms), gives(2, 20ms))).value(), "0: 1 -");
    EXPECT_EQ(ps::sync_wait(world.rt, race(gives(1, 20ms), gives(2, 10ms))).value(), "1: - 2");
    EXPECT_EQ(world.elapsed(), 20ms);
}

// CA14
TEST(when_any, a_ready_branch_wins_against_one_that_never_ends_in_either_order) {
    observed_runtime world;
    auto work = []() -> ps::task<std::string> {
        auto first = co_await ps::when_any(ready(1), ps::sleep_until(ps::never));
        auto second = co_await ps::when_any(ps::sleep_until(ps::never), ready(2));
        auto leaves = co_await ps::when_any(ps::sleep(0ms), ps::sleep_until(ps::never));
        auto last = co_await ps::when_any(ps::sleep_until(ps::never), ps::sleep(0ms));
        co_return std::to_string(first.first()) + std::to_string(second.first()) +
            std::to_string(leaves.first()) + std::to_string(last.first());
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), "0101");
    EXPECT_EQ(world.elapsed(), 0ms);
}

// CA14
TEST(when_any, a_loser_that_ignores_the_stop_is_waited_for_and_its_result_delivered) {
    observed_runtime world;
    EXPECT_EQ(ps::sync_wait(world.rt, race(gives(1, 10ms), gives_whatever_is_asked(2, 60ms))).value(),
              "0: 1 2");
    EXPECT_EQ(world.elapsed(), 60ms);
}

// CA14
TEST(when_any, two_that_finish_in_the_same_turn_are_both_delivered_and_the_earlier_is_first) {
    observed_runtime world;
    EXPECT_EQ(ps::sync_wait(world.rt, race(gives(1, 10ms), gives(2, 10ms))).value(), "0: 1 2");
    EXPECT_EQ(ps::sync_wait(world.rt, race(ready(1), ready(2))).value(), "0: 1 2");
    EXPECT_EQ(ps::sync_wait(world.rt, race(gives(1, 0ms), ready(2))).value(), "0: 1 2");
}

// CA14
TEST(when_any, a_loser_that_throws_goes_to_on_lost_error) {
    observed_runtime world;
    EXPECT_EQ(ps::sync_wait(world.rt, race(gives(1, 10ms), throws("late", 20ms))).value(), "0: 1 -");
    EXPECT_EQ(ps::sync_wait(world.rt, race(throws("same", 10ms), gives(2, 1ms))).value(), "1: - 2");
    EXPECT_EQ(world.lost, (texts{"late", "same"}));
}

TEST(when_any, a_first_that_throws_is_rethrown_after_the_losers_have_ended) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<> {
        std::string caught;
        try {
            (void)co_await ps::when_any(observed(log, "a", 1h), throws("boom", 5ms), throws("later", 6ms));
        } catch (std::exception const& what) {
            caught = what.what();
        }
        log.note(caught);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(log.take(), "~a boom");
    EXPECT_EQ(world.lost, texts{"later"});
    EXPECT_EQ(world.elapsed(), 6ms);
}

TEST(when_any, an_error_code_is_a_completed_branch) {
    observed_runtime world;
    auto fails = []() -> ps::task<ps::io_result<int>> {
        co_await ps::sleep(5ms);
        co_return std::unexpected(std::make_error_code(std::errc::io_error));
    };
    auto work = [&]() -> ps::task<std::error_code> {
        auto first = co_await ps::when_any(gives(1, 1h), fails());
        co_return std::get<1>(first)->error();
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), std::errc::io_error);
}

TEST(when_any, gives_void_and_leaves_as_monostate_and_moves_what_cannot_be_copied) {
    observed_runtime world;
    auto owned = []() -> ps::task<std::unique_ptr<int>> { co_return std::make_unique<int>(4); };
    auto nothing = []() -> ps::task<> { co_return; };
    auto work = [&]() -> ps::task<int> {
        auto first = co_await ps::when_any(owned(), nothing(), ps::sleep(0ms));
        static_assert(std::is_same_v<std::tuple_element_t<1, decltype(first)::optionals>,
                                     std::optional<std::monostate>>);
        EXPECT_TRUE(std::get<1>(first));
        EXPECT_TRUE(std::get<2>(first));
        co_return *std::get<0>(std::move(first)).value();
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 4);
}

TEST(when_any, gives_references_and_pointers) {
    observed_runtime world;
    int target = 1;
    auto refers = [&]() -> ps::task<int&> { co_return target; };
    auto points = [&]() -> ps::task<int*> { co_return &target; };
    auto work = [&]() -> ps::task<> {
        auto first = co_await ps::when_any(refers(), points());
        std::get<0>(first)->get() = 2;
        EXPECT_EQ(*std::get<1>(first), &target);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(target, 2);
}

TEST(when_any, of_one_branch_is_nothing_special) {
    observed_runtime world;
    auto work = []() -> ps::task<int> {
        auto first = co_await ps::when_any(gives(3, 1ms));
        co_return *std::get<0>(first);
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 3);
    auto stopped = []() -> ps::task<> { (void)co_await ps::when_any(ps::sleep(1h)); };
    EXPECT_TRUE(run_stopped(world.rt, 5ms, stopped()).is_stopped());
}

TEST(when_any, an_outer_stop_ends_it_if_nothing_had_completed) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<> {
        (void)co_await ps::when_any(observed(log, "a", 1h), observed(log, "b", 1h));
        log.note("never");
    };
    EXPECT_TRUE(run_stopped(world.rt, 5ms, work()).is_stopped());
    EXPECT_EQ(log.take(), "~b ~a");
    EXPECT_TRUE(run_stopped(world.rt, before_the_start, work()).is_stopped());
}

TEST(when_any, delivers_what_completed_also_under_an_outer_stop) {
    observed_runtime world;
    EXPECT_EQ(run_stopped(world.rt, 5ms, race(gives_whatever_is_asked(1, 10ms), gives(2, 1h))).value(),
              "0: 1 -");
    observed_runtime again;
    EXPECT_EQ(run_stopped(again.rt, before_the_start, race(ready(1), gives(2, 1h))).value(), "0: 1 -");
}

TEST(when_any, a_branch_that_stops_by_itself_has_not_completed) {
    observed_runtime world;
    auto work = []() -> ps::task<std::size_t> {
        auto first = co_await ps::when_any(stops_itself{}, foreign_stopped{}, gives(2, 5ms));
        EXPECT_FALSE(std::get<0>(first));
        co_return first.first();
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 2u);
    auto none_completes = []() -> ps::task<> { (void)co_await ps::when_any(stops_itself{}, stops_itself{}); };
    EXPECT_TRUE(ps::sync_wait(world.rt, none_completes()).is_stopped());
}

TEST(when_any, a_loser_can_read_why_it_was_stopped) {
    observed_runtime world;
    auto seen = ps::stop_reason::none;
    auto loser = [&]() -> ps::task<> {
        auto end = co_await ps::as_outcome(ps::sleep(1h));
        seen = end.reason();
    };
    auto work = [&]() -> ps::task<> { (void)co_await ps::when_any(loser(), ps::sleep(1ms)); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(seen, ps::stop_reason::sibling_won);
}

TEST(when_any, races_within_races_end_together) {
    observed_runtime world;
    lifetime_log log;
    auto inner = [&](std::string name, ps::duration soonest) -> ps::task<std::size_t> {
        auto first = co_await ps::when_any(observed(log, name + "1", 1h), observed(log, name + "2", soonest));
        co_return first.first();
    };
    auto work = [&]() -> ps::task<std::size_t> {
        auto first = co_await ps::when_any(inner("x", 2h), inner("y", 5ms));
        co_return 10 * first.first() + *std::get<1>(first);
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 11u);
    EXPECT_EQ(log.take(), "y2 ~y2 ~y1 ~x2 ~x1");
    EXPECT_EQ(world.elapsed(), 5ms);
}

TEST(when_any, takes_awaitables_of_other_libraries) {
    watchdog const guard;
    observed_runtime world;
    auto symmetric = []() -> foreign_coroutine { co_return 1; };
    auto work = [&]() -> ps::task<int> {
        auto one = co_await ps::when_any(symmetric(), ps::sleep(1h));
        auto two = co_await ps::when_any(ps::sleep(1h), foreign_thread(2));
        auto three = co_await ps::when_any(ps::as_outcome(symmetric()), ps::sleep(1h));
        auto four = co_await ps::when_any(ps::shield(symmetric()), ps::sleep(1h));
        co_return *std::get<0>(one) + *std::get<1>(two) + std::get<0>(three)->value() + *std::get<0>(four);
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 5);
}

// The other library's awaitable fails already when it is asked to begin.
struct foreign_refuses {
    bool throws_when_asked;
    bool await_ready() const {
        if (throws_when_asked) throw std::runtime_error("ready");
        return false;
    }
    void await_suspend(std::coroutine_handle<>) const { throw std::runtime_error("suspend"); }
    int await_resume() const noexcept { return 0; }
};

TEST(when_any, a_foreign_awaitable_that_throws_as_it_begins_is_a_branch_that_throws) {
    observed_runtime world;
    auto caught = [](bool when_asked) -> ps::task<std::string> {
        std::string text;
        try {
            (void)co_await ps::when_any(foreign_refuses{when_asked}, ps::sleep(1h));
        } catch (std::exception const& what) {
            text = what.what();
        }
        co_return text;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, caught(true)).value(), "ready");
    EXPECT_EQ(ps::sync_wait(world.rt, caught(false)).value(), "suspend");
    auto directly = [](bool when_asked) -> ps::task<std::string> {
        std::string text;
        try {
            (void)co_await foreign_refuses{when_asked};
        } catch (std::exception const& what) {
            text = what.what();
        }
        co_return text;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, directly(true)).value(), "ready");
    EXPECT_EQ(ps::sync_wait(world.rt, directly(false)).value(), "suspend");
}

// SC5
ps::task<int> nested_any(int depth) {
    int got = 0;
    if (depth == 0) {
        got = co_await ready(1);
    } else {
        auto first = co_await ps::when_any(nested_any(depth - 1), nested_any(depth - 1));
        got = std::get<0>(first).value_or(0) + std::get<1>(first).value_or(0);
    }
    co_return got;
}

TEST(when_any, five_deep_over_ready_tasks_suspends_no_leaf_and_costs_the_same_each_time) {
    observed_runtime world;
    auto& worker = *world.rt.get_executor();
    auto work = [](int times) -> ps::task<int> {
        int sum = 0;
        for (int i = 0; i < times; ++i) sum += co_await nested_any(5);
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
}

TEST(when_any, a_value_is_not_lost_to_an_exception_that_came_first) {
    observed_runtime world;
    auto throws = []() -> ps::task<int> {
        co_await ps::sleep(1ms);
        throw std::runtime_error("boom");
    };
    auto gives = []() -> ps::task<int> {
        co_await ps::sleep(1ms);
        co_return 42;
    };
    auto work = [&]() -> ps::task<int> {
        auto first = co_await ps::when_any(throws(), gives()); // both in one turn
        EXPECT_EQ(first.first(), 1u);
        EXPECT_FALSE(std::get<0>(first).has_value());
        co_return std::get<1>(first).value_or(0);
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 42);
    EXPECT_EQ(world.lost, std::vector<std::string>{"boom"});
}

} // namespace
