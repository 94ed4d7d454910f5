// A server in a simulated world answers any bytes with whole answers, the same however they are cut, and its
// books balance.
#include "fuzz/pieces.hpp"
#include "fuzz/targets.hpp"

#include <pitsaw/http/server.hpp>
#include <pitsaw/net/tcp_listener.hpp>
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/world.hpp>

#include "http/head_parser.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace pitsaw::fuzz {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t body_max = 64;

http::router routes() {
    // Its answers to HEAD have no length, so that whoever reads them needs not know what they answer.
    http::router made;
    auto const nothing = [](http::request&) -> task<http::response> { co_return http::response(204); };
    made.add(http::method::head, "/", nothing).add(http::method::head, "/{name}", nothing);
    made.refused([](http::refusal const& what) { return http::response(what.status()); });
    auto const echo = [](http::request& ask) -> task<http::response> {
        auto text = co_await http::read_all(ask.body(), 2 * body_max);
        co_return text.has_value() ? http::response(200, "text/plain", std::move(*text))
                                   : http::response(500);
    };
    made.post("/", echo).get("/", echo).get("/{name}", [](http::request& ask) -> task<http::response> {
        co_return http::response(200, "text/plain", std::string(ask.parameter("name")));
    });
    return made;
}

http::server_options limits() {
    http::server_options made;
    made.header_bytes_max = 512;
    made.target_bytes_max = 64;
    made.headers_max = 8;
    made.body_bytes_max = body_max;
    made.clock = nullptr;
    return made;
}

task<io_result<std::string>> receive_all(tcp_stream& from) {
    std::string all;
    for (;;) {
        auto const some = co_await from.receive();
        if (!some.has_value() || some->empty()) co_return io_result<std::string>(std::move(all));
        all.append(reinterpret_cast<char const*>(some->bytes().data()), some->size());
    }
}

task<io_result<void>> send(tcp_stream& to, pieces& cut, bool is_cut) {
    if (!is_cut) co_return co_await to.send_all(std::as_bytes(std::span(cut.whole())));
    for (auto piece = cut.next(); !piece.empty(); piece = cut.next()) {
        co_await or_return(to.send_all(std::as_bytes(std::span(piece))));
        co_await sleep(1ms);
    }
    co_return {};
}

task<io_result<std::string>> visit(endpoint at, pieces cut, bool is_cut) {
    auto peer = co_await or_return(tcp_stream::connect(at));
    auto const talk = [&]() -> task<> { // a server that refuses what came need not read the rest
        auto sent = co_await send(peer, cut, is_cut);
        if (sent.has_value()) sent = co_await peer.shutdown_send();
    };
    auto both = co_await or_return(when_all(talk(), receive_all(peer)));
    co_return io_result<std::string>(std::move(std::get<1>(both)));
}

task<io_result<std::string>> ask(pieces cut, bool is_cut) {
    auto answering = routes();
    auto listener = co_await or_return(tcp_listener::bind(endpoint::loopback(0)));
    auto const at = co_await or_return(listener.local_endpoint());
    auto first = co_await when_any(http::serve(listener, answering, limits()), visit(at, cut, is_cut));
    auto& heard = std::get<1>(first);
    require(heard.has_value(), "the server ended");
    co_return std::move(*heard);
}

/// Its answers, each of which must be whole.
std::vector<unsigned> statuses(std::string_view text) {
    std::vector<unsigned> all;
    while (!text.empty()) {
        http::head_search search;
        auto const found = search.look(text, http::head_limits());
        require(found > 0, "an answer without a head");
        http::message_head head;
        auto const bytes = static_cast<std::size_t>(found);
        require(http::parse_response_head(text.substr(0, bytes), http::head_limits(), http::method::get,
                                          head) == 0,
                "an answer that is none");
        text.remove_prefix(bytes);
        if (head.status == 100) continue;
        require(head.framing == http::body_end::length || head.framing == http::body_end::none,
                "an answer without a length");
        require(head.length <= text.size(), "an answer that is cut off");
        text.remove_prefix(head.length);
        bool const depends_on_the_cut = head.status == 414 || head.status == 431; // which fault is seen first
        all.push_back(depends_on_the_cut ? 400 : head.status);
    }
    return all;
}

std::vector<unsigned> answers(pieces const& cut, bool is_cut) {
    sim::world world({.seed = 1, .is_calm = !is_cut, .pool_buffers = 4});
    auto end = world.run(ask(cut, is_cut));
    require(end.has_value() && end.value().has_value(), "no answer at all");
    require(world.imbalance().empty(), "something is left over");
    return statuses(*end.value());
}

} // namespace

void http_server(std::string_view const input) {
    pieces const cut(input);
    require(answers(cut, false) == answers(cut, true), "a cut changes the answers");
}

} // namespace pitsaw::fuzz
