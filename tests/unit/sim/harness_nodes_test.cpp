// Bodies that make nodes: what the harnesses count, wait for and forgive there.
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_faults.hpp>
#include <pitsaw/sim/check_stop.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <new>
#include <span>
#include <stdexcept>
#include <string>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::sim::fault_kind;

namespace {

/// Answers one client with its own words.
ps::task<ps::io_result<void>> answer_one() {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(7)));
    for (;;) {
        auto peer = co_await ps::or_return(listener.accept());
        auto const chunk = co_await ps::or_return(peer.receive());
        co_await ps::or_return(peer.send_all(chunk));
    }
}

ps::task<ps::io_result<void>> meet_a_service(ps::sim::world& in) {
    auto& server = in.service("server", [](ps::sim::node&) { return answer_one(); });
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(server.at(7)));
    co_await ps::or_return(peer.send_all(std::as_bytes(std::span("word", 4))));
    auto const answer = co_await ps::or_return(peer.receive());
    EXPECT_LE(answer.size(), 4u);
    co_return {};
}

TEST(check_stop, a_body_may_make_nodes) {
    for (auto const target : {ps::sim::stop_target::runtime, ps::sim::stop_target::group}) {
        ps::sim::check_stop_options options;
        options.seeds = 6;
        options.target = target;
        auto const report = ps::sim::check_stop(meet_a_service, options);
        EXPECT_TRUE(report) << report;
        EXPECT_GT(report.points(), 1u);
        EXPECT_GT(report.stopped_runs(), 0u);
    }
}

// Not inlined, for a compiler may then make its frame a part of the other.
[[gnu::noinline]] ps::task<> sleep_in_a_frame() { co_await ps::sleep(1ms); }

TEST(check_faults, a_body_may_make_nodes_and_their_allocations_fail_too) {
    ps::sim::check_faults_options options;
    options.seeds = 6;
    auto const report = ps::sim::check_faults(meet_a_service, options);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.struck(fault_kind::operation), 0u);
    EXPECT_GT(report.struck(fault_kind::allocation), 0u);

    std::string failure; // of a node, in any run
    auto const watched = [&failure](ps::sim::world& in) -> ps::task<ps::io_result<void>> {
        auto const waits = [&failure](ps::sim::node&) -> ps::task<> {
            co_await ps::sleep(1ms);
            try {
                co_await sleep_in_a_frame();
            } catch (std::bad_alloc const& what) {
                failure = what.what();
                throw;
            }
        };
        in.node("sleeper", waits);
        co_await ps::sleep(5ms);
        co_return {};
    };
    ps::sim::check_faults_options calm_allocations;
    calm_allocations.seeds = 0;
    calm_allocations.kinds = {fault_kind::allocation};
    auto const failed = ps::sim::check_faults(watched, calm_allocations);
    EXPECT_TRUE(failed) << failed;
    EXPECT_EQ(failure, std::bad_alloc().what()) << failed;
}

TEST(canary, a_node_that_fails_though_nothing_was_disturbed_is_found) {
    auto const body = [](ps::sim::world& in) -> ps::task<> {
        in.node("thrower", [](ps::sim::node&) -> ps::task<> {
            co_await ps::sleep(2ms);
            throw std::runtime_error("no more tea");
        });
        co_await ps::sleep(1ms);
    };
    auto const stops = ps::sim::check_stop(body);
    EXPECT_NE(stops.failures().find("node thrower failed: no more tea"), std::string::npos) << stops;
    auto const faults = ps::sim::check_faults(body);
    EXPECT_NE(faults.failures().find("node thrower failed: no more tea"), std::string::npos) << faults;
}

} // namespace
