#include <pitsaw/scope/task_group.hpp>

#include "foreign_awaitables.hpp"
#include "lifetime_log.hpp"
#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
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

ps::task<> throws_after(ps::duration span, std::string what) {
    co_await ps::sleep(span);
    throw std::runtime_error(what);
}

ps::task<ps::io_result<void>> fails_after(ps::duration span, std::errc why) {
    co_await ps::sleep(span);
    co_return std::unexpected(std::make_error_code(why));
}

ps::task<ps::io_result<void>> error_now(std::errc why) {
    int const here = 0;
    (void)here;
    co_return std::unexpected(std::make_error_code(why));
}

TEST(task_group, ends_after_its_last_child_and_gives_the_value_of_its_body) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<int> {
        probe const outer(log, "outer");
        int const got = co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<int> {
            group.spawn(sleeps(log, "b", 20ms));
            group.spawn(sleeps(log, "a", 10ms));
            EXPECT_EQ(group.size(), 2u);
            log.note("body");
            co_return 7;
        });
        log.note("after");
        co_return got;
    };
    auto end = ps::sync_wait(world.rt, work());
    EXPECT_EQ(end.value(), 7);
    EXPECT_EQ(log.take(),
              "body a ~a b ~b after ~outer"); // CA13: no child outlives the frame around its group
    EXPECT_EQ(world.elapsed(), 20ms);
}

TEST(task_group, the_first_failure_stops_the_siblings_and_the_body_and_is_what_run_throws) {
    observed_runtime world;
    lifetime_log log;
    auto reason = ps::stop_reason::none;
    auto work = [&]() -> ps::task<std::string> {
        std::string caught;
        try {
            co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
                probe const body(log, "body");
                group.spawn(sleeps(log, "a", 1h));
                group.spawn(throws_after(5ms, "boom"));
                ps::inplace_stop_callback const look(group.get_stop_token(),
                                                     [&] { reason = group.get_stop_token().reason(); });
                co_await ps::sleep(2h);
                log.note("never");
            });
        } catch (std::exception const& what) {
            caught = what.what();
        }
        co_return caught;
    };
    auto end = ps::sync_wait(world.rt, work());
    EXPECT_EQ(end.value(), "boom");
    EXPECT_EQ(log.take(), "~body ~a");
    EXPECT_EQ(reason, ps::stop_reason::sibling_failed);
    EXPECT_EQ(world.elapsed(), 5ms);
    EXPECT_EQ(world.lost, texts());
}

TEST(task_group, an_error_code_is_a_failure_that_a_result_carries_and_another_body_throws) {
    observed_runtime world;
    auto carries = []() -> ps::task<ps::io_result<int>> {
        auto got = co_await ps::task_group::run([](ps::task_group& group) -> ps::task<ps::io_result<int>> {
            group.spawn(fails_after(5ms, std::errc::connection_reset));
            co_await ps::sleep(1h);
            co_return 1;
        });
        co_return got;
    };
    auto throws = []() -> ps::task<std::error_code> {
        std::error_code caught;
        try {
            co_await ps::task_group::run([](ps::task_group& group) -> ps::task<> {
                group.spawn(fails_after(5ms, std::errc::connection_reset));
                co_await ps::sleep(1h);
            });
        } catch (std::system_error const& what) {
            caught = what.code();
        }
        co_return caught;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, carries()).value().error(), std::errc::connection_reset);
    EXPECT_EQ(ps::sync_wait(world.rt, throws()).value(), std::errc::connection_reset);
    EXPECT_EQ(world.elapsed(), 10ms);
}

TEST(task_group, failures_after_the_first_go_to_on_lost_error) {
    observed_runtime world;
    auto work = []() -> ps::task<> {
        co_await ps::task_group::run([](ps::task_group& group) -> ps::task<> {
            group.spawn(throws_after(5ms, "first"));
            group.spawn(throws_after(5ms, "second"));
            group.spawn(fails_after(5ms, std::errc::broken_pipe));
            co_await deaf_sleep(6ms);
            throw std::runtime_error("body");
        });
    };
    auto end = ps::sync_wait(world.rt, work());
    ASSERT_TRUE(end.has_exception());
    EXPECT_EQ(text_of(end.exception()), "first");
    ASSERT_EQ(world.lost.size(), 3u);
    EXPECT_EQ(world.lost[0], "second");
    EXPECT_NE(world.lost[1].find("a child of a task_group failed"), std::string::npos);
    EXPECT_EQ(world.lost[2], "body");
}

TEST(task_group, a_supervisor_reports_a_failing_child_and_goes_on) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<int> {
        int const got = co_await ps::task_group::run(
            ps::on_failure::keep_others, [&](ps::task_group& group) -> ps::task<int> {
                group.spawn(sleeps(log, "a", 20ms));
                group.spawn(throws_after(5ms, "first"));
                group.spawn(fails_after(6ms, std::errc::broken_pipe));
                co_await ps::sleep(10ms);
                log.note("body");
                co_return 3;
            });
        co_return got;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 3);
    EXPECT_EQ(log.take(), "body a ~a");
    ASSERT_EQ(world.lost.size(), 2u);
    EXPECT_EQ(world.lost[0], "first");
}

TEST(task_group, a_failing_body_ends_a_supervisor_too) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run(ps::on_failure::keep_others, [&](ps::task_group& group) -> ps::task<> {
            group.spawn(sleeps(log, "a", 1h));
            co_await ps::sleep(1ms);
            throw std::runtime_error("body");
        });
    };
    auto end = ps::sync_wait(world.rt, work());
    EXPECT_EQ(text_of(end.exception()), "body");
    EXPECT_EQ(log.take(), "~a");
    EXPECT_EQ(world.lost, texts());
    EXPECT_EQ(world.elapsed(), 1ms);
}

// or_return completes the body without resuming it: what its frame holds must not keep the group from ending.
TEST(task_group, a_body_that_ends_by_or_return_lets_go_of_its_portal) {
    observed_runtime world;
    watchdog const guard;
    lifetime_log log;
    auto work = [&]() -> ps::task<ps::io_result<void>> {
        auto got = co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<ps::io_result<void>> {
            auto const way_in = group.open_portal();
            probe const local(log, "local");
            group.spawn(sleeps(log, "a", 1h));
            co_await ps::or_return(error_now(std::errc::io_error));
            co_return {};
        });
        log.note("after");
        co_return got;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value().error(), std::errc::io_error);
    EXPECT_EQ(log.take(), "~local ~a after");
}

struct my_error {
    int number = 0;
    std::string why;
};

TEST(task_group, a_failing_body_gives_its_own_error_whatever_type_that_has) {
    observed_runtime world;
    lifetime_log log;
    using result = std::expected<int, my_error>;
    auto work = [&]() -> ps::task<result> {
        auto got = co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<result> {
            group.spawn(sleeps(log, "a", 1h));
            co_await ps::sleep(1ms);
            co_return std::unexpected(my_error{4, "because"});
        });
        co_return got;
    };
    auto end = ps::sync_wait(world.rt, work());
    ASSERT_TRUE(end.has_value());
    ASSERT_FALSE(end.value().has_value());
    EXPECT_EQ(end.value().error().number, 4);
    EXPECT_EQ(end.value().error().why, "because");
    EXPECT_EQ(log.take(), "~a");
}

ps::task<std::expected<void, my_error>> fails_its_own_way() {
    co_await ps::sleep(1ms);
    co_return std::unexpected(my_error{5, "child"});
}

TEST(task_group, a_child_with_an_error_of_another_type_fails_with_an_exception_that_holds_it) {
    observed_runtime world;
    auto work = []() -> ps::task<int> {
        int number = 0;
        try {
            co_await ps::task_group::run([](ps::task_group& group) -> ps::task<> {
                group.spawn(fails_its_own_way());
                co_await ps::sleep(1h);
            });
        } catch (std::bad_expected_access<my_error> const& what) {
            number = what.error().number;
        }
        co_return number;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 5);
}

TEST(task_group, gives_references_and_move_only_values_of_its_body) {
    observed_runtime world;
    int target = 1;
    auto work = [&]() -> ps::task<int> {
        int& same = co_await ps::task_group::run([&](ps::task_group&) -> ps::task<int&> {
            co_await ps::sleep(1ms);
            co_return target;
        });
        same = 5;
        auto owned = co_await ps::task_group::run([](ps::task_group&) -> ps::task<std::unique_ptr<int>> {
            co_await ps::sleep(1ms);
            co_return std::make_unique<int>(6);
        });
        co_return *owned;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 6);
    EXPECT_EQ(target, 5);
}

// CL9: the callable and its captures live as long as the child, and so do the arguments.
TEST(task_group, a_spawned_lambda_owns_its_captures_until_it_has_ended) {
    observed_runtime world;
    std::vector<std::string> seen;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            {
                auto child = [s = std::string(64, 'x'), owned = std::make_unique<int>(4),
                              &seen](std::string argument) -> ps::task<> {
                    co_await ps::this_task::yield();
                    co_await ps::sleep(1ms);
                    seen.push_back(s + argument + std::to_string(*owned));
                };
                group.spawn(std::move(child), std::string(40, 'y'));
            }
            co_await ps::this_task::yield();
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0], std::string(64, 'x') + std::string(40, 'y') + "4");
}

TEST(task_group, owns_the_callable_of_its_body) {
    observed_runtime world;
    auto make = [] {
        auto body = [s = std::string(64, 'b')](ps::task_group&) -> ps::task<std::string> {
            co_await ps::sleep(1ms);
            co_return s;
        };
        return ps::task_group::run(std::move(body));
    };
    auto work = [&]() -> ps::task<std::string> {
        auto got = co_await make();
        co_return got;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), std::string(64, 'b'));
}

// CA13
TEST(task_group, one_that_is_never_awaited_runs_nothing) {
    observed_runtime world;
    bool has_run = false;
    {
        auto body = [&](ps::task_group&) -> ps::task<> {
            has_run = true;
            co_return;
        };
        auto const never_awaited = ps::task_group::run(body);
        auto child = [&]() -> ps::task<> {
            has_run = true;
            co_return;
        };
        auto const unstarted = child();
    }
    EXPECT_FALSE(has_run);
}

ps::task<> tree(ps::task_group& group, int& ran, int depth) {
    ++ran;
    if (depth == 0) co_return;
    for (int i = 0; i < 2; ++i) group.spawn(tree(group, ran, depth - 1));
    co_await ps::sleep(1ms);
}

TEST(task_group, children_may_spawn_siblings) {
    observed_runtime world;
    int ran = 0;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            group.spawn(tree(group, ran, 9));
            co_return;
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(ran, (1 << 10) - 1);
}

ps::task<> awaits_foreign(int& sum) {
    int const from_coroutine = co_await []() -> foreign_coroutine { co_return 1; }();
    int const at_once = co_await foreign_ready{};
    sum += from_coroutine + at_once;
}

TEST(task_group, children_may_await_other_libraries) {
    observed_runtime world;
    int sum = 0;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            for (int i = 0; i < 100; ++i) group.spawn(awaits_foreign(sum));
            co_return;
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(sum, 400);
}

struct spawns_when_destroyed {
    ps::task_group* group;
    lifetime_log* log;

    spawns_when_destroyed(ps::task_group& of, lifetime_log& notes) : group(&of), log(&notes) {}
    spawns_when_destroyed(spawns_when_destroyed&&) = delete;
    ~spawns_when_destroyed() {
        group->request_stop();
        group->spawn(sleeps(*log, "late", 1ms));
    }
};

// LW8: a destructor on a stop path may spawn and ask; the late child stops at its first leaf.
TEST(task_group, destructors_of_stopped_children_and_bodies_may_spawn) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            auto child = [](ps::task_group& of, lifetime_log& notes) -> ps::task<> {
                spawns_when_destroyed const late(of, notes);
                co_await ps::sleep(1h);
            };
            group.spawn(child(group, log));
            spawns_when_destroyed const late(group, log);
            co_await ps::sleep(1ms);
            group.request_stop();
            co_await ps::sleep(1h);
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(log.take(), "~late ~late");
}

struct spawns_at_the_end {
    ps::task_group* group;
    explicit spawns_at_the_end(ps::task_group& of) : group(&of) {}
    spawns_at_the_end(spawns_at_the_end&& other) noexcept : group(std::exchange(other.group, nullptr)) {}
    ~spawns_at_the_end() {
        if (group == nullptr) return;
        auto late = []() -> ps::task<> { co_return; };
        group->spawn(late());
    }
};

TEST(task_group_death, spawning_into_a_group_that_has_ended_is_a_checked_error) {
    auto at_frame_end = [](ps::task_group& group) -> ps::task<> {
        // The parameter lives in the frame, which is destroyed when the group has ended.
        auto body = [](spawns_at_the_end) -> ps::task<> { co_return; };
        return body(spawns_at_the_end(group));
    };
    auto run = [&]() -> ps::task<> { co_await ps::task_group::run(at_frame_end); };
    EXPECT_DEATH((void)ps::sync_wait(run()), "has ended");
}

TEST(task_group_death, a_body_that_is_no_coroutine_cannot_spawn) {
    auto eager = [](ps::task_group& group) -> ps::task<> {
        auto child = []() -> ps::task<> { co_return; };
        group.spawn(child());
        return child();
    };
    auto run = [&]() -> ps::task<> { co_await ps::task_group::run(eager); };
    EXPECT_DEATH((void)ps::sync_wait(run()), "make the body a coroutine");
}

TEST(task_group_death, use_from_another_thread_is_a_checked_error) {
    auto run = []() -> ps::task<> {
        co_await ps::task_group::run([](ps::task_group& group) -> ps::task<> {
            auto child = []() -> ps::task<> { co_return; };
            std::jthread([&] { group.spawn(child()); }).join();
            co_return;
        });
    };
    EXPECT_DEATH((void)ps::sync_wait(run()), "from another thread");
}

} // namespace
