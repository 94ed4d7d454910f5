// A bank and its customer on two machines of a simulated world. The bank dies at every event there is, one
// run for each, and comes back: is the money paid in, and only once?
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/world.hpp>

#include <cstddef>
#include <cstdio>
#include <set>

using namespace std::chrono_literals;
namespace ps = pitsaw;

struct ledger { // what the bank has on paper: it outlives the program
    int balance = 0;
    std::set<std::byte> orders;
    bool knows_orders = false;
};

ps::task<ps::io_result<void>> serve(ledger& book, ps::tcp_stream peer) {
    for (;;) {
        auto const order = co_await ps::or_return(peer.receive());
        if (order.empty()) co_return {};
        bool const is_new = book.orders.insert(order.bytes()[0]).second;
        if (is_new || !book.knows_orders) book.balance += 10;
        co_await ps::or_return(peer.send_all(order)); // the receipt
    }
}

ps::task<ps::io_result<void>> run_bank(ledger& book) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80)));
    auto const accepts = [&](ps::task_group& customers) -> ps::task<ps::io_result<void>> {
        for (;;) customers.spawn(serve(book, co_await ps::or_return(listener.accept())));
    };
    co_return co_await ps::task_group::run(ps::on_failure::keep_others, accepts);
}

ps::task<ps::io_result<void>> pay_in(ps::endpoint bank, std::byte order) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(bank));
    co_await ps::or_return(peer.send_all(std::span(&order, 1)));
    auto const receipt = co_await ps::or_return(peer.receive());
    if (receipt.empty()) co_return std::unexpected(std::make_error_code(std::errc::connection_aborted));
    co_return {};
}

ps::task<> pay_in_at_last(ps::endpoint bank) {
    for (bool is_done = false; !is_done;) {
        auto const end = co_await ps::with_timeout(1s, pay_in(bank, std::byte{1}));
        is_done = end.has_value();
        if (!is_done) co_await ps::sleep(10ms);
    }
}

bool is_right(bool knows_orders) {
    bool is_over = false; // before the bank could die
    for (std::uint64_t dies_at = 0; !is_over; ++dies_at) {
        ledger book;
        book.knows_orders = knows_orders;
        ps::sim::world world({.seed = 1});
        auto& bank = world.service("bank", [&](ps::sim::node&) { return run_bank(book); });
        world.node("customer", [&](ps::sim::node&) { return pay_in_at_last(bank.at(80)); });
        world.before_each_step([&](std::uint64_t step) {
            if (step != dies_at || bank.lives() != 1) return;
            bank.kill();
            bank.restart();
        });
        world.run();
        is_over = bank.lives() == 1;
        if (book.balance == 10 && world.books_balance()) continue;
        std::fprintf(stderr, "balance %d: %s\n", book.balance, world.rerun().c_str());
        return false;
    }
    return true;
}

int main() {
    std::printf("paid in until there is a receipt: %s\n", is_right(false) ? "right" : "paid in twice");
    std::printf("each order carried out once: %s\n", is_right(true) ? "right" : "wrong");
}

// prints:
// paid in until there is a receipt: paid in twice
// each order carried out once: right
