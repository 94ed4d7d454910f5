#include <pitsaw/executor/continuation.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace pitsaw;

TEST(ready_queue, is_first_in_first_out_and_keeps_how_each_is_resumed) {
    ready_queue queue;
    continuation a, b, c;
    EXPECT_TRUE(queue.empty());
    queue.push(a, resume_as::stopped);
    queue.push(b);
    queue.push(c, resume_as::callback);
    EXPECT_FALSE(queue.empty());
    auto const first = queue.pop();
    EXPECT_EQ(first.next, &a);
    EXPECT_EQ(first.how, resume_as::stopped);
    auto const second = queue.pop();
    EXPECT_EQ(second.next, &b);
    EXPECT_EQ(second.how, resume_as::coroutine);
    auto const third = queue.pop();
    EXPECT_EQ(third.next, &c);
    EXPECT_EQ(third.how, resume_as::callback);
    EXPECT_TRUE(queue.empty());
}

TEST(ready_queue, takes_the_same_one_again_after_its_turn) {
    ready_queue queue;
    continuation a, b;
    for (int round = 0; round < 3; ++round) {
        queue.push(a);
        queue.push(b, resume_as::stopped);
        EXPECT_EQ(queue.pop().next, &a);
        queue.push(a, resume_as::callback); // behind b, before the queue is empty
        auto const next = queue.pop();
        EXPECT_EQ(next.next, &b);
        EXPECT_EQ(next.how, resume_as::stopped);
        EXPECT_EQ(queue.pop().how, resume_as::callback);
        EXPECT_TRUE(queue.empty());
    }
}

struct frame_by_hand {
    void (*resume)(void*);
    void (*destroy)(void*);
    continuation node;
    int resumed = 0;
};

TEST(continuation, stands_where_a_coroutines_promise_would) {
    frame_by_hand frame{[](void* self) { ++static_cast<frame_by_hand*>(self)->resumed; },
                        [](void* self) { static_cast<frame_by_hand*>(self)->resumed = -1; },
                        {},
                        0};
    EXPECT_EQ(frame.node.handle().address(), &frame);
    frame.node.handle().resume();
    EXPECT_EQ(frame.resumed, 1);
    frame.node.handle().destroy();
    EXPECT_EQ(frame.resumed, -1);
}

struct eager {
    struct promise_type : continuation {
        eager get_return_object() { return {this}; }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept {}
    };
    promise_type* promise;
};
eager set(bool& has_run) {
    has_run = true;
    co_return;
}

TEST(continuation, finds_the_frame_of_a_real_coroutine) {
    bool has_run = false;
    set(has_run).promise->handle().resume();
    EXPECT_TRUE(has_run);
}

} // namespace
