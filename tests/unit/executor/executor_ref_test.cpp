#include <pitsaw/executor/executor_ref.hpp>

#include "bare_executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <coroutine>
#include <memory>
#include <thread>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;

TEST(executor_ref, names_nobody_until_it_is_given_an_executor) {
    executor_ref const nobody;
    EXPECT_FALSE(static_cast<bool>(nobody));
    bare_executor one;
    bare_executor other;
    EXPECT_EQ(executor_ref(one), executor_ref(one));
    EXPECT_NE(executor_ref(one), executor_ref(other));
    EXPECT_EQ(&*executor_ref(one), &one);
}

TEST(executor_ref, knows_whether_this_thread_is_its_worker) {
    bare_executor mine;
    EXPECT_FALSE(executor_ref(mine).is_current());
    EXPECT_EQ(exchange_current_executor(&mine), nullptr);
    EXPECT_TRUE(executor_ref(mine).is_current());
    std::thread([&] { EXPECT_FALSE(executor_ref(mine).is_current()); }).join();
    EXPECT_EQ(exchange_current_executor(nullptr), &mine);
}

TEST(executor, what_its_worker_posts_is_ready_at_once) {
    bare_executor mine;
    exchange_current_executor(&mine);
    continuation node;
    mine.post_from_any_thread(node, resume_as::stopped);
    EXPECT_EQ(mine.wakes(), 0);
    auto const next = mine.ready.pop();
    EXPECT_EQ(next.next, &node);
    EXPECT_EQ(next.how, resume_as::stopped);
    exchange_current_executor(nullptr);
}

TEST(executor, what_others_post_comes_through_the_inbox_in_order_with_one_wake) {
    bare_executor mine;
    continuation a;
    continuation b;
    mine.post_from_any_thread(a, resume_as::callback);
    mine.post_from_any_thread(b, resume_as::coroutine);
    EXPECT_TRUE(mine.ready.empty());
    EXPECT_EQ(mine.wakes(), 1);
    mine.take_inbox();
    auto const first = mine.ready.pop();
    EXPECT_EQ(first.next, &a);
    EXPECT_EQ(first.how, resume_as::callback);
    EXPECT_EQ(mine.ready.pop().next, &b);
    mine.post_from_any_thread(a, resume_as::coroutine);
    EXPECT_EQ(mine.wakes(), 2);
    mine.take_inbox();
    EXPECT_EQ(mine.ready.pop().next, &a);
}

TEST(executor, parks_a_hop_behind_what_is_ready) {
    bare_executor mine;
    continuation a;
    continuation b;
    mine.ready.push(a);
    mine.current = &b;
    EXPECT_EQ(mine.park(b), std::noop_coroutine());
    EXPECT_EQ(mine.current, nullptr);
    EXPECT_EQ(mine.ready.pop().next, &a);
    EXPECT_EQ(mine.ready.pop().next, &b);
}

TEST(executor, outlives_a_thread_that_still_posts_to_it) {
    // The worker may see a node and end everything before the posting thread has left post_from_any_thread.
    constexpr int rounds = 5'000;
    struct order {
        bare_executor to;
        continuation node;
    };
    std::atomic<order*> next = nullptr;
    std::thread poster([&next] {
        for (int i = 0; i < rounds; ++i) {
            order* given = nullptr;
            while ((given = next.exchange(nullptr)) == nullptr) next.wait(nullptr);
            given->to.post_from_any_thread(given->node, resume_as::callback);
        }
    });
    for (int i = 0; i < rounds; ++i) {
        auto const mine = std::make_unique<order>();
        next = mine.get();
        next.notify_one();
        for (mine->to.take_inbox(); mine->to.ready.empty(); mine->to.take_inbox()) std::this_thread::yield();
    }
    poster.join();
}

TEST(executor, tells_of_the_suspension_and_of_the_leaf_that_are_watched) {
    bare_executor mine;
    continuation leaf;
    continuation other;
    mine.watched = 3;
    for (int i = 0; i < 5; ++i) mine.note_suspension(leaf);
    EXPECT_EQ(mine.suspensions, 5u);
    EXPECT_EQ(mine.watched_suspended, 1);
    mine.watched_leaf = &leaf;
    mine.note_completion(other);
    EXPECT_EQ(mine.watched_completed, 0);
    mine.note_completion(leaf);
    EXPECT_EQ(mine.watched_completed, 1);
}

} // namespace
