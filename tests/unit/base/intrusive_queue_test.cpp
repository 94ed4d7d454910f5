#include <pitsaw/base/intrusive_queue.hpp>

#include <gtest/gtest.h>

#include <utility>

namespace {

using namespace pitsaw;

struct job {
    int number;
    job* next = nullptr;
};
using jobs = intrusive_queue<job, &job::next>;

TEST(intrusive_queue, first_in_is_first_out) {
    jobs ready;
    job first{1}, second{2}, third{3};
    for (auto* each : {&first, &second, &third}) ready.push_back(*each);
    EXPECT_EQ(ready.front(), &first);
    EXPECT_EQ(ready.pop_front(), &first);
    EXPECT_EQ(first.next, nullptr);
    ready.push_back(first);
    EXPECT_EQ(ready.pop_front(), &second);
    EXPECT_EQ(ready.pop_front(), &third);
    EXPECT_EQ(ready.pop_front(), &first);
    EXPECT_EQ(ready.pop_front(), nullptr);
    EXPECT_TRUE(ready.empty());
}

TEST(intrusive_queue, an_element_can_be_put_first) {
    jobs ready;
    job first{1}, second{2}, third{3};
    ready.push_front(second);
    ready.push_back(third);
    ready.push_front(first);
    EXPECT_EQ(ready.pop_front()->number, 1);
    EXPECT_EQ(ready.pop_front()->number, 2);
    EXPECT_EQ(ready.pop_front()->number, 3);
}

TEST(intrusive_queue, splicing_appends_in_order_and_empties_the_other) {
    jobs ready, more;
    job first{1}, second{2}, third{3};
    ready.splice_back(more);
    EXPECT_TRUE(ready.empty());
    more.push_back(first);
    ready.splice_back(more);
    more.push_back(second);
    more.push_back(third);
    ready.splice_back(more);
    EXPECT_TRUE(more.empty());
    for (int number = 1; number <= 3; ++number) EXPECT_EQ(ready.pop_front()->number, number);
}

TEST(intrusive_queue, moving_takes_the_elements_along) {
    jobs ready;
    job first{1}, second{2};
    ready.push_back(first);
    jobs moved(std::move(ready));
    EXPECT_TRUE(ready.empty());
    moved.push_back(second);
    EXPECT_EQ(moved.pop_front(), &first);
    EXPECT_EQ(moved.pop_front(), &second);
}

} // namespace
