#include <pitsaw/sync/broadcast.hpp>

#include "observed_runtime.hpp"
#include "two_runtimes.hpp"

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_stop.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

using words = ps::broadcast<std::string>;

ps::task<> listen(words::receiver& by, std::vector<std::string>& into) {
    for (;;) {
        auto const next = co_await by.receive();
        if (next.has_value()) {
            into.push_back(*next);
        } else {
            if (next.error().is_end()) co_return;
            into.push_back("missed " + std::to_string(next.error().missed));
        }
    }
}

TEST(broadcast, every_receiver_gets_every_message_from_when_it_is_made) {
    observed_runtime world;
    words news(8);
    news.send("before");
    words::receiver first(news);
    std::vector<std::string> heard_first, heard_second;
    auto work = [&]() -> ps::task<> {
        news.send("a");
        words::receiver second(news);
        auto sends = [&]() -> ps::task<> {
            for (auto const* const each : {"b", "c"}) {
                co_await ps::sleep(1ms);
                news.send(each);
            }
            news.close();
            news.send("after"); // goes nowhere
        };
        co_await ps::when_all(listen(first, heard_first), listen(second, heard_second), sends());
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(heard_first, (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(heard_second, (std::vector<std::string>{"b", "c"}));
}

TEST(broadcast, who_falls_behind_is_told_exactly_how_many_it_missed) {
    observed_runtime world;
    words news(3);
    words::receiver slow(news);
    std::vector<std::string> heard;
    for (int i = 0; i < 10; ++i) news.send(std::to_string(i));
    news.close();
    EXPECT_TRUE(ps::sync_wait(world.rt, listen(slow, heard)).has_value());
    EXPECT_EQ(heard, (std::vector<std::string>{"missed 7", "7", "8", "9"}));
}

/// Copying it fails the first time.
struct shy {
    shy(int what, int& counter) : number(what), copies(&counter) {}
    shy(shy const& other) : number(other.number), copies(other.copies) {
        if (++*copies == 1) throw std::runtime_error("shy");
    }
    shy(shy&&) noexcept = default;

    int number;
    int* copies;
};

TEST(broadcast, a_message_whose_copy_throws_can_be_received_again) {
    observed_runtime world;
    int copies = 0;
    ps::broadcast<shy> news(2);
    ps::broadcast<shy>::receiver mine(news);
    news.send(shy(5, copies));
    auto work = [&]() -> ps::task<> {
        auto const failed = co_await ps::as_outcome(mine.receive());
        EXPECT_FALSE(failed.has_value());
        auto const again = co_await mine.receive();
        EXPECT_EQ(again->number, 5);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(broadcast, a_stopped_receive_has_taken_nothing) {
    ps::sim::book values("values"), heard("messages heard");
    auto const body = [&]() -> ps::task<> {
        ps::broadcast<ps::sim::counted<int>> news(4);
        ps::broadcast<ps::sim::counted<int>>::receiver mine(news);
        auto listens = [&]() -> ps::task<> {
            for (int i = 0; i < 4; ++i) {
                auto const got = co_await mine.receive();
                EXPECT_EQ(**got, i);
            }
        };
        auto sends = [&]() -> ps::task<> {
            for (int i = 0; i < 4; ++i) {
                news.send(ps::sim::counted<int>(values, i));
                co_await ps::sleep(1us);
            }
        };
        co_await ps::when_all(listens(), sends());
    };
    ps::sim::check_stop_options options;
    options.books = {&values};
    auto const report = ps::sim::check_stop(body, options);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.stopped_runs(), 0u);
}

TEST(broadcast, between_threads_what_is_heard_and_what_is_missed_is_all) {
    constexpr std::uint64_t all = 50'000;
    ps::broadcast<std::uint64_t> numbers(64);
    ps::broadcast<std::uint64_t>::receiver mine(numbers);
    std::uint64_t heard = 0, missed = 0;
    auto sends = [&]() -> ps::task<> {
        for (std::uint64_t i = 0; i < all; ++i) {
            numbers.send(i);
            if (i % 32 == 0) co_await ps::this_task::yield();
        }
        numbers.close();
    };
    auto listens = [&]() -> ps::task<> {
        for (;;) {
            auto const next = co_await mine.receive();
            if (next.has_value()) {
                EXPECT_EQ(*next, heard + missed); // in order, and the gaps are as long as it was told
                ++heard;
            } else {
                if (next.error().is_end()) co_return;
                missed += next.error().missed;
            }
        }
    };
    run_on_two_threads(sends, listens);
    EXPECT_EQ(heard + missed, all);
}

TEST(broadcast_death_test, one_that_keeps_nothing_is_a_failed_check) {
    EXPECT_DEATH(words(0), "a broadcast keeps at least one message");
}

} // namespace
