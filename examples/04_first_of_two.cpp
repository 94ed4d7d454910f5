// Whichever comes first; what the other had completed too is in your hands.
#include <pitsaw/pitsaw.hpp>

#include <cstdio>
#include <string>

using namespace std::chrono_literals;
namespace ps = pitsaw;

ps::task<std::string> ask(std::string server, ps::duration takes) {
    co_await ps::sleep(takes);
    co_return "the answer of " + server;
}

ps::task<> race(ps::duration near_takes, ps::duration far_takes) {
    // An optional for each branch. A stopped branch has none.
    auto answers = co_await ps::when_any(ask("near", near_takes), ask("far", far_takes));
    if (auto const& near = std::get<0>(answers)) std::printf("  %s\n", near->c_str());
    if (auto const& far = std::get<1>(answers)) std::printf("  %s\n", far->c_str());
    std::printf("  first: branch %zu\n", answers.first());
}

ps::task<> work() {
    std::puts("the far one is slower, and is stopped:");
    co_await race(20ms, 90ms);
    std::puts("both are there in the same turn, and neither is lost:");
    co_await race(20ms, 20ms);
}

int main() { return ps::run(work()); }

// prints:
// the far one is slower, and is stopped:
//   the answer of near
//   first: branch 0
// both are there in the same turn, and neither is lost:
//   the answer of near
//   the answer of far
//   first: branch 0
