// A stop from another thread. The task that it reaches looks for none.
#include <pitsaw/pitsaw.hpp>

#include <cstdio>
#include <thread>

using namespace std::chrono_literals;
namespace ps = pitsaw;

ps::task<> say_goodbye() {
    std::puts("goodbye");
    co_return;
}

ps::task<> forever() {
    co_await ps::at_exit(say_goodbye);
    std::puts("hello");
    co_await ps::sleep_until(ps::never);
}

int main() {
    ps::runtime rt;
    std::jthread stopper([&rt] { rt.request_stop(ps::stop_reason::shutdown); });
    ps::outcome<void> end = ps::sync_wait(rt, forever());
    if (end.is_stopped() && end.reason() == ps::stop_reason::shutdown) std::puts("stopped for a shutdown");
}

// prints:
// hello
// goodbye
// stopped for a shutdown
