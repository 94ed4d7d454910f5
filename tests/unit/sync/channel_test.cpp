#include <pitsaw/sync/channel.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

/// Sends `first` and the numbers behind it, `count` in all.
ps::task<> send_numbers(ps::channel<int>& to, int first, int count) {
    for (int i = first; i < first + count; ++i) {
        auto const sent = co_await to.send(i);
        EXPECT_TRUE(sent.has_value());
    }
}

/// Receives until the end.
ps::task<> receive_numbers(ps::channel<int>& from, std::vector<int>& into) {
    while (auto const next = co_await from.receive()) into.push_back(*next);
}

TEST(channel, messages_come_in_the_order_in_which_they_were_sent) {
    observed_runtime world;
    ps::channel<int> numbers(3);
    std::vector<int> got;
    auto sends = [&]() -> ps::task<> {
        co_await send_numbers(numbers, 0, 100);
        numbers.close();
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(receive_numbers(numbers, got), sends()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    ASSERT_EQ(got.size(), 100u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i);
}

TEST(channel, who_sends_waits_while_it_is_full) {
    observed_runtime world;
    ps::channel<int> numbers(2);
    int sent = 0;
    auto sends = [&]() -> ps::task<> {
        for (; sent < 5; ++sent) (void)co_await numbers.send(sent);
    };
    auto receives = [&]() -> ps::task<> {
        co_await ps::sleep(1ms);
        EXPECT_EQ(sent, 2);
        EXPECT_EQ(numbers.size(), 2u);
        EXPECT_EQ(co_await numbers.receive(), 0);
        co_await ps::sleep(1ms);
        EXPECT_EQ(sent, 3);
        for (int i = 1; i < 5; ++i) EXPECT_EQ(co_await numbers.receive(), i);
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(sends(), receives()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(sent, 5);
}

TEST(channel, receivers_are_served_in_the_order_in_which_they_came) {
    observed_runtime world;
    ps::channel<int> numbers(1);
    std::vector<std::pair<int, int>> got;
    auto receives = [&](int who) -> ps::task<> {
        auto const first = co_await numbers.receive();
        got.emplace_back(who, *first);
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(receives(0), receives(1), receives(2), send_numbers(numbers, 7, 3));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(got, (std::vector<std::pair<int, int>>{{0, 7}, {1, 8}, {2, 9}}));
}

TEST(channel, after_close_receivers_get_what_is_in_it_and_then_the_end) {
    observed_runtime world;
    ps::channel<int> numbers(4);
    EXPECT_TRUE(numbers.try_send(1).has_value());
    EXPECT_TRUE(numbers.try_send(2).has_value());
    numbers.close();
    numbers.close();
    EXPECT_TRUE(numbers.is_closed());
    auto work = [&]() -> ps::task<> {
        EXPECT_EQ(co_await numbers.receive(), 1);
        EXPECT_EQ(co_await numbers.receive(), 2);
        EXPECT_FALSE((co_await numbers.receive()).has_value());
        EXPECT_FALSE((co_await numbers.receive()).has_value());
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_FALSE(numbers.try_receive().has_value());
}

TEST(channel, close_gives_the_messages_of_those_who_wait_back_and_ends_those_who_receive) {
    observed_runtime world;
    ps::channel<std::unique_ptr<int>> full(1), empty(1);
    EXPECT_TRUE(full.try_send(std::make_unique<int>(1)).has_value());
    auto sends = [&]() -> ps::task<> {
        auto refused = co_await full.send(std::make_unique<int>(2));
        EXPECT_EQ(refused.error().why, std::errc::broken_pipe);
        EXPECT_EQ(**refused.error().message, 2);
        refused = co_await full.send(std::make_unique<int>(3)); // at once
        EXPECT_EQ(**refused.error().message, 3);
    };
    auto receives = [&]() -> ps::task<> { EXPECT_FALSE((co_await empty.receive()).has_value()); };
    auto reserves = [&]() -> ps::task<> { EXPECT_FALSE(co_await full.reserve()); };
    auto closes = [&]() -> ps::task<> {
        full.close();
        empty.close();
        co_return;
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(sends(), reserves(), receives(), closes()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    auto refused = full.try_send(std::make_unique<int>(4));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(**refused.error().message, 4);
    EXPECT_EQ(**full.try_receive(), 1);
}

TEST(channel, a_place_is_room_that_nobody_else_takes) {
    observed_runtime world;
    ps::channel<int> numbers(2);
    auto work = [&]() -> ps::task<> {
        auto place = co_await numbers.reserve();
        EXPECT_TRUE(numbers.try_send(1).has_value());
        auto const full = numbers.try_send(2);
        EXPECT_EQ(full.error().why, std::errc::resource_unavailable_try_again);
        EXPECT_EQ(full.error().message, 2);
        auto late = co_await ps::with_timeout(1ms, numbers.send(3));
        EXPECT_EQ(late.error().why, std::errc::timed_out);
        place.send(4);
        EXPECT_FALSE(place);
        EXPECT_EQ(co_await numbers.receive(), 1);
        EXPECT_EQ(co_await numbers.receive(), 4);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(channel, an_unused_place_goes_to_the_next) {
    observed_runtime world;
    ps::channel<int> numbers(1);
    auto holds = [&]() -> ps::task<> {
        auto place = co_await numbers.reserve();
        auto moved = std::move(place);
        EXPECT_FALSE(place);
        co_await ps::sleep(1ms);
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(holds(), send_numbers(numbers, 5, 1)); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(world.elapsed(), 1ms);
    EXPECT_EQ(numbers.try_receive(), 5);
}

TEST(channel, a_place_that_was_given_before_the_close_may_be_filled_and_receivers_wait_for_it) {
    observed_runtime world;
    ps::channel<int> numbers(2);
    std::vector<int> got;
    auto sends = [&]() -> ps::task<> {
        auto filled = co_await numbers.reserve();
        auto unused = co_await numbers.reserve();
        numbers.close();
        co_await ps::sleep(1ms);
        filled.send(1);
        co_await ps::sleep(1ms);
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(receive_numbers(numbers, got), sends()); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(got, (std::vector<int>{1}));
    EXPECT_EQ(world.elapsed(), 2ms);
}

TEST(channel, a_stop_takes_no_message_with_it) {
    observed_runtime world;
    ps::channel<int> numbers(1);
    std::vector<int> got;
    auto gives_up = [&]() -> ps::task<> {
        auto const none = co_await ps::with_timeout(1ms, numbers.receive());
        EXPECT_FALSE(none.has_value());
    };
    auto sends = [&]() -> ps::task<> {
        co_await ps::sleep(2ms);
        co_await send_numbers(numbers, 0, 3);
        numbers.close();
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(gives_up(), receive_numbers(numbers, got), sends());
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(got, (std::vector<int>{0, 1, 2}));
}

TEST(channel, a_message_that_was_given_before_the_stop_is_delivered) {
    observed_runtime world;
    ps::channel<int> numbers(1);
    auto work = [&]() -> ps::task<> {
        auto sends = [&]() -> ps::task<> {
            EXPECT_TRUE(numbers.try_send(7).has_value());
            world.rt.request_stop();
            co_return;
        };
        auto receives = [&]() -> ps::task<int> {
            auto got = co_await ps::as_outcome(numbers.receive());
            co_return got.has_value() ? got.value().value_or(-1) : -2;
        };
        auto const both = co_await ps::when_all(receives(), sends());
        EXPECT_EQ(std::get<0>(both), 7);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(channel, when_any_over_receives_loses_no_message) {
    observed_runtime world;
    ps::channel<int> left(1), right(1);
    int sum = 0;
    auto work = [&]() -> ps::task<> {
        auto sends = [&](ps::channel<int>& to, int first) -> ps::task<> {
            co_await send_numbers(to, first, 50);
            to.close();
        };
        auto receives = [&]() -> ps::task<> {
            bool is_left_open = true, is_right_open = true;
            while (is_left_open && is_right_open) {
                auto const first = co_await ps::when_any(left.receive(), right.receive());
                if (auto const& from_left = std::get<0>(first)) {
                    is_left_open = from_left->has_value();
                    sum += from_left->value_or(0);
                }
                if (auto const& from_right = std::get<1>(first)) {
                    is_right_open = from_right->has_value();
                    sum += from_right->value_or(0);
                }
            }
            while (auto const rest = co_await left.receive()) sum += *rest;
            while (auto const rest = co_await right.receive()) sum += *rest;
        };
        co_await ps::when_all(receives(), sends(left, 0), sends(right, 1000));
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(sum, 49 * 50 / 2 * 2 + 50 * 1000);
}

TEST(channel, waiting_allocates_nothing) {
    observed_runtime world;
    ps::channel<int> numbers(1);
    auto work = [&]() -> ps::task<> {
        auto const before = ps::frame_memory_statistics().live;
        auto measures = [&]() -> ps::task<> {
            EXPECT_LE(ps::frame_memory_statistics().live - before, 1); // its own
            numbers.close();
            co_return;
        };
        (void)co_await ps::when_all(numbers.receive(), numbers.receive(), measures());
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

TEST(channel_death_test, room_for_nothing_and_a_place_used_twice_are_failed_checks) {
    EXPECT_DEATH(ps::channel<int>(0), "room for at least one message");
    auto const twice = [] {
        observed_runtime world;
        ps::channel<int> numbers(2);
        auto work = [&]() -> ps::task<> {
            auto place = co_await numbers.reserve();
            place.send(1);
            place.send(2);
        };
        (void)ps::sync_wait(world.rt, work());
    };
    EXPECT_DEATH(twice(), "there is no place to send into");
}

} // namespace
