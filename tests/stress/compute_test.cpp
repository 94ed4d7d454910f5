// Computations of random shape on several workers, with errors and stops at any moment, beside timers and
// tasks of the same workers: each ends once, and nothing of it is left.
#include "each_driver.hpp"
#include "observed_runtime.hpp"
#include "stress/random_stops.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

std::atomic<std::int64_t> alive = 0;

class counted {
  public:
    counted() noexcept { ++alive; }
    counted(counted&&) = delete;
    ~counted() { --alive; }
};

struct failed : std::exception {};

/// Counts its nodes, as a hash of its seed has it; one in `failures` nodes throws.
ps::computation<std::uint64_t> tree(std::uint64_t const seed, int const levels,
                                    std::uint64_t const failures) {
    counted const local;
    ps::random_source random(seed);
    if (failures != 0 && random.below(failures) == 0) throw failed();
    if (levels == 0) co_return 1;
    std::uint64_t nodes = 1;
    auto const below = [&](std::size_t const i) { return tree(seed * 31 + i + 1, levels - 1, failures); };
    if (random.below(2) == 0) {
        auto const both = co_await ps::fork_join(below(0), below(1));
        auto const& [one, other] = both;
        nodes += one + other;
    } else {
        for (auto const each : co_await ps::fork_join(random.below(4), below)) nodes += each;
    }
    if (random.below(4) == 0) nodes += co_await below(7);
    co_return nodes;
}

ps::task<std::uint64_t> count(std::uint64_t const seed, std::uint64_t const failures) {
    co_return co_await ps::compute(tree(seed, 9, failures));
}

class computations : public on_a_driver {};

TEST_P(computations, of_any_shape_end_whatever_happens) {
    watchdog const guard;
    ps::runtime_options options;
    options.workers = 3;
    options.scheduling = ps::scheduling::stealing;
    ps::runtime rt([](std::uint32_t) { return make_driver(GetParam()); }, options);
    std::atomic<int> results = 0;
    std::atomic<int> failures = 0;
    std::atomic<int> stopped = 0;
    auto one = [&](std::uint64_t const seed) -> ps::task<> {
        ps::random_source random(seed);
        auto const expected = seed % 3 == 0 ? 50 : 0;
        auto const limit = seed % 3 == 1 ? ps::duration(random.below(300'000)) : ps::duration(60s);
        try {
            auto const got =
                co_await ps::with_timeout(limit, count(seed, static_cast<std::uint64_t>(expected)));
            if (!got) {
                ++stopped;
            } else {
                ++results;
                // The same tree again, on whichever workers: the same count.
                EXPECT_EQ(co_await count(seed, static_cast<std::uint64_t>(expected)), *got);
            }
        } catch (failed const&) {
            ++failures;
        }
    };
    auto all = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            for (std::uint64_t seed = 1; seed <= 300; ++seed) {
                group.spawn_anywhere(one, seed);
                if (seed % 16 == 0) co_await ps::sleep(100us);
            }
        });
    };
    EXPECT_TRUE(ps::sync_wait(rt, all()).has_value());
    EXPECT_EQ(results + failures + stopped, 300);
    EXPECT_GT(results, 0);
    EXPECT_GT(failures, 0);
    EXPECT_EQ(alive, 0);
}

INSTANTIATE_TEST_SUITE_P(on, computations, real_drivers(), name_of_driver);

} // namespace
