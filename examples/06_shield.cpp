// A critical part: once begun it runs to its end, and the stop waits for it.
#include <pitsaw/pitsaw.hpp>

#include <cstdio>

using namespace std::chrono_literals;
namespace ps = pitsaw;

ps::task<int> commit() {
    for (int page = 1; page <= 3; ++page) {
        co_await ps::sleep(100ms);
        std::printf("page %d is written\n", page);
    }
    co_return 3;
}

ps::task<> transfer() {
    co_await ps::sleep(50ms);
    int const pages = co_await ps::shield(commit());
    std::printf("committed %d pages\n", pages); // the result is delivered,
    co_await ps::sleep(1ms);                    // and the next leaf is where the stop is noticed
    std::puts("never printed");
}

ps::task<> work() {
    auto end = co_await ps::with_timeout(200ms, transfer()); // the time is over amid page 2
    std::puts(end ? "transferred" : "timed out, with nothing half written");
}

int main() { return ps::run(work()); }

// prints:
// page 1 is written
// page 2 is written
// page 3 is written
// committed 3 pages
// timed out, with nothing half written
