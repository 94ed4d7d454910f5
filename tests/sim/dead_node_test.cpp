// What a program that was killed, and the frames it leaves, can still do: nothing that the world would see.
#include "sim/echo_nodes.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

TEST(dead_node, can_reboot_itself) {
    ps::sim::world world(with_seed(4));
    std::vector<std::uint64_t> lives;
    world.node("restless", [&](ps::sim::node& self) -> ps::task<> {
        lives.push_back(self.lives());
        co_await ps::sleep(1ms);
        if (self.lives() == 3) co_return;
        self.kill();
        self.restart();
        co_await ps::sleep(1s);
    });
    world.run();
    EXPECT_EQ(lives, (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_EQ(world.now() - ps::time_point(), 3ms);
    EXPECT_EQ(world.imbalance(), "");
}

TEST(dead_node, a_frame_that_is_destroyed_may_make_kill_and_restart_nodes) {
    ps::sim::world world(with_seed(2));
    int made = 0;
    ps::sim::node* other = nullptr;
    struct last_will {
        std::function<void()> what;
        explicit last_will(std::function<void()> does) : what(std::move(does)) {}
        last_will(last_will&&) = delete;
        ~last_will() { what(); }
    };
    auto const make_more = [&] {
        for (int i = 0; i < 40; ++i)
            world.node("child", [&](ps::sim::node&) -> ps::task<> {
                ++made;
                co_await ps::sleep(1ms);
            });
        if (other->is_running()) other->kill();
        if (made < 80) other->restart();
    };
    other = &world.service("other", [&](ps::sim::node& self) -> ps::task<> {
        last_will const in_the_end([&self] { self.kill(); });
        co_await ps::sleep_until(ps::never);
    });
    world.service("maker", [&](ps::sim::node&) -> ps::task<> {
        last_will const in_the_end(make_more);
        co_await ps::sleep_until(ps::never);
    });
    auto& killed = world.node("killed", [&](ps::sim::node&) -> ps::task<> {
        last_will const in_the_end(make_more);
        co_await ps::sleep_until(ps::never);
    });
    world.before_each_step([&](std::uint64_t) {
        if (killed.is_running()) killed.kill();
        world.before_each_step(nullptr);
    });
    world.run();
    EXPECT_EQ(made, 80);
    EXPECT_EQ(world.imbalance(), "");
}

TEST(dead_node, the_dead_do_not_reach_the_next_life) {
    ps::sim::world world(with_seed(0));
    int lived_on = 0;
    auto& one = world.node("one", [&](ps::sim::node& self) -> ps::task<> {
        auto const crash_again = [](ps::sim::node* of) -> ps::task<> { co_await of->crash(); };
        if (self.lives() == 1) co_await ps::at_exit(crash_again, &self);
        co_await ps::sleep(2s);
        ++lived_on;
    });
    world.node("fate", [&](ps::sim::node&) -> ps::task<> {
        co_await ps::sleep(1s);
        one.kill();
        one.restart();
    });
    world.run();
    EXPECT_EQ(lived_on, 1);
    EXPECT_EQ(world.imbalance(), "");
}

TEST(dead_node, that_was_paused_or_shielded_when_it_was_killed_is_unwound_all_the_same) {
    ps::sim::world world(with_seed(0));
    int ends = 0;
    auto& sleeper = world.node("sleeper", [&](ps::sim::node&) -> ps::task<> {
        co_await ps::shield(ps::sleep(std::chrono::hours(100)));
        ++ends; // as a ghost, whose time passes at once
    });
    auto& shy = world.node("shy", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
        auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80)));
        auto const end = co_await ps::shield(listener.accept());
        ends += !end.has_value() && end.error() == std::errc::network_down ? 1 : 0;
        co_return {};
    });
    auto& paused = world.node("paused", [](ps::sim::node&) -> ps::task<> { co_await ps::sleep(10s); });
    world.node("fate", [&](ps::sim::node&) -> ps::task<> {
        co_await ps::sleep(1s);
        paused.pause(ps::duration::max());
        for (auto* const each : {&sleeper, &shy, &paused}) each->kill();
    });
    world.run();
    EXPECT_EQ(ends, 2);
    EXPECT_EQ(world.now() - ps::time_point(), 1s);
    EXPECT_EQ(world.imbalance(), "");
}

TEST(dead_node, that_is_dead_does_not_write_to_its_disk) {
    for (auto const how : {ps::sim::death::of_process, ps::sim::death::of_machine}) {
        ps::sim::world world(with_seed(0));
        auto& writer = world.node("writer", [](ps::sim::node& self) -> ps::task<> {
            struct tidy {
                ps::sim::disk& on;
                explicit tidy(ps::sim::disk& where) : on(where) {}
                tidy(tidy&&) = delete;
                ~tidy() {
                    ps::sim::disk_open_options create;
                    create.create = true;
                    EXPECT_FALSE(on.open("destroyed", create).has_value());
                }
            } const at_the_end(self.get_disk());
            auto const clean_up = [](ps::sim::disk* on) -> ps::task<> {
                ps::sim::disk_open_options create;
                create.create = true;
                EXPECT_FALSE(on->open("cleaned_up", create).has_value());
                co_return;
            };
            co_await ps::at_exit(clean_up, &self.get_disk());
            co_await ps::sleep(10s);
        });
        world.node("fate", [&](ps::sim::node&) -> ps::task<> {
            co_await ps::sleep(1s);
            writer.kill(how);
        });
        world.run();
        EXPECT_TRUE(writer.get_disk().list("").value().empty());
        EXPECT_EQ(world.imbalance(), "");
    }
}

TEST(dead_node, that_is_dead_is_unwound_and_reaches_nobody) {
    ps::sim::world world(with_seed(0));
    std::size_t heard = 0;
    bool is_unwound = false;
    auto& listener = world.service("listener", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
        auto at = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(80)));
        for (;;) {
            auto peer = co_await ps::or_return(at.accept());
            auto const got = co_await ps::or_return(peer.receive());
            heard += got.size();
        }
    });
    auto& ghost = world.node("ghost", [&](ps::sim::node&) -> ps::task<ps::io_result<void>> {
        auto peer = co_await ps::or_return(ps::tcp_stream::connect(listener.at(80)));
        struct noted {
            bool& is;
            explicit noted(bool& what) : is(what) {}
            noted(noted&&) = delete;
            ~noted() { is = true; }
        } const at_the_end(is_unwound);
        auto const last_words = [](ps::tcp_stream* to) -> ps::task<> {
            auto const bytes = bytes_of("I am dead");
            (void)co_await to->send_all(bytes);
        };
        co_await ps::at_exit(last_words, &peer);
        co_await ps::sleep_until(ps::never);
        co_return {};
    });
    world.node("fate", [&](ps::sim::node&) -> ps::task<> {
        co_await ps::sleep(1s);
        ghost.kill();
    });
    world.run();
    EXPECT_TRUE(is_unwound);
    EXPECT_EQ(heard, 0U);
    EXPECT_TRUE(world.books_balance()) << world.imbalance();
}

} // namespace
