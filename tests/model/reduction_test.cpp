#include "model/outcomes.hpp"

#include <pitsaw/base/random.hpp>
#include <pitsaw/model/explore.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

// The reduction leaves out interleavings, never a behaviour: small programs made at random, each explored
// with it and without it.

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;

constexpr unsigned objects = 2;

// A sanitizer makes each switch of fibers some fifty times as dear; how much is explored is not its question.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t share = 20;
#elif defined(__has_feature)
constexpr std::uint64_t share = __has_feature(address_sanitizer) ? 20 : 1;
#else
constexpr std::uint64_t share = 1;
#endif

enum class act : std::uint8_t {
    load,
    store,
    add,
    compare,
    weak_compare,
    fence,
    locked_add,
    try_lock,
    wait,
    notify
};

struct instruction {
    act what;
    unsigned object;
    std::memory_order order;
};
using program = std::vector<std::vector<instruction>>;

struct shared_objects {
    std::array<model::atomic<int>, objects> x{};
    model::mutex guard;
    int guarded = 0;
};

auto load_order(std::memory_order order) {
    if (order == std::memory_order_release) return std::memory_order_relaxed;
    return order == std::memory_order_acq_rel ? std::memory_order_acquire : order;
}
auto store_order(std::memory_order order) {
    if (order == std::memory_order_acquire) return std::memory_order_relaxed;
    return order == std::memory_order_acq_rel ? std::memory_order_release : order;
}

/// What it has seen.
auto run(shared_objects& on, instruction const& now, int number) -> int {
    auto& x = on.x[now.object];
    int expected = 0;
    switch (now.what) {
    case act::load:
        return x.load(load_order(now.order));
    case act::store:
        x.store(number, store_order(now.order));
        return 0;
    case act::add:
        return x.fetch_add(number, now.order);
    case act::compare:
        (void)x.compare_exchange_strong(expected, number, now.order, std::memory_order_relaxed);
        return expected;
    case act::weak_compare:
        return x.compare_exchange_weak(expected, number, now.order) ? 9 : expected;
    case act::fence:
        model::thread_fence(now.order);
        return 0;
    case act::locked_add: {
        std::scoped_lock const held(on.guard);
        return on.guarded += number;
    }
    case act::try_lock: {
        std::unique_lock const held(on.guard, std::try_to_lock);
        return held.owns_lock() ? on.guarded : 9;
    }
    case act::wait:
        x.wait(0, load_order(now.order));
        return 0;
    case act::notify:
        x.notify_one();
        return 0;
    }
    return 0;
}

void run(program const& all, std::string& seen) {
    shared_objects on;
    std::vector<std::vector<int>> results(all.size());
    {
        std::array<std::optional<model::thread>, 3> threads;
        for (unsigned who = 0; who < all.size(); ++who)
            threads[who].emplace([&, who] {
                for (auto const& each : all[who])
                    results[who].push_back(run(on, each, static_cast<int>(who) + 1));
            });
    }
    seen.clear();
    for (auto const& of : results)
        for (auto const each : of) seen += std::to_string(each) + ' ';
    for (auto const& each : on.x) seen += std::to_string(each.load(std::memory_order_relaxed)) + ' ';
}

struct found {
    outcome_set outcomes;
    model::report report;
};

auto explore(program const& all, model::options const& how) -> found {
    found result;
    result.report = model::explore(how, [&] {
        std::string seen;
        run(all, seen);
        result.outcomes.insert(seen);
    });
    return result;
}

auto make(std::uint64_t seed, unsigned threads, unsigned length, act last) -> program {
    random_source random(seed);
    constexpr std::array orders{std::memory_order_relaxed, std::memory_order_acquire,
                                std::memory_order_release, std::memory_order_acq_rel,
                                std::memory_order_seq_cst, std::memory_order_seq_cst};
    program all(threads);
    for (auto& each : all)
        for (unsigned i = 0; i < length; ++i)
            each.push_back({static_cast<act>(random.below(static_cast<std::uint64_t>(last) + 1)),
                            static_cast<unsigned>(random.below(objects)),
                            orders[random.below(orders.size())]});
    return all;
}

auto text_of(program const& all) -> std::string {
    std::string text;
    for (auto const& of : all) {
        for (auto const& each : of)
            text += std::to_string(static_cast<int>(each.what)) + '.' + std::to_string(each.object) + '.' +
                    std::to_string(static_cast<int>(each.order)) + ' ';
        text += '|';
    }
    return text;
}

void compare(program const& all) {
    auto const reduced = explore(all, {});
    auto const every = explore(all, {.reduces = false});
    ASSERT_EQ(every.report.failure.empty(), reduced.report.failure.empty()) << text_of(all);
    if (!every.report.failure.empty()) return; // the outcomes up to then say nothing
    ASSERT_TRUE(every.report.is_complete && reduced.report.is_complete) << text_of(all);
    ASSERT_EQ(every.outcomes, reduced.outcomes) << text_of(all);
    ASSERT_LE(reduced.report.executions, every.report.executions);
}

TEST(reduction, shows_what_all_interleavings_show_of_two_threads) {
    for (std::uint64_t seed = 0; seed < 2000 / share; ++seed) compare(make(seed, 2, 3, act::fence));
}

TEST(reduction, shows_what_all_interleavings_show_of_three_threads) {
    for (std::uint64_t seed = 0; seed < 200 / share; ++seed) compare(make(seed, 3, 2, act::weak_compare));
}

TEST(reduction, shows_what_all_interleavings_show_of_threads_that_lock) {
    for (std::uint64_t seed = 0; seed < 400 / share; ++seed) compare(make(seed, 2, 3, act::try_lock));
}

TEST(reduction, finds_the_lost_wake_ups_that_all_interleavings_find) {
    for (std::uint64_t seed = 0; seed < 1500 / share; ++seed) compare(make(seed, 2, 3, act::notify));
}

} // namespace
