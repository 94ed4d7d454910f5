#include <pitsaw/executor/budget.hpp>

#include "loop/worker.hpp"
#include "observed_runtime.hpp"
#include "stream_pair.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

// Every public awaitable that can be over at once: a loop over it lets others have a turn.

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

constexpr int rounds_max = 100'000;

/// Goes round until somebody else has had a turn; how often it went.
template <class Round> ps::task<int> goes_round(bool const& is_over, Round round) {
    int rounds = 0;
    while (!is_over && rounds < rounds_max) {
        co_await round();
        ++rounds;
    }
    co_return rounds;
}
ps::task<> ends_it(bool& is_over) {
    co_await ps::this_task::yield();
    is_over = true;
}
template <class Round> ps::task<int> rounds_before_others(Round round) {
    bool is_over = false;
    auto const both = co_await ps::when_all(goes_round(is_over, std::move(round)), ends_it(is_over));
    co_return std::get<0>(both);
}
template <class Round> int rounds_of(Round round) {
    observed_runtime world;
    return ps::sync_wait(world.rt, rounds_before_others(std::move(round))).value();
}

ps::task<int> one() { co_return 1; }
ps::task<ps::io_result<int>> one_result() { co_return 1; }
struct foreign_ready {
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    void await_resume() const noexcept {}
};
ps::async_generator<int> ones() {
    for (;;) co_yield 1;
}

// Three turns of 256 hops at most: `ends_it` needs two, and rounds cost one hop or more.
#define EXPECT_GIVES_WAY(...) EXPECT_LE(rounds_of([] { return __VA_ARGS__; }), 3 * ps::budget::hops_max)

TEST(gives_way, what_is_over_at_once) {
    EXPECT_GIVES_WAY(ps::sleep(0ms));
    EXPECT_GIVES_WAY(ps::sleep_until(ps::time_point::min()));
    EXPECT_GIVES_WAY(ps::this_task::yield());
    EXPECT_GIVES_WAY(ps::this_task::checkpoint());
    EXPECT_GIVES_WAY(one());
    EXPECT_GIVES_WAY(foreign_ready());
}

template <class Round> ps::task<> in_a_task(Round round) { co_await round(); }

// Those that hold what they await by reference need a coroutine around them.
TEST(gives_way, a_scope_around_what_is_over_at_once) {
    EXPECT_GIVES_WAY(in_a_task([]() -> ps::task<> { (void)co_await ps::as_outcome(one()); }));
    EXPECT_GIVES_WAY(
        in_a_task([]() -> ps::task<> { (void)co_await ps::when_all(ps::sleep(0ms), foreign_ready()); }));
    EXPECT_GIVES_WAY(in_a_task(
        []() -> ps::task<> { (void)co_await ps::when_any(ps::sleep(0ms), ps::this_task::checkpoint()); }));
    EXPECT_GIVES_WAY(in_a_task([]() -> ps::task<> { (void)co_await ps::with_timeout(1s, one()); }));
    EXPECT_GIVES_WAY(in_a_task([]() -> ps::task<> { (void)co_await ps::shield(one()); }));
    EXPECT_GIVES_WAY(in_a_task([]() -> ps::task<> { (void)co_await ps::or_return(one_result()); }));
    EXPECT_GIVES_WAY(in_a_task([]() -> ps::task<> { (void)co_await ps::with_name("n", one()); }));
    EXPECT_GIVES_WAY(in_a_task([]() -> ps::task<> { co_await ps::blocking([] {}); }));
    EXPECT_GIVES_WAY(in_a_task([]() -> ps::task<> {
        auto const nothing = [](ps::task_group&) -> ps::task<> { co_return; };
        co_await ps::task_group::run(nothing);
    }));
}

TEST(gives_way, a_generator_that_always_has_a_value) {
    observed_runtime world;
    auto const work = []() -> ps::task<int> {
        auto values = ones();
        bool is_over = false;
        auto const rounds = [&]() -> ps::task<int> {
            int count = 0;
            while (!is_over && count < rounds_max) {
                auto const value = co_await values.next();
                count += *value;
            }
            co_return count;
        };
        auto const both = co_await ps::when_all(rounds(), ends_it(is_over));
        co_return std::get<0>(both);
    };
    EXPECT_LE(ps::sync_wait(world.rt, work()).value(), 3 * ps::budget::hops_max);
}

TEST(gives_way, an_interval_that_is_late) {
    observed_runtime world;
    auto const work = []() -> ps::task<int> {
        ps::interval every(1ns);
        co_await deaf_sleep(1s); // a thousand million ticks are due
        co_return co_await rounds_before_others([&] { return every.tick(); });
    };
    EXPECT_LE(ps::sync_wait(world.rt, work()).value(), 3 * ps::budget::hops_max);
}

TEST(gives_way, room_in_a_group_that_has_it) {
    observed_runtime world;
    auto const body = [](ps::task_group& group) -> ps::task<> {
        auto const rounds = co_await rounds_before_others([&] { return group.room(); });
        EXPECT_LE(rounds, 3 * ps::budget::hops_max);
    };
    auto const work = [&]() -> ps::task<> { co_await ps::task_group::run(body); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

template <int Depth> ps::task<> nested_ready() {
    if constexpr (Depth == 0) {
        co_await ps::sleep(0ms);
    } else {
        (void)co_await ps::when_all(nested_ready<Depth - 1>(), ps::this_task::checkpoint());
        (void)co_await ps::when_any(nested_ready<Depth - 1>(), ps::sleep(0ms));
    }
}
/// The loop's turns for so many tasks whose awaits are all over at once.
std::uint64_t turns_of(int const tasks) {
    observed_runtime world;
    auto const body = [&](ps::task_group& group) -> ps::task<> {
        for (int i = 0; i < tasks; ++i) group.spawn(nested_ready<5>());
        co_return;
    };
    auto const work = [&]() -> ps::task<> { co_await ps::task_group::run(body); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    return world.rt.loop().turn();
}
// SC5: whoever has spent its budget goes to the tail of the queue, below any depth of scopes, and is not
// asked again before its turn.
TEST(gives_way, nested_scopes_cost_the_loop_as_many_turns_as_there_is_work) {
    auto const few = turns_of(300);
    EXPECT_GT(few, 4u);
    EXPECT_LE(turns_of(8 * 300), 10 * few);
}

/// Where everything is there already, on both sides.
template <class Round> void expect_streams_give_way(Round round) {
    observed_runtime world;
    auto const work = [&]() -> ps::task<ps::io_result<void>> {
        auto pair = co_await ps::or_return(connect_pair());
        std::string const much(16 << 10, 'x');
        co_await ps::or_return(pair.client.send_all(bytes_of(much)));
        co_await ps::sleep(1s);
        ps::buffered_reader reader(pair.server);
        auto const rounds = co_await rounds_before_others([&] { return round(pair, reader); });
        EXPECT_LE(rounds, 3 * ps::budget::hops_max);
        co_return {};
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).value().has_value());
}
TEST(gives_way, streams_that_are_ready) {
    using reader = ps::buffered_reader<ps::tcp_stream>;
    std::byte byte{};
    expect_streams_give_way(
        [&](stream_pair& pair, reader&) { return pair.server.receive(std::span(&byte, 1)); });
    expect_streams_give_way(
        [&](stream_pair& pair, reader&) { return pair.server.send(std::span<std::byte const>(&byte, 1)); });
    expect_streams_give_way([&](stream_pair& pair, reader&) {
        return pair.server.send_all(std::span<std::byte const>(&byte, 1));
    });
    expect_streams_give_way([](stream_pair&, reader& from) { return from.read_exactly(1); });
}

} // namespace
