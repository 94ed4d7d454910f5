// Many jobs, few at a time: a port scanner without a network.
#include <pitsaw/pitsaw.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <set>

using namespace std::chrono_literals;
namespace ps = pitsaw;

struct report {
    std::set<int> open;
    std::size_t running = 0;
    std::size_t running_most = 0;
};

ps::task<> probe(int port, report& found) {
    found.running_most = std::max(found.running_most, ++found.running);
    co_await ps::sleep(port % 7 * 1ms);
    if (port % 100 == 0) found.open.insert(port);
    --found.running;
}

ps::task<report> scan() {
    report found;
    auto spawn_all = [&found](ps::task_group& probes) -> ps::task<> {
        for (int port = 1; port <= 1000; ++port) {
            co_await probes.room(); // waits until fewer than 16 are alive
            probes.spawn(probe(port, found));
        }
    };
    co_await ps::task_group::run({.children_max = 16}, spawn_all);
    co_return found;
}

ps::task<> work() {
    auto const found = co_await scan();
    std::printf("%zu open ports, %zu probes at a time at most\n", found.open.size(), found.running_most);
}

int main() { return ps::run(work()); }

// prints:
// 10 open ports, 16 probes at a time at most
