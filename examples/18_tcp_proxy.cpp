// A TCP proxy: bytes go both ways until both sides have finished, or nothing has for too long.
#include <pitsaw/pitsaw.hpp>

#include <cstdio>
#include <span>
#include <string_view>

using namespace std::chrono_literals;
namespace ps = pitsaw;

ps::task<ps::io_result<void>> one_way(ps::tcp_stream& from, ps::tcp_stream& to) {
    for (;;) {
        auto chunk = co_await ps::or_return(ps::with_timeout(30s, from.receive()));
        if (chunk.empty()) break;
        co_await ps::or_return(ps::with_timeout(30s, to.send_all(chunk)));
    }
    co_return co_await to.shutdown_send();
}

ps::task<ps::io_result<void>> relay(ps::tcp_stream client, ps::endpoint upstream) {
    auto server = co_await ps::or_return(ps::with_timeout(5s, ps::tcp_stream::connect(upstream)));
    co_await ps::or_return(ps::when_all(one_way(client, server), one_way(server, client)));
    co_return {};
}

ps::task<ps::io_result<void>> echo(ps::tcp_listener& listener) {
    auto peer = co_await ps::or_return(listener.accept());
    co_return co_await one_way(peer, peer);
}

ps::task<ps::io_result<void>> proxy(ps::tcp_listener& listener, ps::endpoint upstream) {
    auto client = co_await ps::or_return(listener.accept());
    co_return co_await relay(std::move(client), upstream);
}

ps::task<ps::io_result<void>> talk(ps::endpoint to) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(to));
    std::string_view const text = "through the proxy\n";
    co_await ps::or_return(peer.send_all(std::as_bytes(std::span(text))));
    co_await ps::or_return(peer.shutdown_send());
    ps::buffered_reader reader{peer};
    auto const line = co_await ps::or_return(reader.read_line());
    std::printf("%.*s and back\n", static_cast<int>(line.size()), line.data());
    co_return {};
}

ps::task<ps::io_result<void>> work() {
    auto server = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto front = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const upstream = co_await ps::or_return(server.local_endpoint());
    auto const at = co_await ps::or_return(front.local_endpoint());
    co_await ps::or_return(ps::when_all(echo(server), proxy(front, upstream), talk(at)));
    co_return {};
}

int main() { return ps::run(work()); }

// prints:
// through the proxy and back
