#include <pitsaw/executor/budget.hpp>

#include <pitsaw/scope/when_all.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>
#include <pitsaw/task/this_task.hpp>

#include <gtest/gtest.h>

namespace {

using namespace pitsaw;

TEST(budget, allows_255_hops_and_sends_the_256th_to_the_queue) {
    budget hops;
    for (int i = 1; i < budget::hops_max; ++i) EXPECT_TRUE(hops.spend());
    EXPECT_FALSE(hops.spend());
    EXPECT_FALSE(hops.spend());
    hops.refill();
    EXPECT_TRUE(hops.spend());
}

task<int> ready() { co_return 1; }
task<> never_waits(bool const& is_over, int& rounds) {
    for (bool goes_on = true; goes_on; goes_on = !is_over) rounds += co_await ready();
}
task<> ends_it(bool& is_over) {
    co_await this_task::yield();
    is_over = true;
}
task<> both(bool& is_over, int& rounds) {
    (void)co_await when_all(never_waits(is_over, rounds), ends_it(is_over));
}

TEST(budget, makes_a_task_that_never_waits_give_way) {
    bool is_over = false;
    int rounds = 0;
    EXPECT_TRUE(sync_wait(both(is_over, rounds)).has_value());
    EXPECT_GT(rounds, 0);
    EXPECT_LE(rounds, 3 * budget::hops_max); // two hops a round; the other task needs two turns
}

} // namespace
