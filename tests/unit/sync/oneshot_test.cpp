#include <pitsaw/sync/oneshot.hpp>

#include "observed_runtime.hpp"
#include "two_runtimes.hpp"

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_stop.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

TEST(oneshot, gives_the_message_to_who_waits_and_to_who_comes_later) {
    observed_runtime world;
    ps::oneshot<std::unique_ptr<int>> early, late;
    auto sends = [&](ps::oneshot<std::unique_ptr<int>>::sender first,
                     ps::oneshot<std::unique_ptr<int>>::sender second) -> ps::task<> {
        first.send(std::make_unique<int>(1));
        co_await ps::sleep(1ms);
        second.send(std::make_unique<int>(2));
    };
    auto receives = [&]() -> ps::task<> {
        auto const waited = co_await late.receive();
        EXPECT_EQ(**waited, 2);
        auto const there = co_await early.receive();
        EXPECT_EQ(**there, 1);
        EXPECT_FALSE((co_await early.receive()).has_value()); // it was taken
    };
    auto first = early.open_sender();
    auto second = late.open_sender();
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(receives(), sends(std::move(first), std::move(second)));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(world.elapsed(), 1ms);
}

TEST(oneshot, a_sender_that_goes_without_sending_ends_the_wait) {
    observed_runtime world;
    ps::oneshot<int> answer;
    auto drops = [](ps::oneshot<int>::sender owned) -> ps::task<> {
        auto const unused = std::move(owned);
        co_await ps::sleep(1ms);
    };
    auto receives = [&]() -> ps::task<> { EXPECT_FALSE((co_await answer.receive()).has_value()); };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(receives(), drops(answer.open_sender())); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(world.elapsed(), 1ms);
}

TEST(oneshot, check_stop_finds_no_value_lost) {
    ps::sim::book values("values");
    auto const body = [&]() -> ps::task<> {
        ps::oneshot<ps::sim::counted<int>> answer;
        auto sends = [&](ps::oneshot<ps::sim::counted<int>>::sender to) -> ps::task<> {
            co_await ps::sleep(1us);
            to.send(ps::sim::counted<int>(values, 1));
        };
        auto receives = [&]() -> ps::task<> { (void)co_await answer.receive(); };
        co_await ps::when_all(receives(), sends(answer.open_sender()));
    };
    ps::sim::check_stop_options options;
    options.books = {&values};
    auto const report = ps::sim::check_stop(body, options);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.stopped_runs(), 0u);
}

TEST(oneshot, crosses_threads) { // LW1
    constexpr int rounds = 1000;
    std::vector<ps::oneshot<int>> there(rounds), back(rounds);
    auto asks = [&]() -> ps::task<> {
        for (std::size_t i = 0; i < rounds; ++i) {
            there[i].open_sender().send(static_cast<int>(i));
            EXPECT_EQ(co_await back[i].receive(), static_cast<int>(i) + 1);
        }
    };
    auto answers = [&]() -> ps::task<> {
        for (std::size_t i = 0; i < rounds; ++i) {
            auto const asked = co_await there[i].receive();
            back[i].open_sender().send(*asked + 1);
        }
    };
    run_on_two_threads(asks, answers);
}

TEST(oneshot_death_test, a_second_sender_and_a_second_message_are_failed_checks) {
    ps::oneshot<int> of;
    auto first = of.open_sender();
    EXPECT_DEATH((void)of.open_sender(), "a oneshot has one sender");
    first.send(1);
    EXPECT_DEATH(first.send(2), "a oneshot is sent once");
    EXPECT_DEATH((void)of.open_sender(), "a oneshot has one sender");
    auto const outlived = [] {
        auto made = std::make_optional<ps::oneshot<int>>();
        auto sender = made->open_sender();
        made.reset();
    };
    EXPECT_DEATH(outlived(), "destroyed before its sender");
}

} // namespace
