// A client in a simulated world takes any answer, whole or as an error, the same however it is cut, and its
// books balance.
#include "fuzz/pieces.hpp"
#include "fuzz/targets.hpp"

#include <pitsaw/http/client.hpp>
#include <pitsaw/net/tcp_listener.hpp>
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/world.hpp>

#include <chrono>
#include <string>

namespace pitsaw::fuzz {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t body_max = 256;

http::client_options limits() {
    http::client_options made;
    made.header_bytes_max = 512;
    made.headers_max = 8;
    made.body_bytes_max = body_max;
    return made;
}

/// Answers the first request of each connection with the bytes, and closes.
task<io_result<void>> serve(tcp_listener& listener, pieces cut, bool is_cut) {
    for (;;) {
        auto peer = co_await or_return(listener.accept());
        auto const asked = co_await peer.receive();
        if (!asked.has_value()) continue;
        auto left = cut;
        bool is_open = true;
        auto piece = is_cut ? left.next() : left.whole();
        while (is_open && !piece.empty()) {
            is_open = (co_await peer.send_all(std::as_bytes(std::span(piece)))).has_value();
            piece = is_cut ? left.next() : std::string_view();
            if (is_cut) co_await sleep(1ms);
        }
        auto const ended = co_await peer.shutdown_send();
        while (ended.has_value()) {
            auto const more = co_await peer.receive();
            if (!more.has_value() || more->empty()) break;
        }
    }
}

/// The status and the body; of what fails only that it does, for a cut decides which limit is met first.
task<io_result<std::string>> fetch(endpoint at) {
    http::client client(limits());
    auto reply = co_await or_return(client.send(at, http::client_request(http::method::get, "a", "/")));
    require(reply.status() >= 200 && reply.status() <= 999, "a status that ends nothing");
    auto const status = std::to_string(reply.status());
    auto body = co_await or_return(http::read_all(reply.body(), body_max));
    co_return io_result<std::string>(status + " " + body);
}

task<io_result<std::string>> visit(pieces cut, bool is_cut) {
    auto listener = co_await or_return(tcp_listener::bind(endpoint::loopback(0)));
    auto const at = co_await or_return(listener.local_endpoint());
    auto first = co_await when_any(serve(listener, cut, is_cut), fetch(at));
    auto& got = std::get<1>(first);
    require(got.has_value(), "the server ended");
    co_return std::move(*got);
}

std::string outcome(pieces const& cut, bool is_cut) {
    sim::world world({.seed = 1, .is_calm = !is_cut, .pool_buffers = 4});
    auto end = world.run(visit(cut, is_cut));
    require(end.has_value(), "no outcome");
    require(world.imbalance().empty(), "something is left over");
    return end.value().has_value() ? *end.value() : "an error";
}

} // namespace

void http_client(std::string_view const input) {
    pieces const cut(input);
    require(outcome(cut, false) == outcome(cut, true), "a cut changes the answer");
}

} // namespace pitsaw::fuzz
