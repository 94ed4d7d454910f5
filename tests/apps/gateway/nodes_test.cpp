// The gateway, unmodified, in a world of nodes: clients, gateway and provider on machines of their own.
#include "apps/gateway/simulated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

using namespace gateway::testing;
using namespace std::chrono_literals;
namespace sim = pitsaw::sim;

namespace {

std::uint64_t seeds() { return sim::seeds_from_environment(200); }

/// The server looks after its client when a handler has run for 10 ms; the rest is the network's, twice.
constexpr pitsaw::duration noticed_within = 12ms;

/// A provider and a gateway before it, which has one worker or three, and what they have written down.
class gateway_nodes {
  public:
    gateway_nodes(sim::world_options const& with, upstream_script does)
        : provider(std::move(does)), world(with) {}
    [[nodiscard]] sim::node_options of_gateway() const {
        sim::node_options options;
        options.workers = world.seed() % 2 == 0 ? 1 : 3;
        return options;
    }

    scripted_upstream provider;
    std::vector<std::string> log;
    std::string metrics;
    std::uint64_t open_calls = 0; ///< when the gateway ended
    sim::world world;
    sim::node& provider_node = world.service("provider", [this](sim::node&) { return serve_provider(); });
    sim::node& gateway_node =
        world.service("gateway", [this](sim::node&) { return serve_gateway(); }, of_gateway());

    [[nodiscard]] endpoint at() const { return gateway_node.at(8080); }

    /// The calls that ended in this way.
    [[nodiscard]] std::size_t ended(std::string_view how) const {
        return static_cast<std::size_t>(std::ranges::count_if(log, [how](std::string const& line) {
            return line.find("\"end\":\"" + std::string(how) + "\"") != std::string::npos;
        }));
    }

    /// What the log's lines and the metrics say of the same calls.
    void expect_that_accounts_agree() const {
        std::uint64_t in_lines = 0;
        for (auto const& line : log) in_lines += number_behind(line, "\"completion_tokens\":");
        EXPECT_EQ(number_behind(metrics, "gateway_tokens_total{provider=\"provider\",kind=\"completion\"} "),
                  in_lines);
        std::uint64_t calls = 0;
        for (std::size_t at = 0; (at = metrics.find("\ngateway_calls_total{", at)) != std::string::npos; ++at)
            calls += number_behind(metrics.substr(at), "\"} ");
        EXPECT_EQ(calls, log.size());
        EXPECT_EQ(open_calls, 0U);
    }

    [[nodiscard]] static std::uint64_t number_behind(std::string_view in, std::string_view what) {
        auto const at = in.find(what);
        if (at == std::string_view::npos) return 0;
        return std::strtoull(std::string(in.substr(at + what.size(), 20)).c_str(), nullptr, 10);
    }

  private:
    task<io_result<void>> serve_provider() {
        auto listener = co_await pitsaw::or_return(pitsaw::tcp_listener::bind(endpoint::any(80)));
        co_return co_await provider.serve(listener);
    }

    /// As apps/gateway/main.cpp does.
    task<io_result<void>> serve_gateway() {
        gateway::provider_config to;
        to.name = "provider";
        to.models = {"m"};
        to.path = "/v1";
        to.host = "provider";
        to.at = {provider_node.at(80)};
        gateway::config how;
        how.providers = {to};
        gateway::surroundings with;
        with.log = [this](std::string_view line) { log.emplace_back(line); };
        with.clock = []() noexcept -> std::int64_t { return 0; };
        gateway::gateway_service service(how, std::move(with));
        last_look const at_the_end(*this, service);
        pitsaw::tcp_listener_options shared;
        shared.reuse_port = true;
        auto listener = co_await pitsaw::or_return(pitsaw::tcp_listener::bind(endpoint::any(8080), shared));
        co_return co_await service.serve(std::move(listener));
    }

    struct last_look {
        gateway_nodes& self;
        gateway::gateway_service& of;
        last_look(gateway_nodes& in, gateway::gateway_service& service) : self(in), of(service) {}
        last_look(last_look&&) = delete;
        ~last_look() {
            self.metrics = of.metrics_text();
            self.open_calls = of.open_calls();
        }
    };
};

enum class leaves_by : std::uint8_t { finishing, resetting, dying };

/// What a client does: how much of its call it sends, how long it stays, and how it goes.
struct visit {
    std::string sends;
    pitsaw::duration stays{};
    leaves_by how{};
};

visit draw_visit(pitsaw::random_source& from, bool is_stream) {
    visit made;
    made.sends = call_of(is_stream ? R"({"model":"m","stream":true})" : R"({"model":"m"})");
    if (from.below(8) == 0) made.sends.resize(from.below(made.sends.size())); // it leaves amid its request
    made.stays = pitsaw::duration(from.between(0, is_stream ? 60'000'000 : 500'000'000));
    made.how = static_cast<leaves_by>(from.below(3));
    return made;
}

task<io_result<void>> talk_until_the_end(tcp_stream& to, std::string const& text) {
    co_await pitsaw::or_return(to.send_all(std::as_bytes(std::span(text))));
    for (;;) {
        auto const some = co_await pitsaw::or_return(to.receive());
        if (some.empty()) co_return {};
    }
}

task<io_result<void>> pay(sim::node& self, endpoint at, visit what, pitsaw::time_point& left) {
    co_await pitsaw::sleep(1ms); // the others are up
    auto peer = co_await pitsaw::or_return(tcp_stream::connect(at));
    auto const end = co_await pitsaw::with_timeout(what.stays, talk_until_the_end(peer, what.sends));
    (void)end;
    left = pitsaw::this_task::now();
    if (what.how == leaves_by::dying) co_await self.crash();
    if (what.how == leaves_by::resetting)
        co_await pitsaw::or_return(peer.set_option(pitsaw::socket_option::reset_on_close, 1));
    co_return co_await peer.async_close();
}

TEST(gateway_nodes, a_client_that_leaves_at_any_moment_closes_the_upstream_and_is_accounted_once) { // LG1
    auto const first = sim::seed_from_environment(1);
    std::size_t worlds = 0, given_up = 0, over = 0, never_came = 0;
    for (auto seed = first; seed != first + seeds(); ++seed) {
        bool const is_stream = seed % 4 != 0;
        gateway_nodes all({.seed = seed}, is_stream ? stream_script() : whole_script());
        auto const what = draw_visit(all.world.random(), is_stream);
        pitsaw::time_point left{};
        all.world.node("client", [&](sim::node& self) { return pay(self, all.at(), what, left); });
        all.world.node("witness", [](sim::node&) -> task<> { co_await pitsaw::sleep(2s); }); // who waits
        all.world.run();
        SCOPED_TRACE(all.world.rerun());
        ASSERT_EQ(all.world.imbalance(), "");
        ASSERT_EQ(all.provider.open, 0);
        ASSERT_LE(all.log.size(), 1U);
        all.expect_that_accounts_agree();
        if (all.provider.calls != 0) { // whatever the provider was asked for is accounted, once
            ASSERT_EQ(all.log.size(), 1U);
            ASSERT_LE(all.provider.finished, left + noticed_within) << "it spoke on for nobody";
        }
        ++worlds;
        given_up += all.ended("client_closed");
        over += all.ended("ok");
        never_came += all.log.empty() ? 1 : 0;
        if (all.ended("client_closed") == 0 || all.provider.calls == 0) continue;
        if (all.provider.has_finished()) continue; // all was said in the moment the client left
        ASSERT_GT(all.provider.seen_gone, pitsaw::time_point());
        ASSERT_LE(all.provider.seen_gone - left, noticed_within);
    }
    EXPECT_GT(worlds, 0U);
    if (seeds() < 100) return;
    EXPECT_GT(given_up, seeds() / 10);
    EXPECT_GT(over, seeds() / 20);
    EXPECT_GT(never_came, 0U);
}

TEST(gateway_nodes, whatever_fails_each_call_is_accounted_once_and_nothing_stays_open) {
    auto const first = sim::seed_from_environment(1);
    std::size_t worlds = 0, ok = 0, failed = 0, gone = 0;
    for (auto seed = first; seed != first + (seeds() + 1) / 2; ++seed) {
        sim::world_options with{.seed = seed};
        with.faults = sim::faults::some();
        with.faults.no_descriptor_percent = 0; // a gateway that cannot listen has nothing to show
        with.network.stream_capacity = seed % 5 == 0 ? 7 : 16'384;
        gateway_nodes all(with, seed % 2 == 0 ? stream_script() : whole_script());
        std::vector<sim::node*> clients;
        std::vector<pitsaw::time_point> left(3);
        for (auto& when : left) {
            auto const what = draw_visit(all.world.random(), seed % 2 == 0);
            clients.push_back(&all.world.node(
                "client", [&, what](sim::node& self) { return pay(self, all.at(), what, when); }));
        }
        all.world.node("fate", [&](sim::node&) -> task<> {
            auto& random = all.world.random();
            for (int i = 0; i < 3; ++i) {
                co_await pitsaw::sleep(pitsaw::duration(random.between(0, 40'000'000)));
                auto& client = *clients[random.below(clients.size())];
                switch (random.below(5)) {
                case 0:
                    all.provider_node.kill(random.below(2) == 0 ? sim::death::of_process
                                                                : sim::death::of_machine);
                    co_await pitsaw::sleep(10ms);
                    all.provider_node.restart();
                    break;
                case 1:
                    all.world.cut(all.gateway_node, all.provider_node);
                    break;
                case 2:
                    all.world.cut(client, all.gateway_node);
                    break;
                case 3:
                    all.world.reset_connections(all.gateway_node, all.provider_node);
                    break;
                default:
                    all.provider_node.pause(30ms);
                }
                co_await pitsaw::sleep(20ms);
                all.world.heal();
            }
        });
        all.world.run();
        SCOPED_TRACE(all.world.rerun());
        for (auto const* const each : {&all.provider_node, &all.gateway_node}) ASSERT_EQ(each->failure(), "");
        all.expect_that_accounts_agree();
        ASSERT_EQ(all.world.leftovers(), "");
        ASSERT_EQ(all.provider.open, 0);
        ++worlds;
        ok += all.ended("ok");
        failed += all.ended("upstream_failed");
        gone += all.ended("client_closed");
    }
    EXPECT_GT(worlds, 0U);
    if (seeds() < 100) return;
    EXPECT_GT(ok, 0U);
    EXPECT_GT(failed, 0U);
    EXPECT_GT(gone, 0U);
}

} // namespace
