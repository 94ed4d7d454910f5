// The network between the nodes of a simulated world.
#include "sim/echo_nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

// What a client found, and when.
struct found {
    std::optional<ps::io_result<std::string>> answer;
    ps::duration took{};
    ps::time_point at{};
};

ps::task<> ask(ps::endpoint at, std::string words, found& into) {
    auto const began = ps::this_task::now();
    into.answer = co_await ask_echo(at, std::move(words));
    into.at = ps::this_task::now();
    into.took = into.at - began;
}

TEST(network, carries_bytes_from_node_to_node_in_every_world) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        ps::sim::world world(with_seed(seed));
        auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
        found one;
        std::string const words(10'000, 'w');
        world.node("client", [&](ps::sim::node&) { return ask(server.at(echo_port), words, one); });
        world.run();
        ASSERT_TRUE(one.answer.has_value());
        EXPECT_EQ(*one.answer, words) << world.rerun();
        EXPECT_TRUE(world.books_balance()) << world.imbalance();
    }
}

TEST(network, takes_its_latency_each_way) {
    auto options = with_seed(0);
    options.network.latency_min = options.network.latency_max = 10ms;
    ps::sim::world world(options);
    auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
    found one;
    world.node("client", [&](ps::sim::node&) { return ask(server.at(echo_port), "word", one); });
    world.run();
    EXPECT_EQ(one.took, 40ms); // the connection is there after one way and back, the echo after another
}

TEST(network, within_a_node_takes_no_time) {
    ps::sim::world world(with_seed(0));
    found one;
    auto const both = [&](ps::sim::node&) -> ps::task<> {
        auto const asks = [](found& into) -> ps::task<> {
            co_await ask(ps::endpoint::loopback(echo_port), "word", into);
        };
        (void)co_await ps::when_any(serve_echo(ps::endpoint::loopback(echo_port)), asks(one));
    };
    world.node("both", both);
    world.run();
    ASSERT_TRUE(one.answer.has_value() && one.answer->has_value());
    EXPECT_EQ(one.took, 0ns);
    EXPECT_TRUE(world.books_balance()) << world.imbalance();
}

TEST(network, the_same_seed_gives_the_same_run_and_another_a_different_one) {
    auto const run = [](std::uint64_t seed) {
        ps::sim::world world(with_seed(seed));
        auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
        found one, other;
        world.node("one", [&](ps::sim::node&) { return ask(server.at(echo_port), "first", one); });
        world.node("other", [&](ps::sim::node&) { return ask(server.at(echo_port), "second", other); });
        world.run();
        return std::tuple(world.now(), world.steps(), one.at, other.at);
    };
    EXPECT_EQ(run(7), run(7));
    EXPECT_NE(run(7), run(8));
}

TEST(network, connections_overtake_each_other_and_no_bytes_of_one_do) {
    int first_wins = 0, second_wins = 0;
    for (std::uint64_t seed = 1; seed < 40; ++seed) {
        ps::sim::world world(with_seed(seed));
        auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
        found one, other;
        auto const ask_twice = [&](ps::sim::node&) -> ps::task<> {
            (void)co_await ps::when_all(ask(server.at(echo_port), "first", one),
                                        ask(server.at(echo_port), "second", other));
        };
        world.node("client", ask_twice);
        world.run();
        EXPECT_EQ(*one.answer, "first");
        EXPECT_EQ(*other.answer, "second");
        (one.at < other.at ? first_wins : second_wins) += 1;
    }
    EXPECT_GT(first_wins, 0);
    EXPECT_GT(second_wins, 0);
}

TEST(network, a_cut_withholds_what_is_sent_until_it_is_healed) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        ps::sim::world world(with_seed(seed));
        auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
        found one;
        auto& client =
            world.node("client", [&](ps::sim::node&) { return ask(server.at(echo_port), "word", one); });
        auto const fate = [&](ps::sim::node&) -> ps::task<> {
            co_await ps::sleep(std::chrono::microseconds(120));
            world.cut(client, server);
            co_await ps::sleep(5s);
            world.heal(client, server);
        };
        world.node("fate", fate);
        world.run();
        ASSERT_TRUE(one.answer.has_value());
        EXPECT_EQ(*one.answer, "word") << world.rerun();
        if (seed == 0) {
            EXPECT_GE(one.took, 5s - 1ms);
        }
        EXPECT_TRUE(world.books_balance()) << world.imbalance();
    }
}

TEST(network, a_connect_over_a_cut_gives_up) {
    ps::sim::world world(with_seed(0));
    auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
    found one;
    auto& client = world.node("client", [&](ps::sim::node&) -> ps::task<> {
        co_await ps::sleep(1ms);
        co_await ask(server.at(echo_port), "word", one);
    });
    world.cut(client, server);
    world.run();
    ASSERT_TRUE(one.answer.has_value() && !one.answer->has_value());
    EXPECT_EQ(one.answer->error(), std::errc::timed_out);
    EXPECT_EQ(one.took, 127s);
    EXPECT_TRUE(world.books_balance()) << world.imbalance();
}

TEST(network, bytes_that_nobody_acknowledges_break_the_connection_at_last) {
    ps::sim::world world(with_seed(0));
    auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
    ps::io_result<void> end;
    ps::time_point broke_at{};
    ps::sim::node* self = nullptr;
    auto const cut_and_wait = [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
        auto peer = co_await ps::or_return(ps::tcp_stream::connect(server.at(echo_port)));
        world.cut(*self, server);
        auto const bytes = bytes_of("lost");
        co_await ps::or_return(peer.send_all(bytes));
        auto const got = co_await peer.receive();
        if (!got.has_value()) end = std::unexpected(got.error());
        broke_at = ps::this_task::now();
        world.heal();
        co_return {};
    };
    self = &world.node("client", cut_and_wait);
    world.run();
    ASSERT_FALSE(end.has_value());
    EXPECT_EQ(end.error(), std::errc::timed_out);
    EXPECT_GE(broke_at - ps::time_point(), 924s);
}

TEST(network, refuses_where_nobody_listens) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        ps::sim::world world(with_seed(seed));
        auto& nobody = world.service(
            "nobody", [](ps::sim::node&) -> ps::task<> { co_await ps::sleep_until(ps::never); });
        auto& shy = world.service(
            "shy", [](ps::sim::node&) { return serve_echo(ps::endpoint::loopback(echo_port)); });
        found no_port, no_listener, no_host;
        world.node("client", [&](ps::sim::node&) -> ps::task<> {
            co_await ps::sleep(1ms);
            co_await ask(nobody.at(echo_port), "word", no_port);
            co_await ask(shy.at(echo_port), "word", no_listener); // it listens to its own machine only
            co_await ask(*ps::endpoint::parse("10.9.9.9:7"), "word", no_host);
        });
        world.run();
        EXPECT_EQ(no_port.answer->error(), std::errc::connection_refused);
        EXPECT_EQ(no_listener.answer->error(), std::errc::connection_refused);
        EXPECT_EQ(no_host.answer->error(), std::errc::network_unreachable);
    }
}

TEST(network, an_address_of_another_node_cannot_be_bound) {
    ps::sim::world world(with_seed(0));
    auto& other = world.service("other", [](ps::sim::node&) { return serve_echo(); });
    world.node("thief", [&](ps::sim::node&) { return serve_echo(other.at(echo_port)); });
    world.run();
    EXPECT_NE(world.imbalance().find("node thief failed"), std::string::npos) << world.imbalance();
}

TEST(network, each_end_knows_the_others_address) {
    ps::sim::world world(with_seed(0));
    std::string seen_by_server, seen_by_client;
    auto& server = world.node("server", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
        auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80)));
        auto const peer = co_await ps::or_return(listener.accept());
        seen_by_server = (co_await ps::or_return(peer.peer_endpoint())).host().to_string();
        co_return {};
    });
    world.node("client", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
        co_await ps::sleep(1ms);
        auto const peer = co_await ps::or_return(ps::tcp_stream::connect(server.at(80)));
        seen_by_client = (co_await ps::or_return(peer.peer_endpoint())).to_string();
        co_return {};
    });
    world.run();
    EXPECT_EQ(world.imbalance(), "");
    EXPECT_EQ(seen_by_client, ps::endpoint(server.at(80)).to_string());
    EXPECT_EQ(seen_by_server, "10.0.0.3"); // the world itself is 1, the server 2
}

TEST(network, half_a_connection_goes_on) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        ps::sim::world world(with_seed(seed));
        auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
        std::string got;
        world.node("client", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
            auto peer = co_await ps::or_return(ps::tcp_stream::connect(server.at(echo_port)));
            auto const bytes = bytes_of("the last words");
            co_await ps::or_return(peer.send_all(bytes));
            co_await ps::or_return(peer.shutdown_send());
            for (;;) {
                auto const some = co_await ps::or_return(peer.receive());
                if (some.empty()) co_return {};
                got.append(reinterpret_cast<char const*>(some.bytes().data()), some.size());
            }
        });
        world.run();
        EXPECT_EQ(got, "the last words") << world.rerun();
        EXPECT_TRUE(world.books_balance()) << world.imbalance();
    }
}

TEST(network, buffers_of_one_byte_carry_everything) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        auto options = with_seed(seed);
        options.network.stream_capacity = 1;
        ps::sim::world world(options);
        auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
        found one;
        world.node("client", [&](ps::sim::node&) { return ask(server.at(echo_port), "a", one); });
        std::string sent(100, 'x'), got;
        world.node("other", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
            auto peer = co_await ps::or_return(ps::tcp_stream::connect(server.at(echo_port)));
            auto const bytes = bytes_of(sent);
            auto both = co_await ps::or_return(
                ps::when_all(peer.send_all(bytes), receive_exactly(peer, sent.size())));
            got = std::get<1>(both);
            co_return {};
        });
        world.run();
        EXPECT_EQ(*one.answer, "a");
        EXPECT_EQ(got, sent);
        EXPECT_TRUE(world.books_balance()) << world.imbalance();
    }
}

TEST(network, chunks_of_one_byte_carry_everything) {
    ps::sim::node_options small;
    small.pool_buffer_bytes = 1;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        ps::sim::world world(with_seed(seed));
        auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); }, small);
        found one;
        std::string const words(300, 'w');
        world.node("client", [&](ps::sim::node&) { return ask(server.at(echo_port), words, one); }, small);
        world.run();
        EXPECT_EQ(*one.answer, words);
        EXPECT_TRUE(world.books_balance()) << world.imbalance();
    }
}

TEST(network, carries_so_many_bytes_in_a_second) {
    auto options = with_seed(0);
    options.network.bytes_per_second = 1'000'000;
    ps::sim::world world(options);
    ps::time_point done{};
    auto& sink = world.node("sink", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
        auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80)));
        auto peer = co_await ps::or_return(listener.accept());
        auto const all = co_await ps::or_return(receive_exactly(peer, 2'000'000));
        done = ps::this_task::now();
        co_return {};
    });
    world.node("source", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
        co_await ps::sleep(1ms);
        auto peer = co_await ps::or_return(ps::tcp_stream::connect(sink.at(80)));
        std::vector<std::byte> const bytes(2'000'000);
        co_await ps::or_return(peer.send_all(bytes));
        co_return {};
    });
    world.run();
    EXPECT_EQ(world.imbalance(), "");
    EXPECT_GE(done - ps::time_point(), 2s);
    EXPECT_LE(done - ps::time_point(), 2s + 100ms);
}

TEST(network, more_latency_between_two_nodes_is_theirs_alone) {
    ps::sim::world world(with_seed(0));
    auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
    found near, far;
    world.node("near", [&](ps::sim::node&) { return ask(server.at(echo_port), "word", near); });
    auto& distant = world.node("far", [&](ps::sim::node&) -> ps::task<> {
        co_await ps::sleep(1ms);
        co_await ask(server.at(echo_port), "word", far);
    });
    world.slow_down(distant, server, 1s);
    world.run();
    EXPECT_LT(near.took, 1ms);
    EXPECT_GE(far.took, 4s);
}

TEST(network, broken_connections_are_reset_at_both_ends) {
    ps::sim::world world(with_seed(0));
    ps::io_result<void> at_server, at_client;
    auto const wait_on = [](ps::tcp_stream peer, ps::io_result<void>& end) -> ps::task<> {
        auto const got = co_await peer.receive();
        if (!got.has_value()) end = std::unexpected(got.error());
    };
    auto& server = world.node("server", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
        auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80)));
        co_await wait_on(co_await ps::or_return(listener.accept()), at_server);
        co_return {};
    });
    auto& client = world.node("client", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
        co_await ps::sleep(1ms);
        co_await wait_on(co_await ps::or_return(ps::tcp_stream::connect(server.at(80))), at_client);
        co_return {};
    });
    world.node("fate", [&](ps::sim::node&) -> ps::task<> {
        co_await ps::sleep(1s);
        world.reset_connections(client, server);
    });
    world.run();
    ASSERT_TRUE(!at_server.has_value() && !at_client.has_value());
    EXPECT_EQ(at_server.error(), std::errc::connection_reset);
    EXPECT_EQ(at_client.error(), std::errc::connection_reset);
    EXPECT_TRUE(world.books_balance()) << world.imbalance();
}

} // namespace
