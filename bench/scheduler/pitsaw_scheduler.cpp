#include <pitsaw/pitsaw.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace ps = pitsaw;

// One round of a case on so many workers: `pitsaw_scheduler CASE WORKERS`.

namespace {

ps::computation<long> fib(long const n) {
    if (n < 2) co_return n;
    auto const [a, b] = co_await ps::fork_join(fib(n - 1), fib(n - 2));
    co_return a + b;
}

ps::computation<long> skynet(long const first, long const size) {
    if (size == 1) co_return first;
    long const part = size / 10;
    long sum = 0;
    for (long const each : co_await ps::fork_join(10, [first, part](std::size_t const i) {
             return skynet(first + static_cast<long>(i) * part, part);
         }))
        sum += each;
    co_return sum;
}

ps::computation<> skynet_into(long& sum, long const first, long const size) {
    if (size == 1) {
        sum = first;
        co_return;
    }
    long const part = size / 10;
    std::array<long, 10> sums;
    co_await ps::fork_join(10, [&](std::size_t const i) {
        return skynet_into(sums[i], first + static_cast<long>(i) * part, part);
    });
    sum = 0;
    for (long const each : sums) sum += each;
}

double measure(std::string_view what, std::uint32_t workers) {
    ps::runtime_options options;
    options.workers = workers;
    options.scheduling = ps::scheduling::stealing;
    ps::runtime rt(options);
    double seconds = 0;
    auto const end = ps::sync_wait(rt, [](std::string_view which, double& out) -> ps::task<long> {
        long result = 0;
        for (int i = 0; i < 5; ++i) {
            auto const t0 = std::chrono::steady_clock::now();
            if (which == "fib") result = co_await ps::compute(fib(32));
            if (which == "skynet") result = co_await ps::compute(skynet(0, 1000000));
            if (which == "skynet_into") co_await ps::compute(skynet_into(result, 0, 1000000));
            out = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
            std::printf("%ld %.3f ms\n", result, out * 1e3);
        }
        co_return result;
    }(what, seconds));
    return seconds;
}

} // namespace

int main(int argc, char** argv) {
    (void)argc;
    measure(argv[1], static_cast<std::uint32_t>(std::atoi(argv[2])));
}
