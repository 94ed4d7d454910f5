// Which ports answer? At most eight are tried at a time, each for a second.
#include <pitsaw/pitsaw.hpp>

#include <cstdint>
#include <cstdio>

using namespace std::chrono_literals;
namespace ps = pitsaw;

struct tally {
    std::uint16_t expected = 0; // the port that is open
    bool is_found = false;
    int tried = 0;
};

ps::task<> probe(ps::endpoint at, tally& into) {
    auto const peer = co_await ps::with_timeout(1s, ps::tcp_stream::connect(at));
    ++into.tried;
    if (peer.has_value() && at.port() == into.expected) into.is_found = true;
}

ps::task<ps::io_result<void>> work() {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const open = co_await ps::or_return(listener.local_endpoint());
    tally found;
    found.expected = open.port();
    ps::task_group_options bounded;
    bounded.children_max = 8;
    co_await ps::task_group::run(bounded, [&](ps::task_group& probes) -> ps::task<> {
        for (int offset = -20; offset < 20; ++offset) {
            co_await probes.room();
            auto const port = static_cast<std::uint16_t>(open.port() + offset);
            probes.spawn(probe(ps::endpoint::loopback(port), found));
        }
    });
    std::printf("%d ports tried, ours is %s\n", found.tried, found.is_found ? "open" : "closed");
    co_return {};
}

int main() { return ps::run(work()); }

// prints:
// 40 ports tried, ours is open
