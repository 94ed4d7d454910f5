#include <pitsaw/net/tcp_stream.hpp>

#include <pitsaw/base/random.hpp>
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_stop.hpp>

#include "driver/sim/driver.hpp"
#include "stream_pair.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::connect_pair;

namespace {

ps::task<ps::io_result<void>> send_ten(ps::tcp_stream& to) {
    std::array<std::byte, 10> const bytes{};
    co_await ps::or_return(to.send_all(bytes));
    co_return co_await to.shutdown_send();
}

ps::task<ps::io_result<std::size_t>> count(ps::tcp_stream& from) {
    std::size_t total = 0;
    for (;;) {
        auto chunk = co_await ps::or_return(from.receive());
        if (chunk.empty()) co_return total;
        total += chunk.size();
    }
}

ps::task<ps::io_result<std::size_t>> exchange() {
    auto ends = co_await ps::or_return(connect_pair());
    auto both = co_await ps::or_return(ps::when_all(send_ten(ends.client), count(ends.server)));
    co_await ps::or_return(ends.server.closed());
    auto const seen = co_await ps::or_return(ends.server.peer_endpoint());
    auto const own = co_await ps::or_return(ends.client.local_endpoint());
    EXPECT_EQ(seen, own);
    co_await ps::or_return(ends.client.async_close());
    co_return std::get<1>(both);
}

TEST(tcp_stream, carries_bytes_and_the_end_of_the_stream) {
    ps::sim::world world;
    auto end = world.run(exchange());
    ASSERT_TRUE(end.has_value() && end.value().has_value());
    EXPECT_EQ(*end.value(), 10u);
}

TEST(tcp_stream, loses_nothing_when_stopped_at_any_suspension) {
    ps::sim::check_stop_options options;
    options.seeds = 8;
    auto const report = ps::sim::check_stop(exchange, options);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.stopped_runs(), 0u);
}

ps::task<ps::io_result<void>> own_buffers() {
    auto ends = co_await ps::or_return(connect_pair());
    std::array<std::byte, 3> const first{}, second{};
    std::array<ps::source_span, 2> const pieces{ps::source_span{first.data(), 3}, {second.data(), 3}};
    std::size_t sent = 0;
    std::span<ps::source_span const> const all(pieces);
    co_await ps::or_return(ends.client.send_all(all, sent));
    EXPECT_EQ(sent, 6u);
    std::size_t got = 0;
    while (got < 6) {
        std::vector<std::byte> into(64);
        auto const back = co_await ps::or_return(ends.server.receive_into(std::move(into)));
        got += back.size();
    }
    EXPECT_EQ(got, 6u);
    co_return {};
}

TEST(tcp_stream, sends_pieces_and_receives_into_an_owned_buffer) {
    auto const report = ps::sim::check_stop(own_buffers);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.stopped_runs(), 0u);
}

ps::task<ps::io_result<int>> hold_leases() {
    auto ends = co_await ps::or_return(connect_pair());
    std::vector<ps::lease> held;
    int pooled = 0;
    for (int i = 0; i < 5; ++i) {
        std::array<std::byte, 1> const byte{std::byte(i)};
        co_await ps::or_return(ends.client.send_all(byte));
        held.push_back(co_await ps::or_return(ends.server.receive()));
        pooled += held.back().is_pooled() ? 1 : 0;
    }
    for (int i = 0; i < 5; ++i) EXPECT_EQ(held[static_cast<std::size_t>(i)].bytes()[0], std::byte(i));
    co_return pooled;
}

TEST(tcp_stream, leases_that_are_held_do_not_starve_other_receives) {
    ps::runtime_options options;
    options.pool_buffers = 2;
    for (unsigned inline_percent : {0u, 100u}) {
        auto in = ps::sim_driver_options::calm();
        in.inline_percent = inline_percent;
        ps::runtime rt(std::make_unique<ps::sim_driver>(in), options);
        auto end = ps::sync_wait(rt, hold_leases());
        ASSERT_TRUE(end.has_value());
        EXPECT_EQ(end.value().value(), 2);
    }
}

// Counter bytes through a slow reader, the sends stopped at random and resumed at `sent`.
constexpr std::size_t counted_bytes = std::size_t{16} << 20;

ps::task<ps::io_result<int>> send_in_pieces(ps::tcp_stream& to, std::uint64_t seed) {
    ps::random_source random(seed);
    std::vector<std::byte> bytes(1 << 20);
    int stops = 0;
    for (std::size_t base = 0; base < counted_bytes; base += bytes.size()) {
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>((base + i) % 251);
        for (std::size_t sent = 0; sent < bytes.size();) {
            auto const time = ps::duration(static_cast<std::int64_t>(random.below(40'000)));
            auto const done = co_await ps::with_timeout(time, to.send_all(bytes, sent));
            if (done.has_value()) continue;
            if (done.error() != std::errc::timed_out) co_return std::unexpected(done.error());
            ++stops;
        }
    }
    co_await ps::or_return(to.shutdown_send());
    co_return stops;
}

ps::task<ps::io_result<std::size_t>> read_slowly(ps::tcp_stream& from) {
    std::size_t total = 0;
    for (;;) {
        auto chunk = co_await ps::or_return(from.receive());
        if (chunk.empty()) co_return total;
        for (auto const byte : chunk.bytes())
            if (byte != static_cast<std::byte>(total++ % 251))
                co_return std::unexpected(std::make_error_code(std::errc::bad_message));
        co_await ps::sleep(5us);
    }
}

ps::task<ps::io_result<void>> counters(std::uint64_t seed) {
    auto ends = co_await ps::or_return(connect_pair());
    auto both =
        co_await ps::or_return(ps::when_all(send_in_pieces(ends.client, seed), read_slowly(ends.server)));
    EXPECT_GT(std::get<0>(both), 100);
    EXPECT_EQ(std::get<1>(both), counted_bytes);
    co_return {};
}

TEST(tcp_stream, sends_stopped_at_random_and_resumed_at_sent_are_unbroken) {
    ps::sim::world world({.seed = ps::sim::seed_from_environment(7)});
    auto end = world.run(counters(7));
    ASSERT_TRUE(end.has_value());
    EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
}

ps::task<ps::io_result<void>> connect_to_nobody() {
    auto made = co_await ps::or_return(ps::tcp_stream::connect(ps::endpoint::loopback(9)));
    co_return {};
}

TEST(tcp_stream, connecting_where_nobody_listens_is_refused) {
    ps::sim::world world;
    auto end = world.run(connect_to_nobody());
    EXPECT_EQ(end.value().error(), std::errc::connection_refused);
}

} // namespace
