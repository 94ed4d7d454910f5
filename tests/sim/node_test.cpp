// The life and death of the nodes of a simulated world.
#include "sim/echo_nodes.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

// What one who waits for the end of a connection sees, and when.
struct farewell {
    std::string how;
    ps::time_point at{};
};

ps::task<ps::io_result<void>> wait_for_the_end(ps::endpoint at, farewell& end) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
    auto const got = co_await peer.receive();
    end.how = got.has_value() ? "the end of the stream" : got.error().message();
    end.at = ps::this_task::now();
    co_return {};
}

TEST(node, that_is_killed_says_good_bye_as_its_kernel_does) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        ps::sim::world world(with_seed(seed));
        auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
        farewell seen;
        world.node("client", [&](ps::sim::node&) { return wait_for_the_end(server.at(echo_port), seen); });
        world.node("fate", [&](ps::sim::node&) -> ps::task<> {
            co_await ps::sleep(1s);
            server.kill();
            EXPECT_FALSE(server.is_running());
        });
        world.run();
        EXPECT_EQ(seen.how, "the end of the stream") << world.rerun();
        EXPECT_GE(seen.at, server.ended_at());
        EXPECT_LE(seen.at - server.ended_at(), 1ms);
        EXPECT_TRUE(world.books_balance()) << world.imbalance();
    }
}

TEST(node, whose_machine_loses_power_says_nothing_until_it_is_asked_again) {
    ps::sim::world world(with_seed(0));
    auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
    std::string how;
    ps::time_point at{};
    world.node("client", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
        auto peer = co_await ps::or_return(ps::tcp_stream::connect(server.at(echo_port)));
        co_await ps::sleep(2s); // its death is at 1 s
        auto const bytes = bytes_of("are you there?");
        co_await ps::or_return(peer.send_all(bytes)); // the kernel takes them: it knows nothing
        auto const got = co_await peer.receive();
        how = got.has_value() ? "an answer" : got.error().message();
        at = ps::this_task::now();
        co_return {};
    });
    world.node("fate", [&](ps::sim::node&) -> ps::task<> {
        co_await ps::sleep(1s);
        server.kill(ps::sim::death::of_machine);
        co_await ps::sleep(9s);
        server.restart(); // its kernel knows nothing of the connection, and says so
    });
    world.run();
    EXPECT_EQ(how, std::make_error_code(std::errc::connection_reset).message());
    EXPECT_GE(at - ps::time_point(), 10s);
    EXPECT_LE(at - ps::time_point(), 10s + 10ms);
    EXPECT_TRUE(world.books_balance()) << world.imbalance();
}

TEST(node, that_restarts_runs_its_program_anew) {
    ps::sim::world world(with_seed(3));
    std::vector<std::uint64_t> lives;
    auto& one = world.node("one", [&](ps::sim::node& self) -> ps::task<> {
        lives.push_back(self.lives());
        co_await ps::sleep(1s);
        if (self.lives() == 1) co_await self.crash();
        lives.push_back(100 + self.lives());
    });
    world.node("fate", [&](ps::sim::node&) -> ps::task<> {
        co_await ps::sleep(2s);
        EXPECT_FALSE(one.is_running());
        EXPECT_EQ(one.ended_at() - ps::time_point(), 1s);
        one.restart();
    });
    world.run();
    EXPECT_EQ(lives, (std::vector<std::uint64_t>{1, 2, 102}));
    EXPECT_EQ(world.imbalance(), "");
}

// A client that asks until it has an answer, whatever happens to the server meanwhile.
ps::task<> ask_until_answered(ps::endpoint at, std::string& answer) {
    for (;;) {
        auto const got = co_await ps::with_timeout(1s, ask_echo(at, "word"));
        if (got.has_value()) {
            answer = *got;
            co_return;
        }
        co_await ps::sleep(10ms);
    }
}

TEST(node, can_be_killed_and_restarted_at_any_event) {
    for (auto const how : {ps::sim::death::of_process, ps::sim::death::of_machine}) {
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            bool is_over = false; // before it could be killed
            std::uint64_t killed_at = 0;
            for (; !is_over; ++killed_at) {
                ps::sim::world world(with_seed(seed));
                auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
                std::string answer;
                world.node("client",
                           [&](ps::sim::node&) { return ask_until_answered(server.at(echo_port), answer); });
                world.before_each_step([&](std::uint64_t const step) {
                    if (step != killed_at || server.lives() != 1) return;
                    server.kill(how);
                    server.restart();
                });
                world.run();
                EXPECT_EQ(answer, "word") << world.rerun();
                EXPECT_TRUE(world.books_balance()) << world.imbalance() << world.rerun();
                is_over = server.lives() == 1;
            }
            EXPECT_GT(killed_at, 10U);
        }
    }
}

TEST(node, finds_on_its_disk_what_was_synced_before_it_died) {
    for (auto const how : {ps::sim::death::of_process, ps::sim::death::of_machine}) {
        ps::sim::world world(with_seed(0));
        ps::sim::node_options with;
        with.disk.faults.lost_percent = 100;
        std::string found;
        auto& writer = world.node(
            "writer",
            [&](ps::sim::node& self) -> ps::task<> {
                auto& disk = self.get_disk();
                ps::sim::disk_open_options create;
                create.create = true;
                auto const file = disk.open("log", create).value();
                if (self.lives() == 1) {
                    auto const synced = bytes_of("synced"), unsynced = bytes_of(" and not");
                    EXPECT_EQ(disk.append(file, synced), synced.size());
                    EXPECT_TRUE(disk.sync(file).has_value() && disk.sync_directory("").has_value());
                    EXPECT_EQ(disk.append(file, unsynced), unsynced.size());
                    co_await self.crash(how);
                }
                found.resize(disk.size(file).value());
                EXPECT_EQ(disk.read_at(file, 0, std::as_writable_bytes(std::span(found))), found.size());
            },
            with);
        world.node("fate", [&](ps::sim::node&) -> ps::task<> {
            co_await ps::sleep(1s);
            writer.restart();
        });
        world.run();
        EXPECT_EQ(found, how == ps::sim::death::of_process ? "synced and not" : "synced");
        EXPECT_EQ(world.imbalance(), "");
    }
}

TEST(node, that_pauses_finds_that_its_clock_has_moved_on) {
    ps::sim::world world(with_seed(0));
    std::vector<ps::duration> ticks;
    auto& sleeper = world.node("sleeper", [&](ps::sim::node&) -> ps::task<> {
        for (int i = 0; i < 3; ++i) {
            co_await ps::sleep(1s);
            ticks.push_back(ps::this_task::now() - ps::time_point());
        }
    });
    world.node("fate", [&](ps::sim::node&) -> ps::task<> {
        co_await ps::sleep(1500ms);
        sleeper.pause(10s);
    });
    world.run();
    EXPECT_EQ(ticks, (std::vector<ps::duration>{1s, 11500ms, 12500ms}));
}

TEST(node, services_are_asked_to_stop_the_latest_first) {
    ps::sim::world world(with_seed(5));
    std::string order;
    auto const serve = [&order](char name) {
        return [&order, name](ps::sim::node&) -> ps::task<> {
            struct noted {
                std::string& in;
                char what;
                noted(std::string& where, char which) : in(where), what(which) {}
                noted(noted&&) = delete;
                ~noted() { in += what; }
            } const at_the_end(order, name);
            co_await ps::sleep_until(ps::never);
        };
    };
    world.service("a", serve('a'));
    world.service("b", serve('b'));
    world.node("c", [](ps::sim::node&) -> ps::task<> { co_await ps::sleep(1s); });
    world.run();
    EXPECT_EQ(order, "ba");
    EXPECT_EQ(world.imbalance(), "");
}

TEST(node, that_fails_is_in_the_books) {
    ps::sim::world world(with_seed(0));
    world.node("thrower", [](ps::sim::node&) -> ps::task<> {
        co_await ps::sleep(1ms);
        throw std::runtime_error("no more tea");
    });
    auto& other = world.node("other", [](ps::sim::node&) -> ps::task<ps::io_result<void>> {
        co_await ps::sleep(1ms);
        co_return std::unexpected(std::make_error_code(std::errc::no_space_on_device));
    });
    world.run();
    EXPECT_NE(world.imbalance().find("node thrower failed: no more tea"), std::string::npos);
    EXPECT_EQ(other.failure(), std::make_error_code(std::errc::no_space_on_device).message());
}

TEST(node, work_of_the_world_itself_meets_its_nodes) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        ps::sim::world world(with_seed(seed));
        auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
        auto const answer = world.run(ask_echo(server.at(echo_port), "word"));
        ASSERT_TRUE(answer.has_value());
        EXPECT_EQ(answer.value(), "word");
        EXPECT_NE(world.imbalance().find("node server still runs"), std::string::npos);
        world.run();
        EXPECT_EQ(world.imbalance(), "");
    }
}

TEST(node, harmless_faults_are_survived) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        auto options = with_seed(seed);
        options.faults = ps::sim::faults::harmless();
        ps::sim::world world(options);
        auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
        std::string answer;
        world.node("client", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
            co_await ps::sleep(100ms); // of stalls that the server may need to listen
            answer = co_await ps::or_return(ask_echo(server.at(echo_port), "word"));
            co_return {};
        });
        world.run();
        EXPECT_EQ(answer, "word") << world.rerun();
        EXPECT_TRUE(world.books_balance()) << world.imbalance() << world.rerun();
    }
}

TEST(node, has_so_many_descriptors_and_no_more) {
    auto options = with_seed(0);
    options.faults.descriptors_max = 3;
    ps::sim::world world(options);
    auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
    int opened = 0;
    std::error_code why;
    world.node("client", [&](ps::sim::node&) -> ps::task<> {
        std::vector<ps::tcp_stream> all;
        for (;;) {
            auto one = co_await ps::tcp_stream::connect(server.at(echo_port));
            if (!one.has_value()) {
                why = one.error();
                co_return;
            }
            all.push_back(std::move(*one));
            ++opened;
        }
    });
    world.run();
    EXPECT_EQ(opened, 3);
    EXPECT_EQ(why, std::errc::too_many_files_open);
}

} // namespace
