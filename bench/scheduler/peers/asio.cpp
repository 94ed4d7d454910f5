// Boost.Asio's coroutines on so many threads. asio CASE WORKERS.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>

namespace asio = boost::asio;
using channel = asio::experimental::concurrent_channel<void(boost::system::error_code, std::uint64_t)>;

namespace {

constexpr std::uint64_t spawned = 1'000'000;
constexpr std::uint64_t yields = 2'000'000;
constexpr std::uint64_t items = 10'000'000;
constexpr std::uint64_t exchanges = 100'000;
constexpr std::uint64_t sleepers = 100'000;
constexpr std::size_t room = 1'024;

/// What runs in one round, and whether it has all been done.
struct io_round {
    asio::io_context& io;
    std::uint32_t workers;

    void go() const {
        std::vector<std::jthread> others;
        for (std::uint32_t i = 1; i < workers; ++i) others.emplace_back([this] { io.run(); });
        io.run();
        others.clear();
        io.restart();
    }
};

asio::awaitable<void> trivial(std::atomic<std::uint64_t>& count) {
    count.fetch_add(1, std::memory_order_relaxed);
    co_return;
}
std::uint64_t spawn_join(io_round const& in) {
    std::atomic<std::uint64_t> count = 0;
    for (std::uint64_t done = 0; done < spawned; done += 100) {
        for (int i = 0; i < 100; ++i) asio::co_spawn(in.io, trivial(count), asio::detached);
        in.io.run();
        in.io.restart();
    }
    return count;
}

asio::awaitable<void> yielding() {
    for (std::uint64_t i = 0; i < yields / 2; ++i) co_await asio::post(asio::use_awaitable);
}
std::uint64_t yield(io_round const& in) {
    asio::co_spawn(in.io, yielding(), asio::detached);
    asio::co_spawn(in.io, yielding(), asio::detached);
    in.go();
    return yields;
}

asio::awaitable<void> produce(channel& to, std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; ++i)
        co_await to.async_send(boost::system::error_code(), 1, asio::use_awaitable);
}
// Told how many there are, for a close of 1.81's lets go of what has not been received.
asio::awaitable<void> consume(channel& from, std::uint64_t const count, std::atomic<std::uint64_t>& sum) {
    std::uint64_t mine = 0;
    for (std::uint64_t i = 0; i < count; ++i) mine += co_await from.async_receive(asio::use_awaitable);
    sum += mine;
}
std::uint64_t pass(io_round const& in, std::uint64_t const pairs) {
    channel between(in.io, room);
    std::atomic<std::uint64_t> sum = 0;
    for (std::uint64_t i = 0; i < pairs; ++i) {
        asio::co_spawn(in.io, produce(between, items / pairs), asio::detached);
        asio::co_spawn(in.io, consume(between, items / pairs, sum), asio::detached);
    }
    in.go();
    return sum;
}

asio::awaitable<void> returns(channel& from, channel& to) {
    for (std::uint64_t i = 0; i < exchanges; ++i) {
        auto const ball = co_await from.async_receive(asio::use_awaitable);
        co_await to.async_send(boost::system::error_code(), ball + 1, asio::use_awaitable);
    }
}
asio::awaitable<void> plays(channel& to, channel& from, std::uint64_t& hits) {
    for (std::uint64_t i = 0; i < exchanges; ++i) {
        co_await to.async_send(boost::system::error_code(), hits, asio::use_awaitable);
        hits = co_await from.async_receive(asio::use_awaitable);
    }
}
std::uint64_t ping_pong(io_round const& in) {
    channel there(in.io, 1);
    channel back(in.io, 1);
    std::uint64_t hits = 0;
    asio::co_spawn(in.io, returns(there, back), asio::detached);
    asio::co_spawn(in.io, plays(there, back, hits), asio::detached);
    in.go();
    return hits;
}

asio::awaitable<void> sleeps(std::uint64_t const number, std::atomic<std::uint64_t>& woken) {
    asio::steady_timer timer(co_await asio::this_coro::executor,
                             std::chrono::microseconds(1'000 + number % 1'000));
    co_await timer.async_wait(asio::use_awaitable);
    woken.fetch_add(1, std::memory_order_relaxed);
}
std::uint64_t timers(io_round const& in) {
    std::atomic<std::uint64_t> woken = 0;
    for (std::uint64_t i = 0; i < sleepers; ++i) asio::co_spawn(in.io, sleeps(i, woken), asio::detached);
    in.go();
    return woken;
}

} // namespace

int main(int, char** const arguments) {
    std::string_view const name = arguments[1];
    auto const workers = static_cast<std::uint32_t>(std::atoi(arguments[2]));
    double ns = 0;
    std::uint64_t operations = 0;
    for (int turn = 0; turn < 2; ++turn) {
        asio::io_context io(static_cast<int>(workers));
        io_round const in{io, workers};
        auto const begun = std::chrono::steady_clock::now();
        std::uint64_t got = 0;
        if (name == "spawn_join") got = spawn_join(in), operations = spawned;
        if (name == "yield") got = yield(in), operations = yields;
        if (name == "channel_1_to_1") got = pass(in, 1), operations = items;
        if (name == "channel_4_to_4") got = pass(in, 4), operations = items;
        if (name == "ping_pong") got = ping_pong(in), operations = exchanges;
        if (name == "timers") got = timers(in), operations = sleepers;
        if (operations == 0) return 2;
        if (got != operations) return 3;
        ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begun).count();
    }
    std::printf("time ns/op %.3f\n", ns / static_cast<double>(operations));
}
