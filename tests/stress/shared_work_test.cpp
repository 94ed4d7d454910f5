// Several workers that steal share what is between tasks: a mutex, permits, a channel, a pool of blocking
// threads; and each wait may be given up at any moment.
#include "observed_runtime.hpp"
#include "stress/random_stops.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;

namespace {

constexpr int producers = 8;
constexpr int consumers = 4;
constexpr int rounds = 400;
constexpr std::uint32_t permits = 3;

/// What all of them use; counted where it is guarded, and summed up at the end.
struct shared_work {
    ps::mutex books;
    std::uint64_t entries = 0; ///< books
    std::uint64_t granted = 0; ///< books
    ps::semaphore few{permits};
    std::atomic<std::uint32_t> inside = 0;
    ps::channel<std::uint64_t> numbers{4};
    std::atomic<int> producing = producers;
    std::atomic<std::uint64_t> sent = 0;
    std::atomic<std::uint64_t> received = 0;
    std::atomic<std::uint64_t> blocked = 0;
    std::atomic<std::uint64_t> given_up = 0;
};

/// A deadline that some waits of theirs do not keep.
ps::duration some_time(ps::random_source& random) {
    return random.below(4) == 0 ? ps::duration(random.below(2000)) : ps::duration(10s);
}

ps::task<> enter(shared_work& all) {
    auto const held = co_await all.books.lock();
    ++all.entries;
    if (all.entries % 16 == 0) co_await ps::this_task::yield(); // others find it held
    ++all.granted;
}

/// Inside as long as it lives, whichever way the task ends.
class visitor {
  public:
    explicit visitor(shared_work& all) : all_(all) { EXPECT_LE(++all_.inside, permits); }
    visitor(visitor&&) = delete;
    ~visitor() { --all_.inside; }

  private:
    shared_work& all_;
};

ps::task<> use_a_permit(shared_work& all) {
    auto const permit = co_await all.few.acquire();
    visitor const here(all);
    co_await ps::this_task::checkpoint();
}

ps::task<> send(shared_work& all, std::uint64_t number) {
    auto place = co_await all.numbers.reserve();
    EXPECT_TRUE(place);
    all.sent += number; // before it can be received
    place.send(number);
}

ps::task<> produce(shared_work* all, std::uint64_t seed) {
    ps::random_source random(seed);
    for (int i = 0; i < rounds; ++i) {
        auto const span = some_time(random);
        auto const entered = co_await ps::with_timeout(span, enter(*all));
        auto const used = co_await ps::with_timeout(some_time(random), use_a_permit(*all));
        all->given_up += (entered.has_value() ? 0u : 1u) + (used.has_value() ? 0u : 1u);
        auto const went = co_await ps::with_timeout(some_time(random), send(*all, random.below(1000)));
        all->given_up += went.has_value() ? 0u : 1u;
        if (i % 50 == 0) {
            auto const job = [all] { return ++all->blocked; };
            (void)co_await ps::blocking(job);
        }
    }
    if (--all->producing == 0) all->numbers.close();
}

ps::task<> consume(shared_work* all, std::uint64_t seed) {
    ps::random_source random(seed);
    for (;;) {
        auto const first = co_await ps::with_timeout(some_time(random), all->numbers.receive());
        if (!first.has_value()) continue; // it was given up, and has taken nothing
        if (!first->has_value()) co_return;
        all->received += **first;
    }
}

class shared_between_workers : public ::testing::TestWithParam<ps::testing::driver_name> {
  protected:
    void play(std::uint32_t const workers, ps::scheduling const how) {
        auto const seed = ps::testing::stress_seed(workers);
        SCOPED_TRACE(ps::testing::say_seed(seed));
        ps::runtime_options options;
        options.workers = workers;
        options.scheduling = how;
        shared_work all;
        auto const which = GetParam();
        {
            ps::runtime rt(
                [which, seed](std::uint32_t number) {
                    return ps::testing::make_driver(which, seed + number);
                },
                options);
            auto const work = [&]() -> ps::task<> {
                co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
                    for (int i = 0; i < producers; ++i)
                        group.spawn_anywhere(produce, &all, seed + static_cast<std::uint64_t>(i));
                    for (int i = 0; i < consumers; ++i) {
                        auto const to = rt.get_executor(static_cast<std::uint32_t>(i) % workers);
                        group.spawn_on(to, consume, &all, seed + 100 + static_cast<std::uint64_t>(i));
                    }
                    co_return;
                });
            };
            EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
        }
        EXPECT_EQ(all.sent, all.received);
        EXPECT_EQ(all.numbers.size(), 0u);
        EXPECT_EQ(all.few.available(), permits);
        EXPECT_TRUE(all.books.try_lock());
        EXPECT_GE(all.entries, all.granted); // who is stopped while it holds the mutex gives it back
        EXPECT_EQ(all.blocked, producers * (rounds / 50));
        EXPECT_GT(all.received, 0u);
    }

  private:
    ps::testing::watchdog const guard_;
};

TEST_P(shared_between_workers, nothing_is_lost_where_two_steal) { play(2, ps::scheduling::stealing); }
TEST_P(shared_between_workers, nothing_is_lost_where_four_steal) { play(4, ps::scheduling::stealing); }
TEST_P(shared_between_workers, nothing_is_lost_where_nothing_is_stolen) { play(3, ps::scheduling::per_core); }

INSTANTIATE_TEST_SUITE_P(drivers, shared_between_workers, ps::testing::real_drivers(),
                         ps::testing::name_of_driver);

} // namespace
