#include <pitsaw/task/promise_header.hpp>

#include <pitsaw/executor/timer_node.hpp>
#include <pitsaw/io/await_operation.hpp>
#include <pitsaw/io/operation.hpp>
#include <pitsaw/scope/shield.hpp>
#include <pitsaw/scope/task_group.hpp>
#include <pitsaw/scope/when_all.hpp>
#include <pitsaw/scope/when_any.hpp>
#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/scope/with_executor.hpp>
#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/async_generator.hpp>
#include <pitsaw/task/at_exit.hpp>
#include <pitsaw/task/blocking.hpp>
#include <pitsaw/task/in.hpp>
#include <pitsaw/task/or_return.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/interval.hpp>
#include <pitsaw/time/sleep.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <thread>

namespace {

using namespace pitsaw;

struct size_row {
    char const* what;
    std::size_t bytes;
    std::size_t pinned; // on 64 bits, with libstdc++
};

using nothing_body = task<> (*)(task_group&);

constexpr size_row sizes[] = {
    {"continuation", sizeof(continuation), 8},
    {"promise_header", sizeof(promise_header), 48},
    {"boundary", sizeof(boundary), 32},
    {"environment", sizeof(environment), 48},
    {"timer_node", sizeof(timer_node), 40},
    {"operation", sizeof(operation), 80},
    {"operation_leaf", sizeof(operation_leaf), 112},
    {"result_slot<int>", sizeof(result_slot<int>), 16},
    {"task_promise<int>", sizeof(task_promise<int>), 64},
    {"task<int>::awaiter", sizeof(task<int>::awaiter), 8},
    {"leaf_frame", sizeof(leaf_frame), 64},
    {"yield", sizeof(yield_awaiter), 1},
    {"checkpoint", sizeof(checkpoint_awaiter), 1},
    {"blocking", sizeof(blocking_leaf), 152},
    {"sleep", sizeof(sleep_awaiter), 64},
    {"interval tick", sizeof(interval::tick_awaiter), 80},
    {"as_outcome<task<int>>", sizeof(as_outcome_awaiter<task<int>>), 64},
    {"or_return of a task", sizeof(or_return_awaiter<task<io_result<int>>, task_promise<io_result<int>>>),
     56},
    {"foreign_awaiter of a reference", sizeof(foreign_awaiter<std::suspend_never&&>), 48},
    {"cleanup_promise", sizeof(cleanup_promise), 232},
    {"async_generator_promise<int>", sizeof(async_generator_promise<int>), 120},
    {"in<task<int>>", sizeof(in_awaiter<task<int>>), 280},
    {"stop_scope", sizeof(stop_scope), 88},
    {"shield<task<int>>", sizeof(shield_awaiter<task<int>>), 96},
    {"with_executor<task<int>>", sizeof(with_executor(executor_ref(), std::declval<task<int>>())), 272},
    {"with_timeout<task<int>>", sizeof(with_deadline_awaiter<task<int>>), 184},
    {"when_all of two task<int>", sizeof(when_all_awaiter<task<int>, task<int>>), 224},
    {"when_any of two task<int>", sizeof(when_any_awaiter<task<int>, task<int>>), 224},
    {"when_any of a task<int> and a sleep", sizeof(when_any_awaiter<task<int>, sleep_awaiter>), 304},
    {"task_group", sizeof(task_group), 264},
    {"run_group", sizeof(run_group_awaiter<nothing_body>), 320},
    {"child of a group", sizeof(group_node<int>), 64},
    {"child on another worker", sizeof(away_child<task<> (*)()>), 328},
};

// The cost of each await site, visible: whoever changes a size changes this table and says so.
TEST(sizes, are_those_of_the_table) {
    for (auto const& row : sizes) EXPECT_EQ(row.bytes, row.pinned) << row.what;
}

#if defined(__clang__) && defined(__OPTIMIZE__) && defined(NDEBUG)

[[gnu::noinline]] task<int> ready(int value) { co_return value; }
[[gnu::noinline]] task<int> awaits_one() {
    int const value = co_await ready(1);
    co_return value;
}

// What a new thread's recycler keeps of one frame: its size, rounded up to its class of 16 bytes.
std::size_t frame_bytes(task<int> (*make)()) {
    std::size_t bytes = 0;
    std::thread([&] {
        {
            auto const unstarted = make();
        }
        bytes = frame_memory_statistics().cached_bytes;
    }).join();
    return bytes;
}

TEST(sizes, a_ready_task_has_a_frame_of_88_bytes) {
    EXPECT_EQ(frame_bytes([] { return ready(1); }), 88u);
    EXPECT_EQ(frame_bytes(awaits_one), 120u);
}
#endif

} // namespace
