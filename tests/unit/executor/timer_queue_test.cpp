#include <pitsaw/executor/timer_queue.hpp>

#include <pitsaw/base/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace {

using namespace pitsaw;
using namespace std::chrono_literals;

constexpr std::size_t plenty = 1'000'000'000;

auto at(std::int64_t nanoseconds) -> time_point { return time_point(duration(nanoseconds)); }

// A timer that counts, and does what the test wants when it fires.
struct alarm : timer_node {
    alarm() : timer_node(ring) {}
    explicit alarm(time_point when) : timer_node(ring) { deadline = when; }
    static void ring(timer_node& self) noexcept {
        auto& rung = static_cast<alarm&>(self);
        ++rung.count;
        if (rung.then) rung.then(rung);
    }

    int count = 0;
    std::function<void(alarm&)> then;
};

TEST(timer_queue, fires_at_the_deadline_and_not_a_nanosecond_before) {
    timer_queue timers;
    alarm timer(at(1'000'000'007));
    timers.arm(timer);
    EXPECT_TRUE(timer.armed());
    EXPECT_EQ(timers.expire(at(1'000'000'006), plenty), 0u);
    EXPECT_EQ(timer.count, 0);
    EXPECT_EQ(timers.expire(at(1'000'000'007), plenty), 1u);
    EXPECT_EQ(timer.count, 1);
    EXPECT_FALSE(timer.armed());
    EXPECT_TRUE(timers.empty());
}

TEST(timer_queue, an_empty_queue_never_wakes) {
    timer_queue timers;
    EXPECT_EQ(timers.next_wake(), never);
    EXPECT_EQ(timers.expire(at(0), plenty), 0u);
    EXPECT_EQ(timers.next_wake(), never);
    alarm timer(at(5));
    timers.arm(timer);
    EXPECT_TRUE(timers.disarm(timer));
    EXPECT_EQ(timers.next_wake(), never);
}

TEST(timer_queue, a_lone_timer_is_waited_for_exactly) {
    timer_queue timers(at(1));
    alarm timer(at(3'600'000'000'123));
    timers.arm(timer);
    EXPECT_EQ(timers.next_wake(), timer.deadline);
    EXPECT_EQ(timers.expire(at(17), plenty), 0u);
    EXPECT_EQ(timers.next_wake(), timer.deadline);
    EXPECT_EQ(timers.expire(timers.next_wake(), plenty), 1u);
}

TEST(timer_queue, a_deadline_that_has_passed_fires_at_the_next_expire) {
    timer_queue timers;
    EXPECT_EQ(timers.expire(at(100), plenty), 0u);
    alarm late(at(50)), now(at(100)), negative(at(-7));
    timers.arm(late);
    timers.arm(now);
    timers.arm(negative);
    EXPECT_LE(timers.next_wake(), at(100));
    EXPECT_EQ(timers.expire(at(100), plenty), 3u);
    EXPECT_EQ(late.deadline, at(50)) << "the queue does not change the deadline: intervals count on from it";
}

TEST(timer_queue, never_is_armed_and_disarmed_but_does_not_fire) {
    timer_queue timers;
    alarm timer;
    timers.arm(timer);
    EXPECT_TRUE(timer.armed());
    EXPECT_EQ(timers.size(), 1u);
    EXPECT_EQ(timers.next_wake(), never);
    EXPECT_EQ(timers.expire(never, plenty), 0u);
    EXPECT_TRUE(timers.disarm(timer));
    EXPECT_FALSE(timers.disarm(timer));
    EXPECT_TRUE(timers.empty());
}

TEST(timer_queue, time_does_not_go_back) {
    timer_queue timers(at(1000));
    alarm timer(at(1500));
    timers.arm(timer);
    EXPECT_EQ(timers.expire(at(2000), plenty), 1u);
    alarm later(at(1900));
    timers.arm(later);
    EXPECT_EQ(timers.expire(at(1999), plenty), 0u);
    EXPECT_EQ(timers.expire(at(2000), plenty), 1u);
}

TEST(timer_queue, equal_deadlines_fire_in_the_order_of_arming) {
    timer_queue timers(at(0));
    std::vector<int> order;
    std::vector<std::unique_ptr<alarm>> alarms;
    for (int i = 0; i < 100; ++i) {
        alarms.push_back(std::make_unique<alarm>(at(123'456'789)));
        alarms.back()->then = [&order, i](alarm&) { order.push_back(i); };
        timers.arm(*alarms.back());
        // The slots in use change meanwhile.
        if (i % 10 == 0) {
            EXPECT_EQ(timers.expire(at(i * 1'000'000), 3), 0u);
        }
    }
    while (timers.next_wake() <= at(123'456'789)) (void)timers.expire(at(123'456'789), 7);
    ASSERT_EQ(order.size(), 100u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(timer_queue, a_timer_may_be_destroyed_by_its_own_firing) {
    timer_queue timers;
    auto timer = std::make_unique<alarm>(at(5));
    timer->then = [&](alarm&) {
        auto const keep = std::move(timer->then); // the function runs on
        timer.reset();
    };
    timers.arm(*timer);
    EXPECT_EQ(timers.expire(at(5), plenty), 1u);
    EXPECT_EQ(timer, nullptr);
}

TEST(timer_queue, a_firing_may_arm_itself_for_later) {
    timer_queue timers(at(0));
    alarm timer(at(10));
    timer.then = [&](alarm& self) {
        self.deadline += 10ns;
        timers.arm(self);
    };
    timers.arm(timer);
    for (int now = 0; now <= 1000; ++now) (void)timers.expire(at(now), plenty);
    EXPECT_EQ(timer.count, 100);
    EXPECT_TRUE(timers.disarm(timer));
}

TEST(timer_queue, a_firing_that_arms_for_the_past_fires_once_a_call) {
    timer_queue timers(at(0));
    alarm timer(at(10)), another(at(11));
    timer.then = [&](alarm& self) {
        self.deadline = time_point::min();
        timers.arm(self);
    };
    timers.arm(timer);
    timers.arm(another);
    EXPECT_EQ(timers.expire(at(20), plenty), 2u);
    EXPECT_LE(timers.next_wake(), at(20));
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(timers.expire(at(20), plenty), 1u) << "time may stand still meanwhile";
    EXPECT_TRUE(timers.disarm(timer));
}

TEST(timer_queue, a_firing_may_disarm_a_sibling_that_is_due_in_the_same_call) {
    timer_queue timers(at(0));
    alarm first(at(10)), same_time(at(10)), later(at(900'000));
    first.then = [&](alarm&) {
        EXPECT_TRUE(timers.disarm(same_time));
        EXPECT_TRUE(timers.disarm(later));
    };
    for (auto* timer : {&first, &same_time, &later}) timers.arm(*timer);
    EXPECT_EQ(timers.expire(at(1'000'000), plenty), 1u);
    EXPECT_EQ(same_time.count + later.count, 0);
    EXPECT_TRUE(timers.empty());
}

// TM1: whatever is computed from "infinite" and negative durations is a deadline like any other.
TEST(timer_queue, saturated_deadlines_neither_fire_early_nor_overflow) {
    for (auto const now : {time_point::min(), at(-1), at(0), at(1'700'000'000'000'000'000)}) {
        for (auto const wait :
             {0ns, -1ns, 1ns, duration::max(), duration::min(), to_duration(std::chrono::hours::max()),
              to_duration(std::chrono::milliseconds::max()), saturating_difference(never, now),
              saturating_difference(never, now) - 1ns, duration::max() - 1ns}) {
            timer_queue timers(now);
            alarm timer(saturating_add(now, wait));
            timers.arm(timer);
            auto const last_before = timer.deadline <= now ? 0u : timers.expire(timer.deadline - 1ns, plenty);
            EXPECT_EQ(last_before, 0u) << wait.count();
            EXPECT_LE(timers.next_wake(), timer.deadline < now ? now : timer.deadline);
            auto const fires = timer.deadline == never ? 0u : 1u;
            EXPECT_EQ(timers.expire(std::max(now, timer.deadline), plenty), fires) << wait.count();
            EXPECT_EQ(timers.disarm(timer), fires == 0) << wait.count();
        }
    }
}

// TM7: at the edge of its deadline a timer either fires or was disarmed, and what fires is the latest arming.
TEST(timer_queue, disarm_tells_the_truth_and_a_stale_arming_never_fires) {
    timer_queue timers(at(0));
    random_source random{7};
    alarm timer;
    std::int64_t now = 0;
    int armings = 0, disarmings = 0;
    for (int round = 0; round < 1'000'000; ++round) {
        if (!timer.armed()) {
            timer.deadline = at(now + random.between(0, 3));
            timers.arm(timer);
            ++armings;
        }
        now += random.between(0, 2);
        auto const before = timer.count;
        auto const due = timer.deadline <= at(now);
        bool const disarm_first = random.chance(0.5);
        if (disarm_first && random.chance(0.5)) {
            ASSERT_TRUE(timers.disarm(timer));
            ++disarmings;
            timer.deadline = at(now + random.between(1, 3)); // a reset
            timers.arm(timer);
            ++armings;
            (void)timers.expire(at(now), 4);
            ASSERT_EQ(timer.count, before) << "the earlier arming fired";
        } else if (disarm_first) {
            ASSERT_TRUE(timers.disarm(timer));
            ASSERT_FALSE(timers.disarm(timer));
            ++disarmings;
            (void)timers.expire(at(now), 4);
            ASSERT_EQ(timer.count, before);
        } else {
            (void)timers.expire(at(now), 40);
            ASSERT_EQ(timer.count, before + (due ? 1 : 0));
            ASSERT_EQ(timer.armed(), !due);
        }
    }
    if (timers.disarm(timer)) ++disarmings;
    EXPECT_EQ(timer.count, armings - disarmings);
}

// TM8: a million request timeouts, of which one comes to pass; then a million that all come at once. Each
// call does its budget and no more; nothing here can allocate.
TEST(timer_queue, a_million_timers_cost_each_call_no_more_than_its_budget) {
    constexpr int million = 1'000'000;
    timer_queue timers(at(0));
    static int fired;
    fired = 0;
    std::vector<timer_node> nodes(million);
    for (auto& node : nodes) {
        node.on_expired = [](timer_node&) noexcept { ++fired; };
        node.deadline = at(30'000'000'000);
        timers.arm(node);
    }
    for (auto& node : nodes) {
        if (&node == &nodes[12345]) continue;
        ASSERT_TRUE(timers.disarm(node));
    }
    EXPECT_EQ(timers.size(), 1u);
    EXPECT_EQ(timers.expire(at(29'999'999'999), 64), 0u);
    EXPECT_EQ(timers.next_wake(), at(30'000'000'000));
    EXPECT_EQ(timers.expire(at(30'000'000'000), 64), 1u);
    EXPECT_EQ(fired, 1);

    random_source random{8};
    for (auto& node : nodes) {
        node.deadline = at(31'000'000'000 + static_cast<std::int64_t>(random.below(1'000'000'000)));
        timers.arm(node);
    }
    int calls = 0;
    for (; timers.next_wake() <= at(33'000'000'000); ++calls) {
        ASSERT_LE(timers.expire(at(33'000'000'000), 100), 100u);
        ASSERT_LE(calls, 11 * million / 100) << "each node moves through each level at most once";
    }
    EXPECT_EQ(fired, million + 1);
    EXPECT_TRUE(timers.empty());
}

TEST(timer_queue, a_jump_of_the_clock_by_years_is_bounded_work) {
    timer_queue timers(at(0));
    std::vector<alarm> alarms(64);
    std::int64_t deadline = 1;
    for (auto& timer : alarms) {
        timer.deadline = at(deadline);
        timers.arm(timer);
        deadline = deadline > (std::int64_t{1} << 61) ? deadline : deadline * 2;
    }
    EXPECT_EQ(timers.expire(never - 1ns, 64 * 12), 64u);
    for (auto& timer : alarms) EXPECT_EQ(timer.count, 1);
}

} // namespace
