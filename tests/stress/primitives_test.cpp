// The primitives of sync between two runtimes on two threads, in random rounds: take, hold for a while, give
// back, and give up meanwhile. No permit is lost, and nobody sleeps while what it waits for is there: some
// rounds never give up, so that a wake that is lost hangs. A million rounds in all.
#include "stress/random_stops.hpp"
#include "two_runtimes.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace ps = pitsaw;
using ps::random_source;

namespace {

constexpr int tasks_of_a_thread = 5;

/// Some turns of the worker.
ps::task<> turns(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) co_await ps::this_task::yield();
}
/// As long as this, a wait is worth it; from 1 in 2 on without an end.
ps::task<> patience(random_source& random) {
    if (random.chance(0.5)) co_await ps::sleep(ps::duration::max());
    co_await turns(random.below(6));
}

/// Permits of different sizes, whose number is never exceeded.
struct permits {
    static constexpr std::size_t all = 4;
    ps::semaphore of{all};
    std::atomic<std::size_t> out = 0;

    ps::task<> round(random_source& random) {
        auto const count = 1 + random.below(all);
        if (random.chance(0.1)) {
            if (auto got = of.try_acquire(count)) hold(count);
            co_return;
        }
        auto got = co_await ps::when_any(of.acquire(count), patience(random));
        if (!std::get<0>(got).has_value()) co_return;
        out += count;
        EXPECT_LE(out, all);
        co_await turns(random.below(2));
        out -= count;
    }
    void hold(std::size_t count) {
        out += count;
        EXPECT_LE(out, all);
        out -= count;
    }
    [[nodiscard]] bool is_whole() const { return of.available() == all; }
};

struct one_at_a_time {
    ps::mutex of;
    int inside = 0; // no atomic: TSan watches

    ps::task<> round(random_source& random) {
        auto got = co_await ps::when_any(of.lock(), patience(random));
        if (!std::get<0>(got).has_value()) co_return;
        EXPECT_EQ(++inside, 1);
        co_await turns(random.below(2));
        --inside;
    }
    [[nodiscard]] bool is_whole() { return static_cast<bool>(of.try_lock()); }
};

struct readers_and_writers {
    ps::shared_mutex of;
    std::atomic<int> readers = 0;
    int written = 0; // no atomic: TSan watches

    ps::task<> round(random_source& random) {
        if (random.chance(0.3)) {
            auto got = co_await ps::when_any(of.lock(), patience(random));
            if (!std::get<0>(got).has_value()) co_return;
            EXPECT_EQ(readers, 0);
            ++written;
            co_await turns(random.below(2));
        } else {
            auto got = co_await ps::when_any(of.lock_shared(), patience(random));
            if (!std::get<0>(got).has_value()) co_return;
            ++readers;
            auto const before = written;
            co_await turns(random.below(2));
            EXPECT_EQ(before, written);
            --readers;
        }
    }
    [[nodiscard]] bool is_whole() { return static_cast<bool>(of.try_lock()); }
};

/// An event as a lock: who passes sets it again.
struct one_signal {
    ps::auto_reset_event of{true};
    int inside = 0;

    ps::task<> round(random_source& random) {
        auto got = co_await ps::when_any(of.wait(), patience(random));
        if (!std::get<0>(got).has_value()) co_return;
        EXPECT_EQ(++inside, 1);
        co_await turns(random.below(2));
        --inside;
        of.set();
    }
    [[nodiscard]] bool is_whole() { return of.try_wait(); }
};

/// A gate that who shuts it opens again.
struct gate {
    ps::manual_reset_event of{true};

    ps::task<> round(random_source& random) {
        if (random.chance(0.3)) {
            of.reset();
            co_await turns(random.below(4));
            of.set();
        } else {
            auto got = co_await ps::when_any(of.wait(), patience(random));
            (void)got;
        }
    }
    [[nodiscard]] bool is_whole() const { return of.is_set(); }
};

/// Who takes an order has put one before, so while somebody waits there is one.
struct orders {
    ps::mutex of;
    ps::condition has_some{of};
    int count = 0;

    ps::task<> take() {
        auto held = co_await of.lock();
        auto const has_one = [this] { return count > 0; };
        co_await has_some.wait(held, has_one);
        --count;
    }
    ps::task<> round(random_source& random) {
        {
            auto held = co_await of.lock();
            ++count;
            if (random.chance(0.5)) held.unlock();
            has_some.notify_one();
        }
        co_await turns(random.below(2));
        auto got = co_await ps::when_any(take(), patience(random));
        if (std::get<0>(got).has_value()) co_return;
        auto const held = co_await of.lock();
        if (count > 0) --count; // its own, or the next would find more and more
    }
    [[nodiscard]] bool is_whole() { return count >= 0 && of.try_lock(); }
};

class primitives_between_threads : public ::testing::TestWithParam<ps::testing::driver_name> {};

/// `rounds` of them, on two threads.
template <class Shared> void play(ps::testing::driver_name driver, int rounds) {
    auto const seed = ps::testing::stress_seed(61);
    SCOPED_TRACE(ps::testing::say_seed(seed));
    Shared shared;
    std::atomic<int> played = 0;
    auto const player = [&](std::uint64_t own_seed) -> ps::task<> {
        random_source random(own_seed);
        for (int i = 0; i < rounds / (2 * tasks_of_a_thread); ++i) {
            co_await shared.round(random);
            played.fetch_add(1, std::memory_order_relaxed); // orders nothing: the primitive has to
        }
    };
    ps::latch both_are_there(2);
    auto const players = [&](std::uint64_t number) -> ps::task<> {
        co_await both_are_there.arrive_and_wait();
        auto const body = [&, number](ps::task_group& group) -> ps::task<> {
            for (std::uint64_t i = 0; i < tasks_of_a_thread; ++i)
                group.spawn(player, seed + 100 * number + i);
            co_return;
        };
        co_await ps::task_group::run(body);
    };
    ps::testing::run_on_two_threads([&] { return players(1); }, [&] { return players(2); },
                                    [&] { return ps::runtime(ps::testing::make_driver(driver, seed)); });
    EXPECT_EQ(played, rounds);
    EXPECT_TRUE(shared.is_whole());
}

// SY1, SY5, LW12
TEST_P(primitives_between_threads, no_permit_of_a_semaphore_is_lost) { play<permits>(GetParam(), 250'000); }
TEST_P(primitives_between_threads, a_mutex_lets_in_one_and_always_one) {
    play<one_at_a_time>(GetParam(), 250'000);
}
TEST_P(primitives_between_threads, readers_share_and_writers_do_not) {
    play<readers_and_writers>(GetParam(), 200'000);
}
TEST_P(primitives_between_threads, no_set_of_an_event_is_lost) { play<one_signal>(GetParam(), 100'000); }
TEST_P(primitives_between_threads, a_gate_that_opens_lets_all_go) { play<gate>(GetParam(), 100'000); }
TEST_P(primitives_between_threads, no_notification_is_lost) { play<orders>(GetParam(), 100'000); } // LW1, LW2

/// Two mutexes, sixteen tasks on two threads, a million locks. Nothing else could wake a worker.
TEST_P(primitives_between_threads, a_million_locks_lose_no_wake) { // LW12
    constexpr int locks_of_a_task = 1'000'000 / 16;
    ps::mutex left, right;
    int lefts = 0, rights = 0; // no atomics: TSan watches
    auto const locks = [](ps::mutex& of, int& count) -> ps::task<> {
        for (int i = 0; i < locks_of_a_task; ++i) {
            auto const held = co_await of.lock();
            if (++count % 64 == 0) co_await ps::this_task::yield();
        }
    };
    auto const work = [&]() -> ps::task<> {
        auto const body = [&](ps::task_group& group) -> ps::task<> {
            for (int i = 0; i < 4; ++i) {
                group.spawn(locks, std::ref(left), std::ref(lefts));
                group.spawn(locks, std::ref(right), std::ref(rights));
            }
            co_return;
        };
        co_await ps::task_group::run(body);
    };
    ps::testing::run_on_two_threads(work, work,
                                    [] { return ps::runtime(ps::testing::make_driver(GetParam())); });
    EXPECT_EQ(lefts, 500'000);
    EXPECT_EQ(rights, 500'000);
}

INSTANTIATE_TEST_SUITE_P(drivers, primitives_between_threads, ps::testing::every_driver(),
                         ps::testing::name_of_driver);

} // namespace
