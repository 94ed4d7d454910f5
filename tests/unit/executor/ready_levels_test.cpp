#include <pitsaw/executor/ready_levels.hpp>

#include "bare_executor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <thread>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;

TEST(ready_levels, takes_the_highest_first_and_each_in_its_order) {
    ready_levels ready;
    std::array<continuation, 6> nodes;
    ready.push(nodes[0], resume_as::coroutine, priority::low);
    ready.push(nodes[1], resume_as::stopped, priority::normal);
    ready.push(nodes[2], resume_as::coroutine, priority::high);
    ready.push(nodes[3], resume_as::callback, priority::high);
    ready.push(nodes[4]);
    ready.push(nodes[5], resume_as::ended, priority::low);
    for (std::size_t const expected : {2, 3, 1, 4, 0, 5}) {
        EXPECT_FALSE(ready.empty());
        EXPECT_EQ(ready.pop().next, &nodes[expected]);
    }
    EXPECT_TRUE(ready.empty());
}

TEST(ready_levels, says_whether_something_of_a_priority_or_a_higher_one_waits) {
    ready_levels ready;
    continuation node;
    ready.push(node, resume_as::coroutine, priority::normal);
    EXPECT_FALSE(ready.has_at_least(priority::high));
    EXPECT_TRUE(ready.has_at_least(priority::normal));
    EXPECT_TRUE(ready.has_at_least(priority::low));
    EXPECT_EQ(ready.pop().next, &node);
    EXPECT_FALSE(ready.has_at_least(priority::low));
}

/// How often each of three is taken in so many turns, where each comes back at once.
std::array<unsigned, priority_count> turns_of_each(unsigned const turns, bool const with_normal = true) {
    ready_levels ready;
    std::array<continuation, priority_count> nodes;
    for (std::size_t each = 0; each < priority_count; ++each)
        if (each != 1 || with_normal)
            ready.push(nodes[each], resume_as::coroutine, static_cast<priority>(each));
    std::array<unsigned, priority_count> taken{};
    for (unsigned turn = 0; turn < turns; ++turn) {
        auto* const next = ready.pop().next;
        auto const which = static_cast<std::size_t>(next - nodes.data());
        ++taken[which];
        ready.push(*next, resume_as::coroutine, static_cast<priority>(which));
    }
    while (!ready.empty()) (void)ready.pop();
    return taken;
}

TEST(ready_levels, starves_none_and_gives_the_highest_nearly_all) {
    constexpr unsigned turns = 1800;
    auto const taken = turns_of_each(turns);
    for (auto const lower : {taken[1], taken[2]}) {
        EXPECT_GE(lower, turns / (ready_levels::turns_max + 2) - 1);
        EXPECT_LE(lower, turns / ready_levels::turns_max);
    }
    EXPECT_GE(turns_of_each(turns, false)[2], turns / (ready_levels::turns_max + 1) - 1);
}

TEST(ready_levels, what_is_pushed_first_is_next_of_its_priority) {
    ready_levels ready;
    std::array<continuation, 4> nodes;
    ready.push_first(nodes[0], resume_as::stopped, priority::normal); // into an empty one
    ready.push(nodes[1]);
    ready.push_first(nodes[2], resume_as::coroutine, priority::normal);
    ready.push(nodes[3], resume_as::coroutine, priority::high);
    EXPECT_EQ(ready.pop().next, &nodes[3]);
    EXPECT_EQ(ready.pop().next, &nodes[2]);
    auto const second = ready.pop();
    EXPECT_EQ(second.next, &nodes[0]);
    EXPECT_EQ(second.how, resume_as::stopped);
    EXPECT_EQ(ready.pop().next, &nodes[1]);
    EXPECT_TRUE(ready.empty());
    ready.push(nodes[1]); // the tail is where it was
    EXPECT_EQ(ready.pop().next, &nodes[1]);
}

TEST(ready_levels, a_post_of_another_thread_carries_its_priority) {
    bare_executor worker;
    std::array<continuation, 3> nodes;
    std::thread([&] {
        worker.post_from_any_thread(nodes[0], resume_as::callback, priority::low);
        worker.post_from_any_thread(nodes[1], resume_as::callback);
        worker.post_in_order(nodes[2], resume_as::callback, priority::high);
    }).join();
    worker.take_inbox();
    for (std::size_t const expected : {2, 1, 0}) EXPECT_EQ(worker.ready.pop().next, &nodes[expected]);
}

} // namespace
