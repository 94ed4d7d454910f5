// Is it safe to stop this anywhere? Stop it at every await, in every way, and look at the books.
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_stop.hpp>

#include <cstdio>
#include <string>

using namespace std::chrono_literals;
namespace ps = pitsaw;

struct bank {
    int ada = 100;
    int bob = 100;
};

ps::task<> pay(bank& book) {
    book.ada -= 10;
    co_await ps::sleep(1ms); // a stop here, and ten are gone
    book.bob += 10;
}

ps::task<> pay_safely(bank& book) { co_await ps::shield(pay(book)); }

bool is_safe(ps::task<> (*transfer)(bank&)) {
    bank book;
    ps::sim::check_stop_options options;
    options.verify = [&book](bool) {
        return std::string(book.ada + book.bob == 200 ? "" : "money was lost");
    };
    auto const fresh_run = [&] {
        book = bank();
        return transfer(book);
    };
    auto const report = ps::sim::check_stop(fresh_run, options); // what is wrong also goes to stderr
    return static_cast<bool>(report);
}

int main() {
    std::puts("pay, which is wrong on purpose; each place where a stop would lose money is named:");
    std::printf("pay: %s\n", is_safe(pay) ? "safe" : "not safe");
    std::printf("pay_safely: %s\n", is_safe(pay_safely) ? "safe" : "not safe");
}

// prints:
// pay, which is wrong on purpose; each place where a stop would lose money is named:
// pay: not safe
// pay_safely: safe
