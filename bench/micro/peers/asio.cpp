// Boost.Asio's coroutines on one thread.
#include "../meter.hpp"

#include <exception>
#include <string_view>
#include <utility> // Boost 1.74 forgets it
#include <vector>

#include <boost/asio.hpp>

namespace asio = boost::asio;

namespace {

[[gnu::noinline]] asio::awaitable<std::uint64_t> hidden_child(std::uint64_t x) { co_return x; }

asio::awaitable<void> nested(std::uint64_t const count) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        sum += co_await hidden_child(i);
        keep(sum);
    }
}

asio::awaitable<void> yielding(std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; ++i) co_await asio::post(asio::use_awaitable);
}

void run_nested(asio::io_context& io, std::uint64_t const count) {
    asio::co_spawn(io, nested(count), asio::detached);
    io.run();
}

void run_yield(asio::io_context& io, std::uint64_t const count) {
    asio::co_spawn(io, yielding(count / 2), asio::detached);
    asio::co_spawn(io, yielding(count / 2), asio::detached);
    io.run();
}

void run_spawn(asio::io_context& io, std::uint64_t const count) { // joined by a counter, a hundred at a time
    std::uint64_t sum = 0;
    for (std::uint64_t done = 0; done < count; done += 100) {
        for (std::uint64_t i = 0; i < 100; ++i)
            asio::co_spawn(io, hidden_child(i), [&sum](std::exception_ptr, std::uint64_t x) { sum += x; });
        io.run();
        io.restart();
    }
    keep(sum);
}

void run_timers(asio::io_context& io, std::uint64_t const count) {
    std::vector<asio::steady_timer> timers;
    timers.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) timers.emplace_back(io);
    std::uint64_t completed = 0;
    double const begun = cpu_ns();
    for (std::uint64_t i = 0; i < count; ++i) {
        timers[i].expires_after(std::chrono::milliseconds(timeout_ms(i)));
        timers[i].async_wait([&completed](boost::system::error_code) { ++completed; });
    }
    for (auto& timer : timers) timer.cancel();
    print_time(cpu_ns() - begun, count);
    io.run();
}

} // namespace

int main(int, char** arguments) {
    std::string_view const name = arguments[1];
    asio::io_context io(1);
    if (name == "timer_arm_cancel") {
        run_timers(io, 1'000'000);
        return 0;
    }
    auto* const run = name == "nested_hidden" ? run_nested
                      : name == "yield"       ? run_yield
                      : name == "spawn_join"  ? run_spawn
                                              : nullptr;
    if (run == nullptr) return 2;
    constexpr std::uint64_t count = 1'000'000;
    run(io, count / 100);
    io.restart();
    double const begun = cpu_ns();
    run(io, count);
    print_time(cpu_ns() - begun, count);
}
