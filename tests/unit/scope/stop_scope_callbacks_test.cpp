#include <pitsaw/scope/stop_scope.hpp>

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <system_error>

namespace ps = pitsaw;
using namespace std::chrono_literals;

namespace {

// A frame that holds a callback on its scope's token lives to the end of the full-expression, longer than the
// scope.

struct counter {
    int* called;
    void operator()() const noexcept { ++*called; }
};

ps::task<ps::io_result<int>> returns_early(int& called) {
    auto const stop = (co_await ps::this_task::get_environment()).stop;
    ps::inplace_stop_callback<counter> const on_stop(stop, counter{&called});
    ps::io_result<int> const failed = std::unexpected(std::make_error_code(std::errc::io_error));
    co_return co_await ps::or_return(failed);
}

ps::task<> waits_with_a_callback(int& called) {
    auto const stop = (co_await ps::this_task::get_environment()).stop;
    ps::inplace_stop_callback<counter> const on_stop(stop, counter{&called});
    co_await ps::sleep(1h);
}

TEST(stop_scope, a_callback_of_a_child_that_returned_early_may_outlive_it) {
    int called = 0;
    auto body = [&called]() -> ps::task<> {
        auto const timed = co_await ps::with_timeout(1s, returns_early(called));
        EXPECT_EQ(timed.error(), std::errc::io_error);
        auto const all = co_await ps::when_all(returns_early(called), ps::sleep(1ms));
        EXPECT_EQ(all.error(), std::errc::io_error);
        auto const any = co_await ps::when_any(returns_early(called), ps::sleep(1h));
        EXPECT_EQ(any.first(), 0u);
    };
    EXPECT_TRUE(ps::sync_wait(body()).has_value());
}

TEST(stop_scope, a_callback_that_ran_in_a_stopped_child_may_outlive_it) {
    int called = 0;
    auto body = [&called]() -> ps::task<> {
        auto const timed = co_await ps::with_timeout(1ms, waits_with_a_callback(called));
        EXPECT_EQ(timed.error(), std::errc::timed_out);
        auto const any = co_await ps::when_any(waits_with_a_callback(called), ps::sleep(1ms));
        EXPECT_EQ(any.first(), 1u);
    };
    EXPECT_TRUE(ps::sync_wait(body()).has_value());
    EXPECT_EQ(called, 2);
}

struct slow_link {
    int* called;
    ps::task<> async_close() { co_await waits_with_a_callback(*called); }
};

TEST(stop_scope, a_callback_in_a_close_that_is_stopped_at_its_deadline_may_outlive_it) {
    int called = 0;
    int lost = 0;
    ps::runtime_options options;
    options.on_lost_error = [&lost](std::exception_ptr) { ++lost; };
    ps::runtime rt(options);
    auto use = [](slow_link&) -> ps::task<> { co_return; };
    auto body = [&]() -> ps::task<> {
        slow_link link{&called};
        co_await ps::with(std::move(link), use, 10ms);
    };
    EXPECT_TRUE(ps::sync_wait(rt, body()).has_value());
    EXPECT_EQ(called, 1);
    EXPECT_EQ(lost, 1);
}

// While a stopped frame is destroyed it is nobody's stack any more.
struct looks_at_its_stack {
    std::size_t* depth;
    ~looks_at_its_stack() { *depth = ps::this_task::async_stack().size(); }
};

ps::task<> waits_deep(std::size_t& depth) {
    looks_at_its_stack const guard{&depth};
    auto const inner = []() -> ps::task<> { co_await ps::sleep(1h); };
    co_await inner();
}

TEST(stop_scope, a_destructor_in_a_stopped_child_may_ask_for_the_async_stack) {
    std::size_t depth = 99;
    auto children = [&depth](ps::task_group& group) -> ps::task<> {
        group.spawn(waits_deep(depth));
        co_await ps::sleep(1ms);
        group.request_stop();
    };
    auto body = [&]() -> ps::task<> { co_await ps::task_group::run(children); };
    EXPECT_TRUE(ps::sync_wait(body()).has_value());
    EXPECT_EQ(depth, 1u); // who waits for the group
}

ps::task<> one_at_a_time(ps::task_group& group, int& spawned) {
    auto const tick = []() -> ps::task<> { co_await ps::sleep(1ms); };
    for (int i = 0; i < 5; ++i) {
        co_await group.room();
        group.spawn(tick());
        ++spawned;
    }
}

TEST(task_group, several_spawners_that_wait_for_room_never_find_it_taken) {
    int spawned = 0;
    ps::task_group_options bound;
    bound.children_max = 1;
    auto children = [&spawned](ps::task_group& group) -> ps::task<> {
        (void)co_await ps::when_all(one_at_a_time(group, spawned), one_at_a_time(group, spawned),
                                    one_at_a_time(group, spawned));
    };
    auto body = [&]() -> ps::task<> { co_await ps::task_group::run(bound, children); };
    EXPECT_TRUE(ps::sync_wait(body()).has_value());
    EXPECT_EQ(spawned, 15);
}

} // namespace
