#include "loop/stealing.hpp"

#include "driver/sim/driver.hpp"
#include "lone_lane.hpp"
#include "observed_runtime.hpp"
#include "workers.hpp"

#include <pitsaw/io/driver.hpp>
#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <utility>

namespace ps = pitsaw;
using namespace ps::testing;

namespace {

struct driver_counts {
    std::atomic<std::uint64_t> polls = 0;
    std::atomic<std::uint64_t> wakes = 0;
};

/// Counts how often its worker polls, and how often others wake it.
class counting_driver final : public ps::driver {
  public:
    explicit counting_driver(driver_counts& counts)
        : counts_(counts), below_(ps::sim_driver_options::calm()) {}

    [[nodiscard]] auto now() const noexcept -> ps::time_point override { return below_.now(); }
    [[nodiscard]] auto attach(ps::native_handle handle) noexcept -> ps::io_result<ps::descriptor> override {
        return below_.attach(handle);
    }
    [[nodiscard]] auto open_stream(ps::address_family family) noexcept
        -> ps::io_result<ps::descriptor> override {
        return below_.open_stream(family);
    }
    [[nodiscard]] auto control(ps::descriptor target, ps::socket_command& command) noexcept
        -> ps::io_result<void> override {
        return below_.control(target, command);
    }
    [[nodiscard]] auto lend(std::span<std::byte> memory, std::uint32_t buffer_bytes) noexcept
        -> ps::io_result<std::uint16_t> override {
        return below_.lend(memory, buffer_bytes);
    }
    void give_back(std::uint16_t pool, std::uint16_t buffer) noexcept override {
        below_.give_back(pool, buffer);
    }
    [[nodiscard]] auto attempt(ps::operation& op, ps::event& finished) noexcept -> bool override {
        return below_.attempt(op, finished);
    }
    void submit(ps::operation& op) noexcept override { below_.submit(op); }
    void cancel(ps::operation& op) noexcept override { below_.cancel(op); }
    [[nodiscard]] auto poll(std::span<ps::event> out, ps::time_point until) noexcept -> std::size_t override {
        ++counts_.polls;
        return below_.poll(out, until);
    }
    void wake() noexcept override {
        ++counts_.wakes;
        below_.wake();
    }
    [[nodiscard]] auto detach(ps::descriptor target) noexcept -> ps::io_result<ps::native_handle> override {
        return below_.detach(target);
    }
    void discard(ps::descriptor target) noexcept override { below_.discard(target); }
    [[nodiscard]] auto drain(std::span<ps::event> out, ps::time_point deadline) noexcept
        -> ps::drain_progress override {
        return below_.drain(out, deadline);
    }
    [[nodiscard]] auto features() const noexcept -> ps::driver_features override { return below_.features(); }

  private:
    driver_counts& counts_;
    ps::sim_driver below_;
};

// SC3: a worker is woken to search only where it fell asleep, which it does once for each poll. The one wake
// more is the runtime's end.
TEST(stealing, a_burst_of_offers_wakes_nobody_more_often_than_it_sleeps) {
    watchdog const guard;
    constexpr std::uint32_t count = 4;
    std::array<driver_counts, count> counts;
    std::atomic<int> ran = 0;
    {
        auto options = workers(count);
        options.scheduling = ps::scheduling::stealing;
        ps::runtime rt(
            [&](std::uint32_t number) { return std::make_unique<counting_driver>(counts[number]); },
            std::move(options));
        auto child = [&]() -> ps::task<> {
            ++ran;
            co_return;
        };
        auto work = [&]() -> ps::task<> {
            auto body = [&](ps::task_group& group) -> ps::task<> {
                for (int i = 0; i < 10'000; ++i) group.spawn_anywhere(child);
                co_return;
            };
            co_await ps::task_group::run(body);
        };
        EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    }
    EXPECT_EQ(ran, 10'000);
    for (std::uint32_t i = 1; i < count; ++i) EXPECT_LE(counts[i].wakes, counts[i].polls + 1) << i;
}

/// Notes that it was to wake up.
struct noted_sleeper final : ps::sleeper {
    int wakes = 0;
    void wake_to_search() noexcept override { ++wakes; }
    [[nodiscard]] ps::fork_lane& lane() noexcept override { return computes_.lane; }

  private:
    lone_lane computes_;
};

struct offered_by_hand : ps::continuation {};

TEST(stealing, what_overflows_a_ring_is_the_oldest_and_is_asked_for_with_each_poll) {
    ps::stealing all(4);
    noted_sleeper owner;
    all.enlist(owner);
    std::array<offered_by_hand, 5> made;
    for (auto& each : made) all.offer(0, each); // the first two go to the queue of all
    ps::ready_levels ready;
    all.take_with_the_poll(0, ready);
    EXPECT_EQ(ready.pop().next, &made[0]);
    EXPECT_EQ(ready.pop().next, &made[2]);
    EXPECT_TRUE(ready.empty());
    int taken = 0;
    while (all.take(0, ready)) {
        while (!ready.empty()) {
            (void)ready.pop();
            ++taken;
        }
    }
    EXPECT_EQ(taken, 3);
    EXPECT_FALSE(all.is_open());
}

TEST(stealing, a_thief_takes_half_and_leaves_the_rest_of_it_open_to_others) {
    ps::stealing all;
    std::array<noted_sleeper, 3> workers_of_it;
    for (auto& each : workers_of_it) all.enlist(each);
    std::array<offered_by_hand, 10> made;
    ps::ready_levels ready;
    EXPECT_FALSE(all.find_or_fall_asleep(1, ready));
    EXPECT_FALSE(all.find_or_fall_asleep(2, ready));
    for (auto& each : made) all.offer(0, each);
    EXPECT_EQ(workers_of_it[1].wakes, 1); // for all ten
    EXPECT_EQ(workers_of_it[2].wakes, 0);
    all.rise(1, ready, false);
    EXPECT_EQ(ready.pop().next, &made[0]);
    EXPECT_TRUE(ready.empty());
    EXPECT_TRUE(all.is_open_at(1));       // four more
    EXPECT_EQ(workers_of_it[2].wakes, 1); // by the thief
    all.rise(2, ready, false);
    EXPECT_FALSE(ready.empty());
    while (!ready.empty()) (void)ready.pop();
    for (std::uint32_t i = 0; i < 3; ++i)
        while (all.take(i, ready)) (void)ready.pop();
}

// SC3: what its own worker takes next would be gone when a thief comes.
TEST(stealing, a_lone_offer_that_comes_next_wakes_nobody_while_somebody_keeps_watch) {
    ps::stealing all;
    std::array<noted_sleeper, 2> workers_of_it;
    for (auto& each : workers_of_it) all.enlist(each);
    auto const& thief = workers_of_it[1];
    std::array<offered_by_hand, 4> made;
    ps::ready_levels ready;
    EXPECT_FALSE(all.find_or_fall_asleep(1, ready));
    EXPECT_FALSE(all.keeps_watch(1)); // there were no offers
    all.offer(0, made[0], true);
    EXPECT_EQ(thief.wakes, 1);
    all.rise(1, ready, false);
    EXPECT_EQ(ready.pop().next, &made[0]);
    EXPECT_FALSE(all.find_or_fall_asleep(1, ready));
    EXPECT_TRUE(all.keeps_watch(1));
    all.offer(0, made[1], true);
    EXPECT_EQ(thief.wakes, 1);
    EXPECT_TRUE(all.take(0, ready));
    EXPECT_EQ(ready.pop().next, &made[1]);
    all.offer(0, made[2], true);
    EXPECT_EQ(thief.wakes, 1);
    all.offer(0, made[3], true); // two: one is too many
    EXPECT_EQ(thief.wakes, 2);
    all.rise(1, ready, false);
    EXPECT_FALSE(all.keeps_watch(1));
    while (!ready.empty()) (void)ready.pop();
    for (std::uint32_t i = 0; i < 2; ++i)
        while (all.take(i, ready)) (void)ready.pop();
    EXPECT_FALSE(all.find_or_fall_asleep(1, ready));
    EXPECT_TRUE(all.keeps_watch(1));
    all.rise(1, ready, false); // the time of a watch has passed, and nothing was offered
    EXPECT_FALSE(all.find_or_fall_asleep(1, ready));
    EXPECT_FALSE(all.keeps_watch(1));
}

TEST(stealing, one_that_was_woken_and_has_work_by_now_leaves_it_to_the_next) {
    ps::stealing all;
    std::array<noted_sleeper, 3> workers_of_it;
    for (auto& each : workers_of_it) all.enlist(each);
    ps::ready_levels ready;
    EXPECT_FALSE(all.find_or_fall_asleep(1, ready));
    EXPECT_FALSE(all.find_or_fall_asleep(2, ready));
    offered_by_hand made;
    all.offer(0, made);
    all.rise(1, ready, true);
    EXPECT_TRUE(ready.empty());
    EXPECT_EQ(workers_of_it[2].wakes, 1);
    all.rise(2, ready, false);
    EXPECT_EQ(ready.pop().next, &made);
}

} // namespace
