// Accepts, connects and receives that are stopped at random on real drivers: no descriptor and no connection
// is lost.
#include "stream_pair.hpp"
#include "stress/random_stops.hpp"

#include <array>
#include <functional>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::bytes_of;
using ps::testing::descriptors_left;
using ps::testing::driver_name;
using ps::testing::is_timed_out;
using ps::testing::open_descriptors;
using ps::testing::random_time;

namespace {

constexpr int clients = 20;
constexpr int rounds = 500; // of each client
constexpr auto stop_within = 200us;

struct tally {
    explicit tally(std::uint64_t seed) : random(seed) {}
    ps::random_source random;
    int greeted = 0; // the server saw the connection
    int dropped = 0; // connected, then closed by the server's side
    int stopped = 0; // connects that were stopped
    int lost = 0;    // connected, and nobody ever answered or closed
    int accepted = 0;
    int accepts_stopped = 0;
    int receives_stopped = 0;
};

using result = ps::task<ps::io_result<void>>;

// The server's side of one connection: greets, then waits for its end, whatever that is.
ps::task<> greet(ps::tcp_stream peer) {
    auto const sent = co_await peer.send_all(bytes_of("x"));
    if (sent.has_value()) (void)co_await peer.closed();
}

result accept_all(ps::tcp_listener& listener, tally& books) {
    co_return co_await ps::task_group::run(
        ps::on_failure::keep_others, [&](ps::task_group& peers) -> ps::task<ps::io_result<void>> {
            for (;;) {
                auto const time = random_time(books.random, stop_within);
                auto peer = co_await ps::with_timeout(time, listener.accept());
                if (peer.has_value()) {
                    ++books.accepted;
                    peers.spawn(greet(std::move(*peer)));
                } else if (is_timed_out(peer.error())) {
                    ++books.accepts_stopped;
                } else {
                    co_return std::unexpected(peer.error());
                }
            }
        });
}

// Whoever is connected must hear of it: a greeting, or the end.
result hear(ps::tcp_stream& peer, tally& books) {
    std::array<std::byte, 4> into{};
    for (auto const begun = std::chrono::steady_clock::now();
         std::chrono::steady_clock::now() - begun < 20s;) {
        auto const time = random_time(books.random, stop_within);
        auto const got = co_await ps::with_timeout(time, peer.receive(into));
        if (!got.has_value() && is_timed_out(got.error())) {
            ++books.receives_stopped;
            continue;
        }
        (got.has_value() && *got == 1 ? books.greeted : books.dropped) += 1;
        co_return {};
    }
    ++books.lost;
    co_return {};
}

result visit(ps::endpoint at, tally& books) {
    for (int i = 0; i < rounds; ++i) {
        auto const time = random_time(books.random, stop_within);
        auto peer = co_await ps::with_timeout(time, ps::tcp_stream::connect(at));
        if (!peer.has_value()) {
            if (!is_timed_out(peer.error())) co_return std::unexpected(peer.error());
            ++books.stopped;
            continue;
        }
        co_await ps::or_return(hear(*peer, books));
    }
    co_return {};
}

result visits(ps::endpoint roomy, ps::endpoint crowded, tally& books) {
    co_return co_await ps::task_group::run([&](ps::task_group& all) -> ps::task<ps::io_result<void>> {
        for (int i = 0; i < clients; ++i) all.spawn(visit(i % 2 == 0 ? roomy : crowded, books));
        co_return {};
    });
}

result meet(tally& books) {
    ps::tcp_listener_options few; // so that connects have to wait, and are stopped meanwhile
    few.backlog_max = 2;
    auto roomy = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto crowded = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0), few));
    auto const roomy_at = co_await ps::or_return(roomy.local_endpoint());
    auto const crowded_at = co_await ps::or_return(crowded.local_endpoint());
    auto const before = open_descriptors();
    auto first = co_await ps::when_any(visits(roomy_at, crowded_at, books), accept_all(roomy, books),
                                       accept_all(crowded, books));
    // What stands in the backlog was stopped by its client and never accepted: it goes with the listener.
    auto const left = co_await descriptors_left(before);
    EXPECT_EQ(left, before);
    if (auto& visited = std::get<0>(first); visited.has_value()) co_return *visited;
    co_return std::unexpected(std::make_error_code(std::errc::not_connected)); // an accept failed
}

class connections : public ::testing::TestWithParam<driver_name> {};

TEST_P(connections, stopped_at_random_are_visible_or_closed_and_leak_no_descriptor) { // CA1
    auto const seed = ps::testing::stress_seed(11);
    SCOPED_TRACE(ps::testing::say_seed(seed));
    auto const before = open_descriptors();
    tally books(seed);
    {
        ps::runtime rt(ps::testing::make_driver(GetParam()));
        auto const end = ps::sync_wait(rt, meet(books));
        ASSERT_TRUE(end.has_value());
        EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
    }
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_EQ(books.lost, 0);
    EXPECT_EQ(books.dropped, 0); // each accepted connection was delivered to the server
    EXPECT_EQ(books.greeted + books.stopped, clients * rounds);
    EXPECT_GE(books.accepted, books.greeted);
    EXPECT_GT(books.greeted, clients * rounds / 10);
    EXPECT_GT(books.stopped, 0);
    EXPECT_GT(books.receives_stopped, 0);
}

INSTANTIATE_TEST_SUITE_P(drivers, connections, ps::testing::real_drivers(), ps::testing::name_of_driver);

} // namespace
