// Several things at once: the first failure stops the rest, and is the failure you see.
#include <pitsaw/pitsaw.hpp>

#include <cstdio>
#include <string>
#include <tuple>

using namespace std::chrono_literals;
namespace ps = pitsaw;

ps::task<ps::io_result<std::string>> load_user(int id) {
    co_await ps::sleep(30ms);
    if (id < 0) co_return std::unexpected(std::make_error_code(std::errc::invalid_argument));
    co_return "Ada";
}

ps::task<ps::io_result<int>> load_orders(int) {
    co_await ps::sleep(10s);
    std::puts("orders are there");
    co_return 3;
}

// or_return unwraps an io_result, or ends this task with its error.
ps::task<ps::io_result<void>> show(int id) {
    auto loaded = co_await ps::or_return(ps::when_all(load_user(id), load_orders(id)));
    auto& [user, orders] = loaded;
    std::printf("%s has %d orders\n", user.c_str(), orders);
    co_return ps::io_result<void>();
}

ps::task<> work() {
    co_await show(1);
    auto failed = co_await show(-1); // load_orders is stopped after 30 ms
    if (!failed) std::printf("error: %s\n", failed.error().message().c_str());
}

int main() { return ps::run(work()); }

// prints:
// orders are there
// Ada has 3 orders
// error: Invalid argument
