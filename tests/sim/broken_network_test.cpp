// Connections of a simulated network amid cuts, deaths and full buffers: what TCP promises, and what not.
#include "sim/echo_nodes.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

// What one end says, and what happens to the network meanwhile; what the other end has read at its end.
struct heard {
    std::string text;
    std::string end = "nothing yet";
};

ps::task<ps::io_result<void>> listen_to_one(heard& all) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80)));
    auto peer = co_await ps::or_return(listener.accept());
    for (;;) {
        auto const some = co_await peer.receive();
        if (!some.has_value()) {
            all.end = some.error().message();
            co_return {};
        }
        if (some->empty()) {
            all.end = "the end";
            co_return {};
        }
        all.text.append(reinterpret_cast<char const*>(some->bytes().data()), some->size());
    }
}

ps::task<ps::io_result<void>> say(ps::tcp_stream& to, std::string text) {
    auto const bytes = bytes_of(text);
    co_return co_await to.send_all(bytes);
}

TEST(broken_network, a_cut_amid_a_connection_changes_no_order) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        for (bool const closes_meanwhile : {false, true}) {
            ps::sim::world world(with_seed(seed));
            heard all;
            auto& listener = world.node("listener", [&](ps::sim::node&) { return listen_to_one(all); });
            auto const speak = [&](ps::sim::node& self) -> ps::task<ps::io_result<void>> {
                co_await ps::sleep(1ms);
                auto peer = co_await ps::or_return(ps::tcp_stream::connect(listener.at(80)));
                co_await ps::or_return(say(peer, "A")); // under way when the cut comes
                world.cut(self, listener);
                co_await ps::or_return(say(peer, "B"));
                if (closes_meanwhile) {
                    co_await ps::or_return(peer.async_close());
                    co_await ps::sleep(1s);
                    world.heal();
                    co_return {};
                }
                if (seed % 2 == 0) co_await ps::sleep(1s);
                world.heal();
                co_return co_await say(peer, "C");
            };
            world.node("speaker", speak);
            world.run();
            EXPECT_EQ(all.text, closes_meanwhile ? "AB" : "ABC") << world.rerun();
            EXPECT_EQ(all.end, "the end") << world.rerun();
            EXPECT_TRUE(world.books_balance()) << world.imbalance();
        }
    }
}

TEST(broken_network, what_a_sender_gave_up_never_arrives_and_its_stream_never_looks_whole) {
    for (bool const closes : {false, true}) {
        ps::sim::world world(with_seed(0));
        heard all;
        auto& listener = world.service("listener", [&](ps::sim::node&) { return listen_to_one(all); });
        auto const speak = [&](ps::sim::node& self) -> ps::task<ps::io_result<void>> {
            co_await ps::sleep(1ms);
            auto peer = co_await ps::or_return(ps::tcp_stream::connect(listener.at(80)));
            world.cut(self, listener);
            co_await ps::or_return(say(peer, "A"));
            co_await ps::sleep(500s);
            if (closes)
                co_await ps::or_return(peer.async_close());
            else
                co_await ps::or_return(say(peer, "B"));
            co_await ps::sleep(500s);
            world.heal();
            co_await ps::sleep(500s);
            co_return {};
        };
        world.node("speaker", speak);
        world.run();
        EXPECT_EQ(all.text, "");
        EXPECT_EQ(all.end, "nothing yet"); // of an end whose end it is nobody tells, as with TCP
    }
}

TEST(broken_network, what_a_machine_without_power_had_not_sent_is_lost) {
    ps::sim::world world(with_seed(0));
    heard all;
    auto& listener = world.service("listener", [&](ps::sim::node&) { return listen_to_one(all); });
    auto& speaker = world.node("speaker", [&](ps::sim::node& self) -> ps::task<ps::io_result<void>> {
        if (self.lives() != 1) co_return {};
        co_await ps::sleep(1ms);
        auto peer = co_await ps::or_return(ps::tcp_stream::connect(listener.at(80)));
        world.cut(self, listener);
        co_await ps::or_return(say(peer, "A"));
        co_await self.crash(ps::sim::death::of_machine);
        co_return {};
    });
    world.node("fate", [&](ps::sim::node&) -> ps::task<> {
        co_await ps::sleep(1s);
        speaker.restart();
        world.heal();
        co_await ps::sleep(1s);
    });
    world.run();
    EXPECT_EQ(all.text, "");
    EXPECT_EQ(all.end, "nothing yet");
    EXPECT_TRUE(world.books_balance()) << world.imbalance();
}

TEST(broken_network, a_connect_gives_up_whatever_keeps_its_answer) {
    for (bool const is_backlog_full : {false, true}) {
        ps::sim::world world(with_seed(0));
        auto const never_accept = [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
            ps::tcp_listener_options how;
            how.backlog_max = 1;
            auto const listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80), how));
            co_await ps::sleep_until(ps::never);
            co_return {};
        };
        auto& deaf = world.service("deaf", never_accept);
        std::error_code why;
        ps::duration took{};
        auto& client = world.node("client", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
            co_await ps::sleep(1ms);
            std::optional<ps::tcp_stream> first;
            if (is_backlog_full) first = co_await ps::or_return(ps::tcp_stream::connect(deaf.at(80)));
            auto const began = ps::this_task::now();
            auto const end = co_await ps::tcp_stream::connect(deaf.at(80));
            if (!end.has_value()) why = end.error();
            took = ps::this_task::now() - began;
            co_return {};
        });
        world.node("fate", [&](ps::sim::node&) -> ps::task<> {
            co_await ps::sleep(1060us); // it has asked, and is not answered yet
            if (!is_backlog_full) world.cut(client, deaf);
        });
        world.run();
        EXPECT_EQ(why, std::errc::timed_out);
        EXPECT_EQ(took, 127s);
    }
}

TEST(broken_network, the_first_bytes_to_a_peer_that_closed_are_taken_and_lost) {
    ps::sim::world world(with_seed(0));
    auto& server = world.node("server", [](ps::sim::node&) -> ps::task<ps::io_result<void>> {
        auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80)));
        auto peer = co_await ps::or_return(listener.accept());
        co_return co_await peer.async_close();
    });
    std::vector<std::string> said;
    world.node("client", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
        co_await ps::sleep(1ms);
        auto peer = co_await ps::or_return(ps::tcp_stream::connect(server.at(80)));
        for (int i = 0; i < 3; ++i) {
            co_await ps::sleep(1s);
            auto const end = co_await say(peer, "word");
            said.push_back(end.has_value() ? "sent" : end.error().message());
        }
        co_return {};
    });
    world.run();
    // As on Linux: it is the answer to the first that breaks the connection, and one call hears of it.
    EXPECT_EQ(said,
              (std::vector<std::string>{"sent", std::make_error_code(std::errc::connection_reset).message(),
                                        std::make_error_code(std::errc::broken_pipe).message()}));
    EXPECT_TRUE(world.books_balance()) << world.imbalance();
}

TEST(broken_network, room_that_a_reader_makes_is_known_when_its_word_arrives) {
    auto options = with_seed(0);
    options.network.stream_capacity = 1;
    ps::sim::world world(options);
    ps::sim::node* sender = nullptr;
    auto& reader = world.node("reader", [&](ps::sim::node& self) -> ps::task<ps::io_result<void>> {
        auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80)));
        auto peer = co_await ps::or_return(listener.accept());
        co_await ps::sleep(1s);
        world.cut(self, *sender);
        auto const first = co_await ps::or_return(peer.receive());
        co_await ps::sleep(10s);
        world.heal();
        auto const second = co_await ps::or_return(peer.receive());
        co_return {};
    });
    ps::time_point sent_at{};
    sender = &world.node("sender", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
        co_await ps::sleep(1ms);
        auto peer = co_await ps::or_return(ps::tcp_stream::connect(reader.at(80)));
        co_await ps::or_return(say(peer, "ab"));
        sent_at = ps::this_task::now();
        co_return {};
    });
    world.run();
    EXPECT_GE(sent_at - ps::time_point(), 11s);
    EXPECT_TRUE(world.books_balance()) << world.imbalance();
}

TEST(broken_network, a_sender_without_room_learns_that_its_peers_machine_is_gone) {
    for (bool const comes_back : {false, true}) {
        auto options = with_seed(0);
        options.network.stream_capacity = 4;
        ps::sim::world world(options);
        auto& reader = world.service("reader", [](ps::sim::node&) -> ps::task<ps::io_result<void>> {
            auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80)));
            auto const peer = co_await ps::or_return(listener.accept());
            co_await ps::sleep_until(ps::never);
            co_return {};
        });
        std::error_code why;
        world.node("sender", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
            co_await ps::sleep(1ms);
            auto peer = co_await ps::or_return(ps::tcp_stream::connect(reader.at(80)));
            auto const end = co_await say(peer, "more than there is room for");
            if (!end.has_value()) why = end.error();
            co_return {};
        });
        world.node("fate", [&](ps::sim::node&) -> ps::task<> {
            co_await ps::sleep(1s);
            reader.kill(ps::sim::death::of_machine);
            co_await ps::sleep(1s);
            if (comes_back) reader.restart();
        });
        world.run();
        EXPECT_EQ(why, comes_back ? std::errc::connection_reset : std::errc::timed_out);
        EXPECT_TRUE(world.books_balance()) << world.imbalance();
    }
}

TEST(broken_network, a_port_is_free_once_its_listener_is_gone) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        ps::sim::world world(with_seed(seed));
        world.node("binder", [](ps::sim::node&) -> ps::task<ps::io_result<void>> {
            for (int i = 0; i < 5; ++i)
                auto const one = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80)));
            co_return {};
        });
        world.run();
        EXPECT_EQ(world.imbalance(), "");
    }
}

} // namespace
