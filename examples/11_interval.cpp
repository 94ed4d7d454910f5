// Ticks on a grid, and what becomes of those that nobody was waiting for.
#include <pitsaw/pitsaw.hpp>

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;
namespace ps = pitsaw;

ps::task<> measure(char const* name, ps::missed_ticks policy) {
    auto const began = ps::this_task::now();
    ps::interval every(100ms, policy);
    std::printf("%s:", name);
    for (int n = 1; n <= 5; ++n) {
        auto const due = co_await every.tick(); // the moment the tick was due, not the moment it is now
        std::printf(" %lld", static_cast<long long>((due - began) / 1ms));
        if (n == 2) co_await ps::sleep(250ms); // too long: two ticks pass meanwhile
    }
    std::puts("");
}

ps::task<> work() {
    co_await measure("burst", ps::missed_ticks::burst);
    co_await measure("skip", ps::missed_ticks::skip);
    co_await measure("delay", ps::missed_ticks::delay);
}

int main() { return ps::run(work()); }

// prints:
// burst: 100 200 300 400 500
// skip: 100 200 300 500 600
// delay: 100 200 300 550 650
