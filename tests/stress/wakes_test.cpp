// Other threads wake a worker that sleeps in its driver, and stop it: no wake is lost, on any driver. What
// sleeps here sleeps without an end, so that no other timer hides a loss.
#include "observed_runtime.hpp"
#include "stream_pair.hpp"
#include "stress/random_stops.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::random_time;

namespace {

constexpr int rounds = 5'000;

ps::task<int> answer(int question) { co_return question + 1; }
ps::task<> count_one(std::atomic<int>& ran) {
    co_await ps::this_task::yield();
    ++ran;
}

/// A group that waits for `threads` threads, each of which has a portal into it.
template <class F> ps::task<> beside_threads(int threads, F on_thread) {
    co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
        for (int i = 0; i < threads; ++i) {
            auto thread = std::jthread([&on_thread, way_in = group.open_portal()]() mutable {
                auto const mine = std::move(way_in);
                on_thread(mine);
            });
            thread.detach(); // the open portal is what the group waits for
        }
        co_return;
    });
}

class wakes : public ::testing::TestWithParam<ps::testing::driver_name> {
  protected:
    ps::testing::watchdog const guard;
};

TEST_P(wakes, each_call_of_a_thread_is_answered) { // LW1, LW12
    ps::runtime rt(ps::testing::make_driver(GetParam()));
    long sum = 0;
    auto const ask = [&sum](ps::portal const& to) {
        for (int i = 0; i < rounds; ++i) sum += to.call(answer, i).value();
    };
    EXPECT_TRUE(ps::sync_wait(rt, beside_threads(1, ask)).has_value());
    EXPECT_EQ(sum, long{rounds} * (rounds + 1) / 2);
}

TEST_P(wakes, what_several_threads_spawn_all_runs) { // LW7, LW12
    ps::runtime rt(ps::testing::make_driver(GetParam()));
    std::atomic<int> ran = 0;
    auto const spawn = [&ran](ps::portal const& to) {
        for (int i = 0; i < rounds; ++i) to.spawn(count_one, std::ref(ran));
    };
    EXPECT_TRUE(ps::sync_wait(rt, beside_threads(3, spawn)).has_value());
    EXPECT_EQ(ran, 3 * rounds);
}

// ---- Stops from several threads and from the worker

ps::task<> wait_with_a_timeout(ps::tcp_stream& from) {
    std::array<std::byte, 8> into{};
    (void)co_await ps::with_timeout(ps::duration::max(), from.receive(into));
    ADD_FAILURE() << "neither bytes came nor the timeout";
}

ps::task<ps::io_result<void>> be_stopped(ps::runtime& rt, bool stops_itself, std::atomic<bool>& is_ready) {
    auto pair = co_await ps::or_return(ps::testing::connect_pair());
    auto const body = [&](ps::task_group& group) -> ps::task<> {
        group.spawn(wait_with_a_timeout(pair.server));
        group.spawn(wait_with_a_timeout(pair.client));
        co_await ps::this_task::yield();
        is_ready = true;
        if (stops_itself) rt.request_stop();
        co_await ps::sleep(ps::duration::max());
    };
    co_await ps::task_group::run(body);
    co_return {};
}

TEST_P(wakes, stops_from_several_threads_and_the_worker_end_what_waits_with_a_timeout) { // CA19, LW8, LW12
    auto const seed = ps::testing::stress_seed(51);
    SCOPED_TRACE(ps::testing::say_seed(seed));
    ps::random_source random(seed);
    for (int round = 0; round < 200; ++round) {
        std::atomic<bool> is_ready = false;
        ps::runtime rt(ps::testing::make_driver(GetParam(), seed));
        std::vector<std::jthread> stoppers;
        for (int i = 0; i < 2; ++i)
            stoppers.emplace_back(
                [&rt, &is_ready, early = random.chance(0.2), time = random_time(random, 50us)] {
                    while (!early && !is_ready) std::this_thread::yield();
                    std::this_thread::sleep_for(time);
                    rt.request_stop();
                });
        EXPECT_TRUE(ps::sync_wait(rt, be_stopped(rt, random.chance(0.5), is_ready)).is_stopped());
        is_ready = true; // a stop may have come before
    }
}

INSTANTIATE_TEST_SUITE_P(drivers, wakes, ps::testing::every_driver(), ps::testing::name_of_driver);

} // namespace
