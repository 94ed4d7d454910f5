#include <cstdio>
#include <pitsaw/pitsaw.hpp>
using namespace std::chrono_literals;
namespace ps = pitsaw;

ps::task<> say_goodbye(char const* name) {
    co_await ps::sleep(10ms); // a clean-up may wait; the stop does not reach it
    std::printf("%s: closed\n", name);
}
ps::task<> session(char const* name, ps::duration work) {
    co_await ps::at_exit(say_goodbye, name); // runs however the session ends
    co_await ps::sleep(work);                // nothing here looks for a stop
    std::printf("%s: done\n", name);
}
ps::task<> serve(ps::task_group& sessions) {
    sessions.spawn(session("quick", 1s));
    sessions.spawn(session("endless", 24h));
    co_return;
}
ps::task<> work() {
    auto end = co_await ps::with_timeout(2s, ps::task_group::run(serve)); // ends after its last child
    std::puts(end ? "all done" : "timed out, and nothing is left running");
}
int main() { return ps::run(work()); }

// prints:
// quick: done
// quick: closed
// endless: closed
// timed out, and nothing is left running
