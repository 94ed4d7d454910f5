// Nodes of several workers: all of them in one thread, one time and one seed.
#include "observed_runtime.hpp"

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/world.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;

namespace {

using result = ps::task<ps::io_result<void>>;

ps::sim::node_options many(std::uint32_t count, ps::scheduling how = ps::scheduling::per_core) {
    ps::sim::node_options options;
    options.workers = count;
    options.scheduling = how;
    return options;
}

std::size_t number_of_this_worker() {
    auto* const here = ps::current_executor();
    return static_cast<std::size_t>(std::ranges::find(here->workers, here) - here->workers.begin());
}

TEST(simulated_workers, children_run_where_they_were_sent_and_come_back) {
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        ps::sim::world world({.seed = seed});
        std::vector<std::size_t> ran;
        world.node(
            "one",
            [&](ps::sim::node& node) -> ps::task<> {
                auto& rt = node.get_runtime();
                auto child = [&]() -> ps::task<int> {
                    co_await ps::sleep(1ms);
                    ran.push_back(number_of_this_worker());
                    co_return 4;
                };
                EXPECT_EQ(co_await ps::with_executor(rt.get_executor(2), child), 4);
                auto each = [&](std::uint32_t number) -> ps::task<> {
                    co_await ps::sleep(1ms);
                    ran.push_back(number_of_this_worker());
                    EXPECT_EQ(ran.back(), number);
                };
                co_await ps::on_each_worker(each);
            },
            many(3));
        world.run();
        std::ranges::sort(ran);
        EXPECT_EQ(ran, (std::vector<std::size_t>{0, 1, 2, 2}));
        EXPECT_TRUE(world.books_balance()) << world.imbalance() << world.rerun();
    }
}

TEST(simulated_workers, offers_are_stolen_and_by_another_worker_for_another_seed) {
    std::set<std::vector<std::size_t>> orders;
    for (std::uint64_t seed = 1; seed < 30; ++seed) {
        ps::sim::world world({.seed = seed});
        std::vector<std::size_t> ran;
        world.node(
            "one",
            [&](ps::sim::node&) -> ps::task<> {
                auto child = [&]() -> ps::task<> {
                    ran.push_back(number_of_this_worker());
                    co_await ps::sleep(1ms);
                };
                auto body = [&](ps::task_group& group) -> ps::task<> {
                    for (int i = 0; i < 12; ++i) group.spawn_anywhere(child);
                    co_return;
                };
                co_await ps::task_group::run(body);
            },
            many(3, ps::scheduling::stealing));
        world.run();
        EXPECT_EQ(ran.size(), 12u);
        EXPECT_TRUE(world.books_balance()) << world.imbalance() << world.rerun();
        orders.insert(ran);
    }
    EXPECT_GT(orders.size(), 1u);
    EXPECT_TRUE(
        std::ranges::any_of(orders, [](auto const& ran) { return std::ranges::count(ran, 0u) < 12; }));
}

ps::computation<long> fib(std::set<std::size_t>& ran, long const n) {
    ran.insert(number_of_this_worker());
    if (n < 2) co_return n;
    auto const both = co_await ps::fork_join(fib(ran, n - 1), fib(ran, n - 2));
    auto const& [a, b] = both;
    co_return a + b;
}

TEST(simulated_workers, a_computation_is_shared_and_the_same_for_the_same_seed) {
    auto run = [](std::uint64_t seed) {
        ps::sim::world world({.seed = seed});
        std::set<std::size_t> ran;
        std::size_t turns = 0;
        world.node(
            "one",
            [&](ps::sim::node&) -> ps::task<> {
                bool is_over = false;
                auto computes = [&]() -> ps::task<> {
                    EXPECT_EQ(co_await ps::compute(fib(ran, 21)), 10946);
                    is_over = true;
                };
                auto counts = [&]() -> ps::task<> {
                    while (!is_over) {
                        ++turns;
                        co_await ps::this_task::yield();
                    }
                };
                co_await ps::when_all(computes(), counts());
            },
            many(3, ps::scheduling::stealing));
        world.run();
        EXPECT_TRUE(world.books_balance()) << world.imbalance() << world.rerun();
        EXPECT_GT(ran.size(), 1u);
        return turns;
    };
    for (std::uint64_t seed = 1; seed < 10; ++seed) EXPECT_EQ(run(seed), run(seed));
}

TEST(simulated_workers, the_same_seed_gives_the_same_run) {
    auto run = [](std::uint64_t seed) {
        ps::sim::world world({.seed = seed});
        std::vector<std::pair<std::size_t, ps::time_point>> ran;
        world.node(
            "one",
            [&](ps::sim::node&) -> ps::task<> {
                auto child = [&](int turns) -> ps::task<> {
                    for (int i = 0; i < turns; ++i) co_await ps::this_task::yield();
                    co_await ps::sleep(1ms);
                    ran.emplace_back(number_of_this_worker(), ps::this_task::now());
                };
                auto body = [&](ps::task_group& group) -> ps::task<> {
                    for (int i = 0; i < 12; ++i) group.spawn_anywhere(child, i % 4);
                    co_return;
                };
                co_await ps::task_group::run(body);
            },
            many(3, ps::scheduling::stealing));
        world.run();
        return ran;
    };
    for (std::uint64_t seed = 1; seed < 10; ++seed) EXPECT_EQ(run(seed), run(seed));
}

result echoes(ps::tcp_stream peer) {
    for (;;) {
        auto const chunk = co_await ps::or_return(peer.receive());
        if (chunk.empty()) co_return {};
        co_await ps::or_return(peer.send_all(chunk));
    }
}

// Sockets of a machine belong to different drivers: each hears of its own.
TEST(simulated_workers, each_serves_its_own_connections) {
    for (std::uint64_t seed = 1; seed < 15; ++seed) {
        ps::sim::world world({.seed = seed});
        auto& server = world.service(
            "server",
            [](ps::sim::node&) -> result {
                auto listens = [](std::uint32_t number) -> result {
                    auto const port = static_cast<std::uint16_t>(80 + number);
                    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(port)));
                    auto accepts = [&](ps::task_group& clients) -> result {
                        for (;;) clients.spawn(echoes(co_await ps::or_return(listener.accept())));
                    };
                    co_return co_await ps::task_group::run(ps::on_failure::keep_others, accepts);
                };
                co_return co_await ps::on_each_worker(listens);
            },
            many(2));
        int answered = 0;
        world.node("client", [&](ps::sim::node&) -> result {
            co_await ps::sleep(10ms);
            for (std::uint16_t const port : {80, 81}) {
                auto peer = co_await ps::or_return(ps::tcp_stream::connect(server.at(port)));
                for (int i = 0; i < 3; ++i) {
                    co_await ps::or_return(peer.send_all(std::as_bytes(std::span("hello"))));
                    for (std::size_t got = 0; got < 6;)
                        got += (co_await ps::or_return(peer.receive())).size();
                    ++answered;
                }
            }
            co_return {};
        });
        world.run();
        EXPECT_EQ(answered, 6) << world.failures();
        EXPECT_TRUE(world.books_balance()) << world.imbalance() << world.rerun();
    }
}

result echoes_on(std::set<std::size_t>& served, ps::tcp_stream peer) {
    served.insert(number_of_this_worker());
    co_return co_await echoes(std::move(peer));
}

/// A client that has so many connections, one after another, answered by whoever listens at `port`.
result asks(ps::sim::node& server, std::uint16_t const port, int const connections, int& answered) {
    co_await ps::sleep(10ms);
    for (int i = 0; i < connections; ++i) {
        auto peer = co_await ps::or_return(ps::tcp_stream::connect(server.at(port)));
        co_await ps::or_return(peer.send_all(std::as_bytes(std::span("hello"))));
        for (std::size_t got = 0; got < 6;) {
            auto const chunk = co_await ps::or_return(peer.receive());
            if (chunk.empty()) co_return std::unexpected(std::make_error_code(std::errc::connection_reset));
            got += chunk.size();
        }
        ++answered;
    }
    co_return {};
}

TEST(simulated_workers, listeners_of_one_port_share_its_connections) {
    for (std::uint64_t seed = 1; seed < 15; ++seed) {
        ps::sim::world world({.seed = seed});
        std::set<std::size_t> served;
        auto& server = world.service(
            "server",
            [&](ps::sim::node&) -> result {
                auto listens = [&](std::uint32_t) -> result {
                    ps::tcp_listener_options shared;
                    shared.reuse_port = true;
                    auto listener =
                        co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80), shared));
                    auto accepts = [&](ps::task_group& clients) -> result {
                        for (;;) clients.spawn(echoes_on(served, co_await ps::or_return(listener.accept())));
                    };
                    co_return co_await ps::task_group::run(ps::on_failure::keep_others, accepts);
                };
                co_return co_await ps::on_each_worker(listens);
            },
            many(2));
        int answered = 0;
        world.node("client", [&](ps::sim::node&) { return asks(server, 80, 8, answered); });
        world.run();
        EXPECT_EQ(answered, 8) << world.failures();
        EXPECT_EQ(served.size(), 2u);
        EXPECT_TRUE(world.books_balance()) << world.imbalance() << world.rerun();
    }
}

TEST(simulated_workers, a_port_that_one_of_two_does_not_share_is_taken) {
    ps::sim::world world({.seed = 1});
    world.node("one", [&](ps::sim::node&) -> result {
        ps::tcp_listener_options shared;
        shared.reuse_port = true;
        auto const alone = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80)));
        auto const late = co_await ps::tcp_listener::bind(ps::endpoint::any(80), shared);
        EXPECT_TRUE(!late && late.error() == std::errc::address_in_use);
        co_return {};
    });
    world.run();
    EXPECT_TRUE(world.books_balance()) << world.imbalance() << world.rerun();
}

// One listens, and whoever has nothing to do takes the connection over.
TEST(simulated_workers, connections_go_to_whoever_takes_them) {
    std::set<std::size_t> served;
    for (std::uint64_t seed = 1; seed < 30; ++seed) {
        ps::sim::world world({.seed = seed});
        auto& server = world.service(
            "server",
            [&](ps::sim::node&) -> result {
                auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80)));
                auto const serves = [&](ps::tcp_stream peer) { return echoes_on(served, std::move(peer)); };
                auto accepts = [&](ps::task_group& clients) -> result {
                    for (;;) clients.spawn_anywhere(serves, co_await ps::or_return(listener.accept()));
                };
                co_return co_await ps::task_group::run(ps::on_failure::keep_others, accepts);
            },
            many(2, ps::scheduling::stealing));
        int answered = 0;
        world.node("client", [&](ps::sim::node&) -> result {
            co_await ps::or_return(ps::when_all(asks(server, 80, 4, answered), asks(server, 80, 4, answered),
                                                asks(server, 80, 4, answered)));
            co_return {};
        });
        world.run();
        EXPECT_EQ(answered, 12) << world.failures();
        EXPECT_TRUE(world.books_balance()) << world.imbalance() << world.rerun();
    }
    EXPECT_EQ(served.size(), 2u);
}

// A connection that is on its way when its machine dies goes with it.
TEST(simulated_workers, killed_at_any_event_with_connections_on_their_way_they_leave_nothing) {
    for (std::uint64_t when = 1; when < 150; ++when) {
        ps::sim::world world({.seed = when % 7, .steps_max = 3'000});
        std::set<std::size_t> served;
        auto& server = world.service(
            "server",
            [&](ps::sim::node&) -> result {
                auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80)));
                auto const serves = [&](ps::tcp_stream peer) { return echoes_on(served, std::move(peer)); };
                auto accepts = [&](ps::task_group& clients) -> result {
                    for (;;) clients.spawn_anywhere(serves, co_await ps::or_return(listener.accept()));
                };
                co_return co_await ps::task_group::run(ps::on_failure::keep_others, accepts);
            },
            many(3, ps::scheduling::stealing));
        int answered = 0;
        world.node("client", [&](ps::sim::node&) -> result {
            (void)co_await ps::with_timeout(1s, asks(server, 80, 20, answered));
            co_return {};
        });
        world.before_each_step([&](std::uint64_t step) {
            if (step == when) server.kill();
        });
        world.run();
        EXPECT_TRUE(world.leftovers().empty()) << world.leftovers() << " at " << when;
    }
}

TEST(simulated_workers, killed_at_any_event_they_leave_nothing) {
    for (std::uint64_t when = 1; when < 120; ++when) {
        auto const seed = when % 7;
        ps::sim::world world({.seed = seed, .steps_max = 3'000});
        auto& node = world.node(
            "one",
            [&](ps::sim::node&) -> ps::task<> {
                auto child = [&](int turns) -> ps::task<> {
                    for (int i = 0; i < turns; ++i) {
                        co_await ps::this_task::yield();
                        co_await ps::sleep(1ms);
                    }
                };
                auto body = [&](ps::task_group& group) -> ps::task<> {
                    auto const all = (co_await ps::this_task::get_environment()).executor.workers();
                    for (int i = 0; i < 9; ++i) {
                        group.spawn_anywhere(child, i % 4);
                        group.spawn_on(*all[static_cast<std::size_t>(i % 3)], child, i % 3);
                    }
                    co_return;
                };
                co_await ps::task_group::run(body);
            },
            many(3, ps::scheduling::stealing));
        world.before_each_step([&](std::uint64_t step) {
            if (step == when) node.kill();
        });
        world.run();
        EXPECT_TRUE(world.leftovers().empty()) << world.leftovers() << " at " << when;
    }
}

TEST(simulated_workers_death, a_child_elsewhere_that_nothing_will_wake_is_a_deadlock) {
    auto waits = [] {
        ps::sim::world world({.seed = 1});
        world.node(
            "one",
            [](ps::sim::node& node) -> ps::task<> {
                auto child = []() -> ps::task<> { co_await ps::sleep_until(ps::never); };
                co_await ps::with_executor(node.get_runtime().get_executor(1), child);
            },
            many(2));
        world.run();
    };
    EXPECT_DEATH(waits(), "deadlock");
}

} // namespace
