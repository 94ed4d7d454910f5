// The HTTP server and client of the library, unmodified, as nodes of a simulated world.
#include "sim/echo_nodes.hpp"

#include <pitsaw/http/client.hpp>
#include <pitsaw/http/router.hpp>
#include <pitsaw/http/server.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

namespace ps = pitsaw;
namespace http = pitsaw::http;
using namespace std::chrono_literals;

namespace {

/// A server that counts how often each order was carried out; what it counted outlives its process.
class order_book {
  public:
    std::map<std::string, int> carried_out;

    ps::task<ps::io_result<void>> serve() {
        auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80)));
        http::router routes;
        routes.post("/order", [this](http::request& ask) -> ps::task<http::response> {
            auto const what = co_await ps::or_return(http::read_all(ask.body(), 1000));
            ++carried_out[what];
            co_await ps::sleep(1ms);
            co_return http::response(200, "text/plain", "done: " + what);
        });
        routes.get("/count/{name}", [this](http::request& ask) -> ps::task<http::response> {
            auto const count = carried_out[std::string(ask.parameter("name"))];
            co_return http::response(200, "text/plain", std::to_string(count));
        });
        http::server_options how;
        how.clock = nullptr; // a date is the one thing that two runs of a seed would not share
        co_return co_await http::serve(std::move(listener), routes, how);
    }
};

ps::task<ps::io_result<std::string>> post(http::client& client, ps::endpoint at, std::string what) {
    http::client_request ask(http::method::post, "server", "/order");
    ask.body() = http::body(std::move(what));
    auto reply = co_await ps::or_return(ps::with_timeout(2s, client.send(at, std::move(ask))));
    if (reply.status() != 200) co_return std::unexpected(std::make_error_code(std::errc::protocol_error));
    co_return co_await ps::with_timeout(2s, http::read_all(reply.body(), 1000));
}

ps::task<ps::io_result<std::string>> get(http::client& client, ps::endpoint at, std::string name) {
    http::client_request ask(http::method::get, "server", "/count/" + name);
    auto reply = co_await ps::or_return(ps::with_timeout(2s, client.send(at, std::move(ask))));
    co_return co_await ps::with_timeout(2s, http::read_all(reply.body(), 1000));
}

/// What a client may say of its orders: those that were answered, and those that failed.
struct experience {
    int answered = 0;
    int failed = 0;
};

ps::task<ps::io_result<void>> order(ps::endpoint at, std::string who, int count, experience& had) {
    http::client client;
    for (int i = 0; i < count; ++i) {
        auto const what = who + std::to_string(i);
        auto const answer = co_await post(client, at, what);
        if (answer.has_value()) {
            EXPECT_EQ(*answer, "done: " + what);
            ++had.answered;
            auto const carried_out =
                co_await get(client, at, what); // on the same connection, if it is still there
            if (carried_out.has_value()) {
                EXPECT_EQ(*carried_out, "1");
            }
        } else {
            ++had.failed;
        }
        co_await ps::sleep(500us);
    }
    co_return {};
}

/// No order is carried out twice, and every one that was answered has been carried out.
void expect_right(order_book const& book, experience const& had, std::string const& replay) {
    int carried_out = 0;
    for (auto const& [what, count] : book.carried_out) {
        EXPECT_LE(count, 1) << what << ", " << replay;
        carried_out += count;
    }
    EXPECT_GE(carried_out, had.answered) << replay;
    EXPECT_LE(carried_out, had.answered + had.failed) << replay;
}

TEST(http_nodes, orders_are_answered_in_every_world) {
    auto const first = ps::sim::seed_from_environment(0);
    for (auto seed = first; seed != first + ps::sim::seeds_from_environment(30); ++seed) {
        ps::sim::world_options with;
        with.seed = seed;
        with.is_calm = seed == 0;
        ps::sim::world world(with);
        order_book book;
        experience one, other;
        auto& server = world.service("server", [&](ps::sim::node&) { return book.serve(); });
        world.node("one", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
            co_await ps::sleep(1ms);
            co_return co_await order(server.at(80), "one", 5, one);
        });
        world.node("other", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
            co_await ps::sleep(1ms);
            co_return co_await order(server.at(80), "other", 5, other);
        });
        world.run();
        EXPECT_EQ(one.answered + other.answered, 10) << world.rerun();
        EXPECT_EQ(book.carried_out.size(), 10U);
        EXPECT_TRUE(world.books_balance()) << world.imbalance() << ", " << world.rerun();
    }
}

TEST(http_nodes, a_server_that_dies_at_any_event_carries_out_nothing_twice) {
    int failed = 0;
    for (auto const how : {ps::sim::death::of_process, ps::sim::death::of_machine}) {
        bool is_over = false;
        std::uint64_t killed_at = 0;
        for (; !is_over; ++killed_at) {
            ps::sim::world_options with;
            with.seed = 11;
            ps::sim::world world(with);
            order_book book;
            experience had;
            auto& server = world.service("server", [&](ps::sim::node&) { return book.serve(); });
            world.node("client", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
                co_await ps::sleep(1ms);
                co_return co_await order(server.at(80), "order", 3, had);
            });
            world.before_each_step([&](std::uint64_t const step) {
                if (step != killed_at || server.lives() != 1) return;
                server.kill(how);
                server.restart();
            });
            world.run();
            is_over = server.lives() == 1;
            failed += had.failed;
            expect_right(book, had, world.rerun());
            EXPECT_TRUE(world.books_balance()) << world.imbalance() << ", " << world.rerun();
        }
        EXPECT_GT(killed_at, 20U);
    }
    EXPECT_GT(failed, 0); // else no kill has met a request
}

TEST(http_nodes, whatever_the_network_does_nothing_is_carried_out_twice_or_left_over) {
    auto const first = ps::sim::seed_from_environment(1);
    int answered = 0, failed = 0;
    for (auto seed = first; seed != first + ps::sim::seeds_from_environment(60); ++seed) {
        ps::sim::world_options with;
        with.seed = seed;
        with.faults = ps::sim::faults::some();
        with.network.stream_capacity = seed % 3 == 0 ? 1 : 4096;
        ps::sim::world world(with);
        order_book book;
        experience had;
        auto& server = world.service("server", [&](ps::sim::node&) { return book.serve(); });
        auto& client = world.node("client", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
            co_await ps::sleep(1ms);
            co_return co_await order(server.at(80), "order", 10, had);
        });
        world.node("fate", [&](ps::sim::node&) -> ps::task<> {
            for (int i = 0; i < 4; ++i) {
                co_await ps::sleep(ps::duration(world.random().between(0, 5'000'000)));
                auto const what = world.random().below(3);
                if (what == 0) world.reset_connections(client, server);
                if (what == 1) world.cut(client, server);
                co_await ps::sleep(ps::duration(world.random().between(0, 3'000'000)));
                world.heal();
            }
        });
        world.run();
        if (!server.failure().empty()) continue; // it had no descriptor to listen with
        answered += had.answered;
        failed += had.failed;
        expect_right(book, had, world.rerun());
        EXPECT_TRUE(world.books_balance()) << world.imbalance() << ", " << world.rerun();
    }
    if (ps::sim::seeds_from_environment(60) < 60) return;
    EXPECT_GT(answered, 0);
    EXPECT_GT(failed, 0);
}

} // namespace
