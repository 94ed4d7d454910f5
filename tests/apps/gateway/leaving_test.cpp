// A client that leaves, at every moment and in every way: the upstream sees it, and the books balance.
#include "apps/gateway/simulated.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

using namespace gateway::testing;
using namespace std::chrono_literals;

namespace {

enum class way : std::uint8_t { finishes, resets };

/// A client that leaves after `span`; says when it left.
task<io_result<void>> leave_after(endpoint at, pitsaw::duration span, bool is_stream, way how,
                                  pitsaw::time_point& left) {
    auto peer = co_await pitsaw::or_return(tcp_stream::connect(at));
    auto const call = call_of(is_stream ? R"({"model":"m","stream":true})" : R"({"model":"m"})");
    auto const talks = [](tcp_stream& to, std::string text) -> task<io_result<void>> {
        co_await pitsaw::or_return(to.send_all(std::as_bytes(std::span(text))));
        for (;;) {
            auto const some = co_await pitsaw::or_return(to.receive());
            if (some.empty()) co_return {};
        }
    };
    auto const end = co_await pitsaw::with_timeout(span, talks(peer, call));
    (void)end;
    left = pitsaw::this_task::now();
    if (how == way::resets)
        co_await pitsaw::or_return(peer.set_option(pitsaw::socket_option::reset_on_close, 1));
    co_return co_await peer.async_close();
}

/// `step` is shorter than what lies between two things that happen.
void leave_at_every_moment(bool is_stream, way how, std::chrono::microseconds length,
                           std::chrono::microseconds step) {
    auto const first = pitsaw::sim::seed_from_environment();
    int given_up = 0, over = 0; // calls that the upstream had begun
    auto const seeds = pitsaw::sim::seeds_from_environment(3);
    for (auto seed = first; seed != first + seeds; ++seed) {
        for (auto span = 0us; span < length; span += step) {
            SCOPED_TRACE(::testing::Message() << "seed " << seed << ", after " << span.count() << " us");
            simulated_gateway world(is_stream ? stream_script() : whole_script(),
                                    {.seed = seed, .is_calm = seed == 0});
            pitsaw::time_point left{};
            world.run([&](endpoint at) { return leave_after(at, span, is_stream, how, left); });
            EXPECT_LE(world.upstream.finished, left + 100ms); // it did not go on for nobody
            EXPECT_LE(world.log.size(), 1U);                  // none if the call never came
            if (world.log.empty()) continue;
            bool const is_over = world.log[0].find(R"("end":"ok")") != std::string::npos;
            bool const is_given_up = world.log[0].find(R"("end":"client_closed")") != std::string::npos;
            EXPECT_TRUE(is_over || is_given_up) << world.log[0];
            over += is_over ? 1 : 0;
            if (!is_given_up || world.upstream.calls == 0) continue;
            if (world.upstream.has_finished()) continue; // all was said in the moment the client left
            ++given_up;
            EXPECT_GT(world.upstream.seen_gone, pitsaw::time_point());
            EXPECT_LE(world.upstream.seen_gone - left, 100ms);
        }
    }
    EXPECT_GT(given_up, 10);
    EXPECT_GT(over, 0);
}

TEST(gateway_client, that_closes_at_any_moment_of_a_stream_stops_the_upstream) { // LG1
    leave_at_every_moment(true, way::finishes, 80ms, 500us);
}
TEST(gateway_client, that_breaks_at_any_moment_of_a_stream_stops_the_upstream) { // LG1
    leave_at_every_moment(true, way::resets, 80ms, 500us);
}
TEST(gateway_client, that_closes_at_any_moment_of_a_whole_answer_stops_the_upstream) { // LG1
    leave_at_every_moment(false, way::finishes, 400ms, 3ms);
}
TEST(gateway_client, that_breaks_at_any_moment_of_a_whole_answer_stops_the_upstream) { // LG1
    leave_at_every_moment(false, way::resets, 400ms, 3ms);
}

TEST(gateway_client, that_leaves_in_the_middle_has_used_what_was_counted_so_far) { // LG1
    simulated_gateway world(stream_script(), {.seed = 0, .is_calm = true});
    pitsaw::time_point left{};
    world.run([&](endpoint at) { return leave_after(at, 24ms, true, way::resets, left); });
    ASSERT_EQ(world.log.size(), 1U);
    EXPECT_NE(world.log[0].find(R"("end":"client_closed")"), std::string::npos) << world.log[0];
    EXPECT_NE(world.log[0].find(R"("prompt_tokens":7,"completion_tokens":3)"), std::string::npos)
        << world.log[0];
    EXPECT_NE(world.metrics.find("gateway_tokens_total{provider=\"upstream\",kind=\"completion\"} 3\n"),
              std::string::npos);
}

} // namespace
