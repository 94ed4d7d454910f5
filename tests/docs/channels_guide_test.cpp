// The code of docs/guide/channels.md; docs.snippets compares.
#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;

namespace {

ps::task<> produce(ps::channel<int>& numbers) {
    for (int i = 0; i < 100; ++i) {
        auto const sent = co_await numbers.send(i); // waits while the channel is full
        if (!sent) co_return;                       // it was closed, and sent.error().message is i
    }
}

ps::task<> consume(ps::channel<int>& numbers, int& sum) {
    while (auto const next = co_await numbers.receive()) sum += *next; // ends when it is closed and empty
}

ps::task<int> add_up() {
    ps::channel<int> numbers(16);
    int sum = 0;
    auto const produces = [&]() -> ps::task<> {
        co_await ps::when_all(produce(numbers), produce(numbers));
        numbers.close();
    };
    co_await ps::when_all(produces(), consume(numbers, sum), consume(numbers, sum));
    co_return sum;
}

ps::task<int> from_either(ps::channel<int>& left, ps::channel<int>& right) {
    auto const first = co_await ps::when_any(left.receive(), right.receive());
    int sum = 0;
    if (auto const& got = std::get<0>(first)) sum += got->value_or(0);
    if (auto const& got = std::get<1>(first)) sum += got->value_or(0);
    co_return sum;
}

ps::task<> forward(std::vector<int>& backlog, ps::channel<int>& to) {
    while (!backlog.empty()) {
        auto place = co_await to.reserve(); // a stop here leaves the backlog as it is
        if (!place) co_return;              // closed
        place.send(backlog.back());
        backlog.pop_back();
    }
}

ps::task<> compute(ps::oneshot<int>::sender to) {
    co_await ps::sleep(1ms);
    to.send(42);
}

ps::task<int> ask() {
    ps::oneshot<int> answer;
    auto const asks = [&]() -> ps::task<int> {
        auto const got = co_await answer.receive();
        co_return got.value_or(-1); // the sender went without sending: stopped, or it failed
    };
    auto both = co_await ps::when_all(asks(), compute(answer.open_sender()));
    co_return std::get<0>(both);
}

ps::task<std::uint64_t> listen(ps::broadcast<int>::receiver& prices, int& last) {
    std::uint64_t missed = 0;
    for (;;) {
        auto const next = co_await prices.receive();
        if (next) {
            last = *next;
        } else {
            if (next.error().is_end()) co_return missed;
            missed += next.error().missed; // they were overwritten; what follows them comes next
        }
    }
}

ps::task<> follow(ps::watch<int>& limit, int& applied) {
    ps::watch<int>::receiver mine(limit);
    applied = limit.get();
    while (auto const next = co_await mine.next()) applied = *next;
}

TEST(channels_guide, messages_arrive) {
    EXPECT_EQ(ps::sync_wait(add_up()).value(), 2 * 99 * 100 / 2);
    EXPECT_EQ(ps::sync_wait(ask()).value(), 42);
    ps::channel<int> left(4), right(4);
    std::vector<int> backlog{1, 2, 3};
    EXPECT_TRUE(ps::sync_wait(forward(backlog, left)).has_value());
    EXPECT_TRUE(backlog.empty());
    EXPECT_EQ(ps::sync_wait(from_either(left, right)).value(), 3);
    EXPECT_EQ(left.size(), 2u);
}

TEST(channels_guide, news_and_values_arrive) {
    ps::broadcast<int> prices(2);
    ps::broadcast<int>::receiver mine(prices);
    for (int i = 0; i < 5; ++i) prices.send(i);
    prices.close();
    int last = 0;
    EXPECT_EQ(ps::sync_wait(listen(mine, last)).value(), 3u);
    EXPECT_EQ(last, 4);
    ps::watch<int> limit(7);
    limit.close();
    int applied = 0;
    EXPECT_TRUE(ps::sync_wait(follow(limit, applied)).has_value());
    EXPECT_EQ(applied, 7);
}

} // namespace
