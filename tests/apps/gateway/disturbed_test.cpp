// One stream from an upstream through the gateway to a client, all in one world: stopped at every await, and
// with each allocation, submission and operation failing once.
#include "apps/gateway/simulated.hpp"

#include <pitsaw/sim/check_faults.hpp>
#include <pitsaw/sim/check_stop.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

using namespace gateway::testing;
using namespace std::chrono_literals;
using pitsaw::sim::fault_kind;

namespace {

upstream_script three_words() {
    upstream_script made{{{1ms, std::string(stream_head)}}, false};
    for (int i = 1; i <= 3; ++i)
        made.steps.push_back({1ms, chunk("data: {\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":" +
                                         std::to_string(i) + "}}\n\n")});
    made.steps.push_back({1ms, chunk("data: [DONE]\n\n") + "0\r\n\r\n"});
    return made;
}

/// What is known of a run after its world has gone.
struct one_stream {
    std::unique_ptr<visited_gateway> last;
    bool is_first = true;
    bool is_whole = false;

    [[nodiscard]] task<> run() {
        is_whole = false;
        last.reset();
        last = std::make_unique<visited_gateway>(three_words());
        auto const end = co_await last->all([this](endpoint at) { return ask(at); });
        is_whole = is_whole && end.has_value();
    }
    task<io_result<void>> ask(endpoint at) {
        auto peer = co_await pitsaw::or_return(tcp_stream::connect(at));
        auto const call = call_of(R"({"model":"m","stream":true})");
        co_await pitsaw::or_return(peer.send_all(std::as_bytes(std::span(call))));
        std::string all;
        for (;;) {
            auto const some = co_await pitsaw::or_return(peer.receive());
            if (some.empty()) co_return {};
            all.append(reinterpret_cast<char const*>(some.bytes().data()), some.size());
            if (!body_of_chunked(all).is_whole) continue;
            is_whole = true;
            co_return {};
        }
    }
    /// Beyond the world's books: connections, and that a call is accounted for once.
    [[nodiscard]] std::string wrong() {
        if (std::exchange(is_first, false) && !is_whole) return "it fails by itself";
        if (last == nullptr) return "";
        if (last->upstream.open != 0) return "the upstream has a connection";
        if (last->log.size() > 1) return std::to_string(last->log.size()) + " lines for one call";
        if (last->metrics.empty()) return ""; // the visit was cut off
        auto const has = [this](std::string_view line) {
            return last->metrics.find(line) != std::string::npos;
        };
        if (!has("gateway_open_calls 0\n")) return "a call has not ended";
        if (!is_whole) return "";
        auto const is_lost = has("gateway_log_lines_dropped_total 1\n");
        if (last->log.size() + (is_lost ? 1 : 0) != 1) return "a call was not written down";
        if (!has("gateway_tokens_total{provider=\"upstream\",kind=\"completion\"} 3\n"))
            return "tokens were not counted once";
        return "";
    }
};

TEST(gateway_stream, leaves_nothing_behind_when_everything_is_stopped_at_any_moment) {
    one_stream work;
    pitsaw::sim::check_stop_options options;
    options.first_seed = pitsaw::sim::seed_from_environment(1);
    options.points_max = 400;
    options.verify = [&work](bool) { return work.wrong(); };
    auto const report = pitsaw::sim::check_stop([&work] { return work.run(); }, options);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.stopped_runs(), 40U);
}

TEST(gateway_stream, leaves_nothing_behind_whatever_fails) {
    one_stream work;
    pitsaw::sim::check_faults_options options;
    options.first_seed = pitsaw::sim::seed_from_environment(1);
    options.points_max = 400;
    options.verify = [&work](pitsaw::sim::run_ending) { return work.wrong(); };
    auto const report = pitsaw::sim::check_faults([&work] { return work.run(); }, options);
    EXPECT_TRUE(report) << report;
    for (auto const kind : {fault_kind::allocation, fault_kind::submission, fault_kind::operation})
        EXPECT_GT(report.struck(kind), 20U);
}

} // namespace
