// A timeout is a scope, not a race: its result says which came first.
#include <pitsaw/pitsaw.hpp>

#include <cstdio>
#include <string>

using namespace std::chrono_literals;
namespace ps = pitsaw;

ps::task<std::string> fetch(ps::duration takes) {
    co_await ps::sleep(takes);
    co_return "a page";
}

// Has an expected failure of its own; a timeout then is one more error of the same type.
ps::task<ps::io_result<int>> dial() {
    co_await ps::sleep(50ms);
    co_return std::unexpected(std::make_error_code(std::errc::connection_refused));
}

ps::task<> work() {
    // Of a task<T> it makes an io_result<T>.
    auto quick = co_await ps::with_timeout(200ms, fetch(100ms));
    std::printf("quick: %s\n", quick ? quick->c_str() : "timed out");

    auto slow = co_await ps::with_timeout(200ms, fetch(24h));
    std::printf("slow: %s\n", slow ? slow->c_str() : "timed out");

    // Of an io_result it keeps the type, and the failure's own error.
    auto dialled = co_await ps::with_timeout(200ms, dial());
    if (!dialled)
        std::printf("dial: %s\n", dialled.error() == std::errc::timed_out ? "timed out" : "refused");

    // A moment instead of a span. With PITSAW_DRIVER=sim time is virtual: the day passes at once.
    auto const tomorrow = ps::this_task::now() + 24h;
    auto day = co_await ps::with_deadline(tomorrow, ps::sleep(25h));
    std::printf("a day: %s\n", day ? "slept" : "timed out");
}

int main() { return ps::run(work()); }

// prints:
// quick: a page
// slow: timed out
// dial: refused
// a day: timed out
