#include <pitsaw/scope/task_group.hpp>

#include "lifetime_log.hpp"
#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;
using texts = std::vector<std::string>;

namespace {

ps::task<> sleeps(lifetime_log& log, std::string name, ps::duration span) {
    probe const here(log, name);
    co_await ps::sleep(span);
    log.note(name);
}

ps::task<> stops_by_itself() {
    co_await ps::sleep(1ms);
    co_await stops_itself{};
}

template <class T> std::string text_of_end(ps::outcome<T> const& end) {
    if (end.is_stopped()) return "stopped";
    return end.has_exception() ? "exception" : "value";
}

TEST(task_group_stop, an_outer_stop_ends_children_and_body_with_its_reason) {
    observed_runtime world;
    lifetime_log log;
    auto seen = ps::stop_reason::none;
    auto work = [&]() -> ps::task<> {
        probe const outer(log, "outer");
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            probe const body(log, "body");
            group.spawn(sleeps(log, "a", 1h));
            auto child = [&]() -> ps::task<> {
                auto end = co_await ps::as_outcome(ps::sleep(1h));
                seen = end.reason();
            };
            group.spawn(child);
            co_await ps::sleep(1h);
        });
        log.note("never");
    };
    auto end = run_stopped(world.rt, 5ms, work(), ps::stop_reason::peer_gone);
    ASSERT_TRUE(end.is_stopped());
    EXPECT_EQ(end.reason(), ps::stop_reason::peer_gone);
    EXPECT_EQ(seen, ps::stop_reason::peer_gone);
    EXPECT_EQ(log.take(), "~body ~a ~outer");
}

TEST(task_group_stop, a_stop_before_the_start_reaches_each_first_leaf) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            group.spawn(sleeps(log, "a", 1h));
            log.note("body");
            co_return;
        });
    };
    EXPECT_TRUE(run_stopped(world.rt, before_the_start, work()).is_stopped());
    EXPECT_EQ(log.take(), "body ~a");
}

TEST(task_group_stop, delivers_under_an_outer_stop_if_all_had_completed) {
    observed_runtime world;
    auto work = []() -> ps::task<int> {
        int const got = co_await ps::task_group::run([](ps::task_group& group) -> ps::task<int> {
            auto child = []() -> ps::task<> { co_await deaf_sleep(10ms); };
            group.spawn(child());
            co_await deaf_sleep(20ms);
            co_return 4;
        });
        co_return got;
    };
    EXPECT_EQ(run_stopped(world.rt, 5ms, work()).value(), 4);
}

TEST(task_group_stop, its_own_request_ends_the_children_and_delivers) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<int> {
        int got = co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<int> {
            group.spawn(sleeps(log, "a", 1h));
            co_await ps::sleep(1ms);
            group.request_stop();
            log.note("asked");
            co_return 4;
        });
        co_await ps::sleep(1ms); // the outer chain is not stopped
        co_return got;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 4);
    EXPECT_EQ(log.take(), "asked ~a");
    EXPECT_EQ(world.elapsed(), 2ms);
}

TEST(task_group_stop, its_own_request_delivers_a_default_for_a_stopped_body_that_has_one) {
    observed_runtime world;
    auto seen = ps::stop_reason::none;
    auto stop_all = [](ps::task_group& group, ps::stop_reason& why) -> ps::task<> {
        ps::inplace_stop_callback const look(group.get_stop_token(),
                                             [&] { why = group.get_stop_token().reason(); });
        co_await ps::sleep(1ms);
        group.request_stop(ps::stop_reason::peer_gone);
    };
    auto work = [&]() -> ps::task<bool> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            group.spawn(stop_all(group, seen));
            co_await ps::sleep(1h);
        });
        auto result =
            co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<ps::io_result<void>> {
                group.spawn(stop_all(group, seen));
                co_await ps::sleep(1h);
                co_return {};
            });
        co_return result.has_value();
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).value());
    EXPECT_EQ(seen, ps::stop_reason::peer_gone);
    auto without_default = [&]() -> ps::task<> {
        int const got = co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<int> {
            group.spawn(stop_all(group, seen));
            co_await ps::sleep(1h);
            co_return 1;
        });
        ADD_FAILURE() << got;
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, without_default()).is_stopped());
}

// A leaf of another library may stop although nobody asked. The group cannot deliver then, so it waits for
// nobody.
TEST(task_group_stop, a_child_that_stops_by_itself_stops_the_group) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            group.spawn(stops_by_itself());
            group.spawn(sleeps(log, "a", 1h));
            co_await ps::sleep(1h);
        });
        log.note("never");
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).is_stopped());
    EXPECT_EQ(log.take(), "~a");
    EXPECT_EQ(world.elapsed(), 1ms);
}

TEST(task_group_stop, a_body_that_stops_by_itself_stops_the_group) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&](ps::on_failure policy) -> ps::task<> {
        co_await ps::task_group::run(policy, [&](ps::task_group& group) -> ps::task<> {
            group.spawn(sleeps(log, "a", 1h));
            co_await stops_itself{};
        });
        log.note("never");
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work(ps::on_failure::stop_others)).is_stopped());
    EXPECT_TRUE(ps::sync_wait(world.rt, work(ps::on_failure::keep_others)).is_stopped());
    EXPECT_EQ(log.take(), "~a ~a");
}

TEST(task_group_stop, a_supervisor_outlives_a_child_that_stops_by_itself) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<int> {
        int const got = co_await ps::task_group::run(ps::on_failure::keep_others,
                                                     [&](ps::task_group& group) -> ps::task<int> {
                                                         group.spawn(stops_by_itself());
                                                         group.spawn(sleeps(log, "a", 10ms));
                                                         co_await ps::sleep(5ms);
                                                         co_return 2;
                                                     });
        co_return got;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 2);
    EXPECT_EQ(log.take(), "a ~a");
}

TEST(task_group_stop, a_failure_wins_over_a_stop) {
    observed_runtime world;
    auto throws = []() -> ps::task<> {
        co_await deaf_sleep(10ms);
        throw std::runtime_error("boom");
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            group.spawn(throws());
            co_await ps::sleep(1h);
        });
    };
    auto end = run_stopped(world.rt, 5ms, work());
    ASSERT_TRUE(end.has_exception());
    EXPECT_EQ(text_of(end.exception()), "boom");
}

ps::task<> group_of_sleepers(lifetime_log& log, std::string name) {
    co_await ps::task_group::run([&](ps::task_group& outer) -> ps::task<> {
        probe const here(log, name);
        auto inner = [&]() -> ps::task<> {
            co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
                group.spawn(sleeps(log, name + "1", 1h));
                group.spawn(sleeps(log, name + "2", 1h));
                co_await ps::sleep(2h);
            });
        };
        outer.spawn(inner);
        co_await ps::sleep(3h);
    });
    log.note("never");
}

TEST(task_group_stop, groups_within_groups_within_when_any_all_end_with_the_race) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<std::size_t> {
        auto first = co_await ps::when_any(group_of_sleepers(log, "x"), ps::sleep(5ms));
        log.note("after");
        co_return first.first();
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 1u);
    EXPECT_EQ(log.take(), "~x ~x1 ~x2 after");
    EXPECT_EQ(world.elapsed(), 5ms);
}

// CA19
TEST(task_group_stop, a_task_may_stop_its_runtime_twice_and_pending_timeouts_stop_rather_than_time_out) {
    observed_runtime world;
    texts ends;
    auto child = [&](ps::duration limit) -> ps::task<> {
        auto end = co_await ps::as_outcome(ps::with_timeout(limit, ps::sleep(1h)));
        ends.push_back(text_of_end(end) + " " + std::to_string(static_cast<int>(end.reason())));
    };
    auto stopper = [&]() -> ps::task<> {
        co_await ps::sleep(5ms);
        world.rt.request_stop(ps::stop_reason::shutdown);
        world.rt.request_stop(ps::stop_reason::peer_gone);
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            group.spawn(child, 50ms);
            group.spawn(child, 5ms + 1ns);
            group.spawn(stopper);
            group.spawn(stopper);
            co_return;
        });
    };
    auto end = ps::sync_wait(world.rt, work());
    EXPECT_TRUE(end.has_value()); // both children made data of it, so all completed
    auto const shutdown = "stopped " + std::to_string(static_cast<int>(ps::stop_reason::shutdown));
    EXPECT_EQ(ends, (texts{shutdown, shutdown}));
    EXPECT_EQ(world.elapsed(), 5ms);
}

} // namespace
