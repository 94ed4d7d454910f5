#include <pitsaw/scope/task_group.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <memory_resource>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

ps::task_group_options at_most(std::uint32_t children) {
    ps::task_group_options options;
    options.children_max = children;
    return options;
}

ps::task<> counted(int& alive, int& most, ps::duration span) {
    most = std::max(most, ++alive);
    co_await ps::sleep(span);
    --alive;
}

TEST(task_group_room, bounds_how_many_children_are_alive) {
    observed_runtime world;
    int alive = 0, most = 0, spawned = 0;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run(at_most(3), [&](ps::task_group& group) -> ps::task<> {
            for (int i = 0; i < 20; ++i) {
                co_await group.room();
                EXPECT_FALSE(group.is_full());
                group.spawn(counted(alive, most, ps::duration(1ms) * (i % 4 + 1)));
                ++spawned;
                EXPECT_LE(group.size(), 3u);
            }
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(spawned, 20);
    EXPECT_EQ(most, 3);
    EXPECT_EQ(alive, 0);
}

TEST(task_group_room, several_spawners_take_turns_and_none_finds_it_full_after_waiting) {
    observed_runtime world;
    int alive = 0, most = 0;
    std::vector<int> order;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run(at_most(2), [&](ps::task_group& bounded) -> ps::task<> {
            co_await ps::task_group::run([&](ps::task_group& spawners) -> ps::task<> {
                auto spawner = [&](int number) -> ps::task<> {
                    co_await bounded.room();
                    EXPECT_FALSE(bounded.is_full());
                    order.push_back(number);
                    bounded.spawn(counted(alive, most, 1ms));
                };
                for (int i = 0; i < 10; ++i) spawners.spawn(spawner, i);
                co_return;
            });
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(most, 2);
    EXPECT_EQ(world.elapsed(), 5ms);
}

// LW6's kind: the place granted to a waiter that does not take it belongs to the next one.
TEST(task_group_room, a_waiter_that_does_not_spawn_lets_the_next_one_in) {
    observed_runtime world;
    bool second_got_in = false;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run(at_most(1), [&](ps::task_group& bounded) -> ps::task<> {
            auto child = []() -> ps::task<> { co_await ps::sleep(5ms); };
            bounded.spawn(child());
            auto declines = [&]() -> ps::task<> { co_await bounded.room(); };
            auto wants = [&]() -> ps::task<> {
                auto got = co_await ps::with_timeout(1h, bounded.room());
                second_got_in = got.has_value();
            };
            co_await ps::when_all(declines(), declines(), wants());
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_TRUE(second_got_in);
    EXPECT_EQ(world.elapsed(), 5ms);
}

// LW2's kind
TEST(task_group_room, a_waiter_that_gives_up_as_a_child_ends_lets_the_next_one_in) {
    observed_runtime world;
    bool second_got_in = false;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run(at_most(1), [&](ps::task_group& bounded) -> ps::task<> {
            auto child = []() -> ps::task<> { co_await ps::sleep(5ms); };
            bounded.spawn(child());
            auto gives_up = [&]() -> ps::task<> { (void)co_await ps::with_timeout(5ms, bounded.room()); };
            auto wants = [&]() -> ps::task<> {
                auto got = co_await ps::with_timeout(1h, bounded.room());
                second_got_in = got.has_value();
            };
            co_await ps::when_all(gives_up(), wants());
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_TRUE(second_got_in);
    EXPECT_EQ(world.elapsed(), 5ms);
}

TEST(task_group_room, waiting_for_it_is_a_leaf_that_stops) {
    observed_runtime world;
    auto work = []() -> ps::task<> {
        co_await ps::task_group::run(at_most(1), [](ps::task_group& group) -> ps::task<> {
            auto child = []() -> ps::task<> { co_await ps::sleep(1h); };
            group.spawn(child());
            co_await group.room();
            ADD_FAILURE();
        });
    };
    EXPECT_TRUE(run_stopped(world.rt, 5ms, work()).is_stopped());
    EXPECT_TRUE(run_stopped(world.rt, before_the_start, work()).is_stopped());
}

TEST(task_group_room, spawning_into_a_full_group_throws_and_leaves_it_as_it_was) {
    observed_runtime world;
    int alive = 0, most = 0;
    bool has_run = false;
    auto work = [&]() -> ps::task<std::error_code> {
        auto caught =
            co_await ps::task_group::run(at_most(1), [&](ps::task_group& group) -> ps::task<std::error_code> {
                std::error_code why;
                group.spawn(counted(alive, most, 1ms));
                auto refused = [&]() -> ps::task<> {
                    has_run = true;
                    co_return;
                };
                try {
                    group.spawn(refused());
                } catch (std::system_error const& what) {
                    why = what.code();
                }
                try {
                    group.spawn(refused);
                    ADD_FAILURE();
                } catch (std::system_error const&) {
                }
                EXPECT_EQ(group.size(), 1u);
                co_return why;
            });
        co_return caught;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), std::errc::resource_unavailable_try_again);
    EXPECT_FALSE(has_run);
    EXPECT_EQ(most, 1);
}

// ---- Memory

/// Gives the `nth` request and those after it nothing.
class failing_memory : public std::pmr::memory_resource {
  public:
    int requests_until_failure = 1 << 30;
    int live = 0;

  private:
    void* do_allocate(std::size_t size, std::size_t alignment) override {
        if (requests_until_failure-- <= 0) throw std::bad_alloc();
        ++live;
        return std::pmr::new_delete_resource()->allocate(size, alignment);
    }
    void do_deallocate(void* where, std::size_t size, std::size_t alignment) override {
        --live;
        std::pmr::new_delete_resource()->deallocate(where, size, alignment);
    }
    bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }
};

TEST(task_group_room, children_come_from_the_memory_of_the_environment_and_all_go_back) {
    observed_runtime world;
    failing_memory memory;
    int alive = 0, most = 0;
    auto group = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& of) -> ps::task<> {
            for (int i = 0; i < 10; ++i) of.spawn(counted(alive, most, 1ms));
            EXPECT_EQ(memory.live, 10);
            co_return;
        });
    };
    auto work = [&]() -> ps::task<> { co_await ps::with_memory(memory, group()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(most, 10);
    EXPECT_EQ(memory.live, 0);
}

TEST(task_group_room, a_spawn_without_memory_throws_and_leaves_the_group_as_it_was) {
    observed_runtime world;
    failing_memory memory;
    memory.requests_until_failure = 2;
    int alive = 0, most = 0, refused = 0;
    bool has_run = false;
    auto group = [&]() -> ps::task<int> {
        int const got = co_await ps::task_group::run([&](ps::task_group& of) -> ps::task<int> {
            of.spawn(counted(alive, most, 1ms));
            of.spawn(counted(alive, most, 2ms));
            auto captured = std::make_shared<int>(1);
            auto child = [&has_run, captured](std::string) -> ps::task<> {
                has_run = true;
                co_return;
            };
            for (int i = 0; i < 3; ++i) {
                try {
                    of.spawn(child, std::string(50, 'x'));
                } catch (std::bad_alloc const&) {
                    ++refused;
                }
            }
            EXPECT_EQ(captured.use_count(), 2); // `captured` and `child`
            EXPECT_EQ(of.size(), 2u);
            co_await ps::sleep(1ms);
            memory.requests_until_failure = 1;
            of.spawn(counted(alive, most, 1ms));
            co_return 5;
        });
        co_return got;
    };
    auto work = [&]() -> ps::task<int> {
        int const got = co_await ps::with_memory(memory, group());
        co_return got;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 5);
    EXPECT_EQ(refused, 3);
    EXPECT_FALSE(has_run);
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(memory.live, 0);
}

/// Throws at the copy (or move) after the next `left`.
struct throws_when_moved {
    int* left;
    explicit throws_when_moved(int& copies_left) : left(&copies_left) {}
    throws_when_moved(throws_when_moved const& other) : left(other.left) {
        if ((*left)-- <= 0) throw std::runtime_error("no copy");
    }
};

TEST(task_group_room, a_spawn_whose_arguments_throw_leaves_the_group_as_it_was) {
    observed_runtime world;
    int refused = 0, ran = 0;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            auto child = [&](throws_when_moved) -> ps::task<> {
                ++ran;
                co_return;
            };
            for (int moves = 0; ran == 0 && moves < 20; ++moves) {
                int left = moves;
                throws_when_moved const argument(left);
                try {
                    group.spawn(child, argument);
                } catch (std::runtime_error const&) {
                    EXPECT_EQ(group.size(), 0u);
                    ++refused;
                }
                left = 20; // the frame's own copies at its end
                co_await ps::this_task::yield();
            }
            auto is_no_coroutine = []() -> ps::task<> { throw std::runtime_error("no task"); };
            EXPECT_THROW(group.spawn(is_no_coroutine), std::runtime_error);
            EXPECT_EQ(group.size(), 0u);
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_GE(refused, 3); // into the parameter, into the node, into the frame
    EXPECT_EQ(ran, 1);
}

// ---- Numbers

TEST(task_group_room, a_million_children_one_after_the_other_need_no_more_memory_than_a_few) {
    observed_runtime world;
    std::uint64_t ran = 0;
    auto work = [&](int count) -> ps::task<> {
        co_await ps::task_group::run(at_most(8), [&, count](ps::task_group& group) -> ps::task<> {
            auto child = [&]() -> ps::task<> {
                ++ran;
                co_return;
            };
            for (int i = 0; i < count; ++i) {
                co_await group.room();
                group.spawn(child);
            }
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work(100)).has_value());
    auto const before = ps::frame_memory_statistics();
    EXPECT_TRUE(ps::sync_wait(world.rt, work(1'000'000)).has_value());
    auto const after = ps::frame_memory_statistics();
    EXPECT_EQ(ran, 1'000'100u);
    EXPECT_EQ(after.live, before.live);
    EXPECT_LE(after.cached_bytes, before.cached_bytes + 4096);
}

// SC5: children that wait are asked once each, and nothing is looked at twice.
TEST(task_group_room, twenty_thousand_children_cost_one_suspension_each) {
    observed_runtime world;
    constexpr int children = 20'000;
    int ended = 0;
    auto work = [&](bool is_stopped) -> ps::task<> {
        co_await ps::task_group::run([&, is_stopped](ps::task_group& group) -> ps::task<> {
            auto child = [&](int i) -> ps::task<> {
                co_await ps::sleep(ps::duration(1 + i % 1000));
                ++ended;
            };
            for (int i = 0; i < children; ++i) group.spawn(child, i);
            if (!is_stopped) co_return;
            co_await ps::this_task::yield();
            group.request_stop();
        });
    };
    auto& worker = *world.rt.get_executor();
    auto const before = worker.suspensions;
    EXPECT_TRUE(ps::sync_wait(world.rt, work(false)).has_value());
    EXPECT_EQ(worker.suspensions - before, std::uint64_t{children});
    EXPECT_EQ(ended, children);
    auto const now = world.elapsed();
    EXPECT_TRUE(ps::sync_wait(world.rt, work(true)).has_value());
    EXPECT_EQ(worker.suspensions - before, std::uint64_t{2 * children + 1});
    EXPECT_EQ(ended, children);
    EXPECT_EQ(world.elapsed(), now);
}

TEST(task_group_room_death, room_for_nobody_is_a_checked_error) {
    auto run = []() -> ps::task<> {
        ps::task_group_options options;
        options.children_max = 0;
        co_await ps::task_group::run(options, [](ps::task_group&) -> ps::task<> { co_return; });
    };
    EXPECT_DEATH((void)ps::sync_wait(run()), "children_max is at least 1");
}

// The hop into the ready queue that the budget asks for comes after room was granted and before it is used.
TEST(task_group_room, what_was_granted_at_once_stays_granted_through_a_hop) {
    for (int hops = 240; hops < 270; ++hops) {
        observed_runtime world;
        ps::task_group_options options;
        options.children_max = 2;
        auto work = [&]() -> ps::task<> {
            co_await ps::task_group::run(options, [&](ps::task_group& group) -> ps::task<> {
                auto spawner = [&]() -> ps::task<> {
                    for (int i = 0; i < hops; ++i) co_await ps::sleep(0s);
                    co_await group.room();
                    group.spawn([]() -> ps::task<> { co_await ps::sleep(1ms); });
                };
                co_await ps::when_all(spawner(), spawner(), spawner());
            });
        };
        EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value()) << hops << " hops";
    }
}

TEST(task_group_room_death, a_stop_before_it_runs_is_a_checked_error) {
    auto eager = [](ps::task_group& group) -> ps::task<> {
        group.request_stop();
        auto empty = []() -> ps::task<> { co_return; };
        return empty();
    };
    auto run = [&]() -> ps::task<> { co_await ps::task_group::run(eager); };
    EXPECT_DEATH((void)ps::sync_wait(run()), "stopped before it runs");
}

} // namespace
