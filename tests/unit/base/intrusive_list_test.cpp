#include <pitsaw/base/intrusive_list.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace {

using namespace pitsaw;

struct waiter : intrusive_list_node {
    explicit waiter(int number) : permits(number) {}
    int permits = 0;
};
using waiters = intrusive_list<waiter>;

auto permits_of(waiters const& list) -> std::vector<int> {
    std::vector<int> permits;
    for (waiter const& each : list) permits.push_back(each.permits);
    return permits;
}

void drain(waiters& list) {
    while (list.pop_front() != nullptr) {
    }
}

TEST(intrusive_list, keeps_the_order_at_both_ends) {
    waiters queue;
    waiter one(1), two(2), three(3);
    queue.push_back(two);
    queue.push_front(one);
    queue.push_back(three);
    EXPECT_EQ(permits_of(queue), (std::vector{1, 2, 3}));
    EXPECT_EQ(&queue.front(), &one);
    EXPECT_EQ(&queue.back(), &three);
    EXPECT_EQ(queue.pop_front(), &one);
    EXPECT_FALSE(one.is_linked());
    drain(queue);
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.pop_front(), nullptr);
}

TEST(intrusive_list, an_element_leaves_without_knowing_its_list) {
    waiters queue;
    waiter one(1), two(2), three(3);
    for (auto* each : {&one, &two, &three}) queue.push_back(*each);
    EXPECT_EQ(waiters::unlink(two), nullptr);
    EXPECT_EQ(permits_of(queue), (std::vector{1, 3}));
    EXPECT_EQ(waiters::unlink(three), nullptr);
    EXPECT_EQ(waiters::unlink(one), &queue) << "the last one out reports which list it emptied";
    EXPECT_TRUE(queue.empty());
    queue.push_back(two);
    EXPECT_EQ(waiters::unlink(two), &queue);
}

TEST(intrusive_list, splicing_appends_in_order_and_empties_the_other) {
    waiters first, second;
    waiter one(1), two(2), three(3);
    first.push_back(one);
    second.push_back(two);
    second.push_back(three);
    first.splice_back(second);
    EXPECT_EQ(permits_of(first), (std::vector{1, 2, 3}));
    EXPECT_TRUE(second.empty());
    first.splice_back(second);
    second.splice_back(first);
    EXPECT_EQ(permits_of(second), (std::vector{1, 2, 3}));
    EXPECT_TRUE(first.empty());
    drain(second);
}

TEST(intrusive_list, iterates_both_ways) {
    waiters queue;
    waiter one(1), two(2);
    queue.push_back(one);
    queue.push_back(two);
    auto at = queue.end();
    EXPECT_EQ((--at)->permits, 2);
    EXPECT_EQ((at--)->permits, 2);
    EXPECT_EQ((at++)->permits, 1);
    EXPECT_EQ(++at, queue.end());
    drain(queue);
}

struct in_group : intrusive_list_node {};
struct by_age : intrusive_list_node {};
struct member : in_group, by_age {
    int name = 0;
};

TEST(intrusive_list, a_type_can_stand_in_two_lists) {
    intrusive_list<member, in_group> group;
    intrusive_list<member, by_age> ages;
    member one, two;
    one.name = 1;
    two.name = 2;
    group.push_back(one);
    group.push_back(two);
    ages.push_front(one);
    ages.push_front(two);
    EXPECT_EQ(group.pop_front()->name, 1);
    EXPECT_EQ(ages.pop_front()->name, 2);
    EXPECT_TRUE(two.in_group::is_linked());
    EXPECT_FALSE(two.by_age::is_linked());
    EXPECT_EQ(group.pop_front()->name, 2);
    EXPECT_EQ(ages.pop_front()->name, 1);
}

#ifndef NDEBUG
TEST(intrusive_list_death_test, destroying_a_linked_element_is_an_error) {
    waiters queue;
    EXPECT_DEATH(
        {
            waiter gone(1);
            queue.push_back(gone);
        },
        "destroyed while it stands in a list");
}

TEST(intrusive_list_death_test, standing_in_two_lists_through_one_node_is_an_error) {
    waiters first, second;
    waiter one(1);
    first.push_back(one);
    EXPECT_DEATH(second.push_back(one), "one list at a time");
    drain(first);
}

TEST(intrusive_list_death_test, destroying_a_list_with_elements_is_an_error) {
    EXPECT_DEATH(
        {
            static waiter stays(1);
            waiters queue;
            queue.push_back(stays);
        },
        "destroyed with elements in it");
}
#endif

} // namespace
