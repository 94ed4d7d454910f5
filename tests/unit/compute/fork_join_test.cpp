#include <pitsaw/compute/fork_join.hpp>

#include "observed_runtime.hpp"
#include "workers.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <variant>
#include <vector>

namespace ps = pitsaw;
using namespace ps::testing;

namespace {

ps::runtime_options thieves(std::uint32_t const count) {
    auto options = workers(count);
    options.scheduling = ps::scheduling::stealing;
    return options;
}

template <class T> ps::task<T> awaits(ps::computation<T> work) {
    co_return co_await ps::compute(std::move(work));
}

ps::computation<int> gives(int const value) { co_return value; }
ps::computation<> notes(std::string& order, char const name) {
    order += name;
    co_return;
}
ps::computation<int> throws(std::string const what) { // NOLINT: a parameter that the frame owns
    throw std::runtime_error(what);
    co_return 0;
}

TEST(fork_join, gives_the_results_in_the_order_of_the_children) {
    observed_runtime world;
    auto work = []() -> ps::computation<> {
        auto all = co_await ps::fork_join(gives(1), gives(2), gives(3));
        static_assert(std::is_same_v<decltype(all), std::tuple<int, int, int>>);
        EXPECT_EQ(all, std::tuple(1, 2, 3));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, awaits(work())).has_value());
}

TEST(fork_join, gives_what_can_only_be_moved_and_nothing_for_void) {
    observed_runtime world;
    auto owns = []() -> ps::computation<std::unique_ptr<int>> { co_return std::make_unique<int>(4); };
    auto work = [&]() -> ps::computation<> {
        std::string order;
        auto both = co_await ps::fork_join(owns(), notes(order, 'x'));
        auto& [owned, nothing] = both;
        static_assert(std::is_same_v<decltype(nothing), std::monostate>);
        EXPECT_EQ(*owned, 4);
        EXPECT_EQ(order, "x");
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, awaits(work())).has_value());
}

TEST(fork_join, where_nobody_helps_keeps_the_order_of_the_source) {
    observed_runtime world;
    std::string order;
    auto work = [&]() -> ps::computation<> {
        order += '(';
        co_await ps::fork_join(notes(order, 'a'), notes(order, 'b'));
        co_await ps::fork_join(3,
                               [&](std::size_t const i) { return notes(order, static_cast<char>('0' + i)); });
        order += ')';
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, awaits(work())).has_value());
    EXPECT_EQ(order, "(ab012)");
}

TEST(fork_join, of_a_number_gives_a_vector) {
    watchdog const guard;
    for (std::uint32_t const count : {1u, 3u}) {
        ps::runtime rt(thieves(count));
        auto work = []() -> ps::computation<std::vector<int>> {
            co_return co_await ps::fork_join(1000,
                                             [](std::size_t const i) { return gives(static_cast<int>(i)); });
        };
        std::vector<int> expected(1000);
        std::iota(expected.begin(), expected.end(), 0);
        EXPECT_EQ(ps::sync_wait(rt, awaits(work())).value(), expected);
    }
}

TEST(fork_join, of_none_gives_an_empty_vector) {
    observed_runtime world;
    auto work = []() -> ps::computation<std::vector<int>> {
        co_return co_await ps::fork_join(0, [](std::size_t) { return gives(1); });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, awaits(work())).value().empty());
}

TEST(fork_join, of_a_million_has_as_many_frames_as_run_at_a_time) {
    observed_runtime world;
    std::int64_t frames_max = 0;
    auto counts = [&](std::size_t) -> ps::computation<> {
        frames_max = std::max(frames_max, ps::frame_memory_statistics().live);
        co_return;
    };
    auto const before = ps::frame_memory_statistics().live;
    auto work = [&]() -> ps::computation<> { co_await ps::fork_join(1'000'000, counts); };
    EXPECT_TRUE(ps::sync_wait(world.rt, awaits(work())).has_value());
    EXPECT_LE(frames_max - before, 4);
}

TEST(fork_join, of_too_many_is_an_error) {
    observed_runtime world;
    auto work = []() -> ps::computation<> {
        co_await ps::fork_join(std::size_t{1} << 32U, [](std::size_t) -> ps::computation<> { co_return; });
    };
    auto const end = ps::sync_wait(world.rt, awaits(work()));
    ASSERT_TRUE(end.has_exception());
    EXPECT_NE(text_of(end.exception()).find("2^32"), std::string::npos);
}

TEST(fork_join, the_first_exception_ends_it_and_no_more_children_begin) {
    observed_runtime world;
    std::string order;
    auto work = [&]() -> ps::computation<> {
        try {
            (void)co_await ps::fork_join(notes(order, 'a'), throws("first"), throws("second"),
                                         notes(order, 'b'));
        } catch (std::runtime_error const& failure) {
            order += failure.what();
        }
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, awaits(work())).has_value());
    EXPECT_EQ(order, "afirst");
}

TEST(fork_join, what_cannot_be_made_is_an_exception_of_the_join) {
    observed_runtime world;
    int begun = 0;
    auto make = [&](std::size_t const i) -> ps::computation<int> {
        if (i == 2) throw std::runtime_error("no memory for it");
        ++begun;
        return gives(1);
    };
    auto work = [&]() -> ps::computation<> { (void)co_await ps::fork_join(5, make); };
    auto const end = ps::sync_wait(world.rt, awaits(work()));
    ASSERT_TRUE(end.has_exception());
    EXPECT_EQ(text_of(end.exception()), "no memory for it");
    EXPECT_EQ(begun, 2);
}

// A child that throws at once, while another, on another worker, still writes to the block's local.
TEST(fork_join, an_exception_waits_for_the_children_that_run) {
    watchdog const guard;
    ps::runtime rt(thieves(2));
    for (int round = 0; round < 200; ++round) {
        std::atomic<bool> has_begun = false;
        int written = 0;
        auto writes = [&](std::string& local) -> ps::computation<> {
            has_begun = true;
            for (int i = 0; i < 1000; ++i) local += 'x';
            written = static_cast<int>(local.size());
            co_return;
        };
        auto fails = [&]() -> ps::computation<> {
            while (!has_begun) std::this_thread::yield(); // on another worker: the second child
            throw std::runtime_error("at once");
            co_return;
        };
        auto work = [&]() -> ps::computation<> {
            std::string local;
            co_await ps::fork_join(fails(), writes(local));
        };
        auto const end = ps::sync_wait(rt, awaits(work()));
        ASSERT_TRUE(end.has_exception());
        EXPECT_EQ(written, 1000);
    }
}

TEST(fork_join, each_of_very_many_runs_once_on_any_number_of_workers) {
    watchdog const guard;
    for (std::uint32_t const count : {1u, 2u, 4u}) {
        ps::runtime rt(thieves(count));
        std::vector<std::atomic<int>> runs(20'000);
        auto child = [&](std::size_t const i) -> ps::computation<> {
            ++runs[i];
            if (i % 64 == 0) (void)co_await ps::fork_join(gives(1), gives(2));
        };
        auto work = [&]() -> ps::computation<> { co_await ps::fork_join(runs.size(), child); };
        EXPECT_TRUE(ps::sync_wait(rt, awaits(work())).has_value());
        int wrong = 0;
        for (auto const& each : runs) wrong += each == 1 ? 0 : 1;
        EXPECT_EQ(wrong, 0);
    }
}

} // namespace
