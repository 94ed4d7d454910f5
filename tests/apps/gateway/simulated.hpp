#pragma once
#include "gateway/gateway.hpp"

#include <pitsaw/http/client.hpp>
#include <pitsaw/http/server.hpp>
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/world.hpp>

#include <gtest/gtest.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::testing {

namespace http = pitsaw::http;
using pitsaw::endpoint;
using pitsaw::io_result;
using pitsaw::task;
using pitsaw::tcp_stream;

/// What an upstream does with a call: scripted bytes, so that it may also misbehave.
struct upstream_script {
    struct step {
        pitsaw::duration after;
        std::string bytes;
    };
    std::vector<step> steps;       ///< once the request's head and body are there
    bool closes_at_the_end = true; ///< else it waits for the gateway to close
};

/// An upstream that speaks by script, and writes down what it saw.
class scripted_upstream {
  public:
    explicit scripted_upstream(upstream_script does) : does_(std::move(does)) {}

    std::string received;           ///< of all connections
    int calls = 0;                  ///< that were begun
    int open = 0;                   ///< connections
    std::uint64_t sent = 0;         ///< bytes
    pitsaw::time_point seen_gone{}; ///< when a peer was seen to be gone, last
    pitsaw::time_point finished{};  ///< when a script had been spoken to its end, last

    /// Whether a script was ever spoken to its end: then it closes by itself, and may never see its peer go.
    [[nodiscard]] bool has_finished() const noexcept { return finished != pitsaw::time_point{}; }

    task<io_result<void>> serve(pitsaw::tcp_listener& listener) {
        auto const accepts = [&](pitsaw::task_group& group) -> task<io_result<void>> {
            for (;;) group.spawn(answer(co_await pitsaw::or_return(listener.accept())));
        };
        co_return co_await pitsaw::task_group::run(pitsaw::on_failure::keep_others, accepts);
    }

  private:
    struct counted {
        int& of;
        explicit counted(int& counter) : of(counter) { ++of; }
        counted(counted&&) = delete;
        ~counted() { --of; }
    };

    task<> answer(tcp_stream peer) {
        counted const one(open);
        auto const first = co_await pitsaw::when_any(speak(peer), watch(peer));
        bool const has_spoken = has_finished() && finished == pitsaw::this_task::now();
        if (first.first() == 0 && !has_spoken) seen_gone = pitsaw::this_task::now(); // amid a word
    }
    task<> watch(tcp_stream& peer) {
        auto const gone = co_await peer.closed();
        (void)gone;
        seen_gone = pitsaw::this_task::now();
    }
    task<io_result<void>> speak(tcp_stream& peer) {
        std::string request;
        for (;;) {
            auto const some = co_await pitsaw::or_return(peer.receive());
            if (some.empty()) co_return {};
            auto const text = std::string(reinterpret_cast<char const*>(some.bytes().data()), some.size());
            request += text;
            received += text;
            auto const end = request.find("\r\n\r\n");
            if (end == std::string::npos) continue;
            auto const at = request.find("Content-Length: ");
            auto const length = at == std::string::npos ? 0 : std::stoul(request.substr(at + 16));
            if (request.size() < end + 4 + length) continue;
            request.clear();
            ++calls;
            for (auto const& [after, bytes] : does_.steps) {
                if (after > pitsaw::duration::zero()) co_await pitsaw::sleep(after);
                std::size_t went = 0;
                auto const whole = co_await peer.send_all(std::as_bytes(std::span(bytes)), went);
                sent += went;
                if (!whole.has_value()) co_return whole;
            }
            finished = pitsaw::this_task::now();
            if (does_.closes_at_the_end) co_return {};
        }
    }

    upstream_script does_;
};

/// A gateway before an upstream, and somebody who visits it: all in one task.
class visited_gateway {
  public:
    explicit visited_gateway(upstream_script does) : upstream(std::move(does)) {}

    using visit = std::function<task<io_result<void>>(endpoint gateway)>;

    /// The visit, and then everything else to its end.
    task<io_result<void>> all(visit what) {
        auto upstream_listener =
            co_await pitsaw::or_return(pitsaw::tcp_listener::bind(endpoint::loopback(0)));
        auto listener = co_await pitsaw::or_return(pitsaw::tcp_listener::bind(endpoint::loopback(0)));
        auto const at = co_await pitsaw::or_return(listener.local_endpoint());
        auto const upstream_at = co_await pitsaw::or_return(upstream_listener.local_endpoint());
        provider.at.assign(1, upstream_at);
        if (first_address) provider.at.insert(provider.at.begin(), *first_address);
        if (!is_upstream_there) provider.at = {endpoint::loopback(1)};
        how.providers = {provider};
        surroundings with;
        with.log = [this](std::string_view line) { log.emplace_back(line); };
        with.clock = []() noexcept -> std::int64_t { return 0; };
        gateway_service service(how, std::move(with));
        auto first = co_await pitsaw::when_any(served(service, std::move(listener)),
                                               upstream.serve(upstream_listener), visited(service, what, at));
        if (auto& done = std::get<2>(first)) co_return *done;
        co_return std::unexpected(std::make_error_code(std::errc::connection_aborted));
    }

    scripted_upstream upstream;
    provider_config provider = [] {
        provider_config made;
        made.name = "upstream";
        made.models = {"m", "m-*"};
        made.path = "/v1";
        made.host = "upstream";
        return made;
    }();
    config how;
    bool is_upstream_there = true;
    std::optional<endpoint> first_address;                    ///< of the upstream's name, before its own
    pitsaw::duration stopped_after = pitsaw::duration::max(); ///< the gateway is asked to end
    std::vector<std::string> log;                             ///< the access log's lines
    std::string metrics;
    std::uint64_t open_calls = 0; ///< after the visit

  private:
    task<io_result<void>> served(gateway_service& service, pitsaw::tcp_listener listener) {
        auto const end = co_await pitsaw::with_timeout(stopped_after, service.serve(std::move(listener)));
        if (!end.has_value() && end.error() != std::errc::timed_out) co_return end;
        for (;;) co_await pitsaw::sleep(std::chrono::hours(1)); // until the visit is over
    }
    /// Waits for calls to end, too: the gateway notices a client that went a little later.
    task<io_result<void>> visited(gateway_service& service, visit& what, endpoint at) {
        auto const end = co_await what(at);
        for (int i = 0; i < 200 && service.open_calls() != 0; ++i)
            co_await pitsaw::sleep(std::chrono::milliseconds(1));
        co_await pitsaw::sleep(std::chrono::milliseconds(50)); // the upstream notices later still
        open_calls = service.open_calls();
        metrics = service.metrics_text();
        co_return end;
    }
};

/// The same in a world of its own.
class simulated_gateway : public visited_gateway {
  public:
    explicit simulated_gateway(upstream_script does, pitsaw::sim::world_options of = {})
        : visited_gateway(std::move(does)), world(of) {}

    /// Runs the visit, and then everything else to its end; the books must balance.
    void run(visit what) {
        auto const end = world.run(all(std::move(what)));
        ASSERT_TRUE(end.has_value());
        EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
        EXPECT_EQ(world.imbalance(), "");
        EXPECT_EQ(upstream.open, 0);
        EXPECT_EQ(open_calls, 0U);
    }

    pitsaw::sim::world world;
};

/// A call's bytes.
[[nodiscard]] inline std::string call_of(std::string_view body, std::string_view fields = "") {
    return "POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n" +
           std::string(fields) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           std::string(body);
}

/// What comes until the end of the stream, or for this long.
[[nodiscard]] inline task<io_result<std::string>> receive_for(tcp_stream& from, pitsaw::duration span) {
    std::string all;
    auto const until = pitsaw::this_task::now() + span;
    for (;;) {
        auto const some = co_await pitsaw::with_deadline(until, from.receive());
        if (!some.has_value() || some->empty()) co_return io_result<std::string>(std::move(all));
        all.append(reinterpret_cast<char const*>(some->bytes().data()), some->size());
    }
}

/// One call on a connection of its own: everything that came back within a minute.
[[nodiscard]] inline task<io_result<std::string>> talk(endpoint at, std::string bytes) {
    auto peer = co_await pitsaw::or_return(tcp_stream::connect(at));
    co_await pitsaw::or_return(peer.send_all(std::as_bytes(std::span(bytes))));
    co_return co_await receive_for(peer, std::chrono::minutes(1));
}

/// A chunk of a chunked body.
[[nodiscard]] inline std::string chunk(std::string_view bytes) {
    char digits[20];
    auto const size = std::snprintf(digits, sizeof digits, "%zx\r\n", bytes.size());
    return std::string(digits, static_cast<std::size_t>(size)) + std::string(bytes) + "\r\n";
}

inline constexpr std::string_view stream_head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Five events with what was used so far, and the last.
[[nodiscard]] inline upstream_script stream_script() {
    upstream_script made{{{std::chrono::milliseconds(10), std::string(stream_head)}}, false};
    for (int i = 1; i <= 5; ++i)
        made.steps.push_back({std::chrono::milliseconds(4),
                              chunk("data: {\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":" +
                                    std::to_string(i) + "}}\n\n")});
    made.steps.push_back({std::chrono::milliseconds(4), chunk("data: [DONE]\n\n") + "0\r\n\r\n"});
    return made;
}
/// An answer of one piece, which takes its time.
[[nodiscard]] inline upstream_script whole_script() {
    return {{{std::chrono::milliseconds(300),
              "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"}},
            false};
}

/// A body without its chunks' framing, as far as it is there; `is_whole`: its last chunk too.
struct unchunked {
    std::string bytes;
    bool is_whole = false;
};
[[nodiscard]] inline unchunked body_of_chunked(std::string_view message) {
    unchunked made;
    message.remove_prefix(std::min(message.find("\r\n\r\n") + 4, message.size()));
    while (!message.empty()) {
        std::size_t size = 0;
        auto const digits = std::from_chars(message.data(), message.data() + message.size(), size, 16);
        if (digits.ec != std::errc()) break; // cut off
        message.remove_prefix(message.find("\r\n") + 2);
        if (size == 0) {
            made.is_whole = true;
            break;
        }
        made.bytes.append(message.substr(0, size));
        message.remove_prefix(std::min<std::size_t>(size + 2, message.size()));
    }
    return made;
}

} // namespace gateway::testing
