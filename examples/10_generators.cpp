// Sequences: a generator computes its values, an async_generator may also wait for them.
#include <pitsaw/pitsaw.hpp>

#include <cstdio>
#include <ranges>

using namespace std::chrono_literals;
namespace ps = pitsaw;

ps::generator<int> fibonacci() {
    int a = 0;
    int b = 1;
    for (;;) {
        co_yield a;
        int const sum = a + b;
        a = b;
        b = sum;
    }
}

ps::async_generator<double> temperatures(int count) {
    for (int n = 0; n < count; ++n) {
        co_await ps::sleep(1s); // the sensor is slow
        co_yield 20.5 + n;
    }
}

ps::task<> work() {
    for (int n : fibonacci() | std::views::take(8)) std::printf("%d ", n);
    std::puts("");

    auto readings = temperatures(3);
    while (auto reading = co_await readings.next()) std::printf("%.1f degrees\n", *reading);
}

int main() { return ps::run(work()); }

// prints:
// 0 1 1 2 3 5 8 13
// 20.5 degrees
// 21.5 degrees
// 22.5 degrees
