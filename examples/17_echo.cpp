// An echo server and three clients; with a port as its argument it serves there instead, until Ctrl-C.
// Nothing in the server checks for a stop, and what it has received it answers.
#include <pitsaw/pitsaw.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

namespace ps = pitsaw;

ps::task<ps::io_result<void>> echo(ps::tcp_stream peer) {
    for (;;) {
        auto chunk = co_await ps::or_return(peer.receive());      // a lease: idle connections hold no buffer
        if (chunk.empty()) co_return {};                          // the peer has finished
        co_await ps::or_return(ps::shield(peer.send_all(chunk))); // a stop waits until that is sent
    }
}

ps::task<ps::io_result<void>> serve(ps::tcp_listener& listener) {
    co_return co_await ps::task_group::run(
        ps::on_failure::keep_others, [&](ps::task_group& clients) -> ps::task<ps::io_result<void>> {
            for (;;) clients.spawn(echo(co_await ps::or_return(listener.accept())));
        });
}

ps::task<ps::io_result<void>> talk(ps::endpoint to, std::string_view text) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(to));
    co_await ps::or_return(peer.send_all(std::as_bytes(std::span(text))));
    co_await ps::or_return(peer.shutdown_send());
    std::size_t echoed = 0;
    for (;;) {
        auto chunk = co_await ps::or_return(peer.receive());
        if (chunk.empty()) break;
        echoed += chunk.size();
    }
    std::printf("%.*s: %zu bytes came back\n", static_cast<int>(text.size()), text.data(), echoed);
    co_return {};
}

ps::task<ps::io_result<void>> three_clients(ps::endpoint to) {
    co_await ps::or_return(talk(to, "one"));
    co_await ps::or_return(talk(to, "two"));
    co_return co_await talk(to, "three");
}

ps::task<ps::io_result<void>> work() {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    auto first = co_await ps::when_any(serve(listener), three_clients(at)); // then the server is stopped
    if (auto& served = std::get<0>(first)) co_return *served;
    co_return *std::get<1>(first);
}

ps::task<ps::io_result<void>> serve_at(std::uint16_t port) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::any(port)));
    co_return co_await serve(listener);
}

int main(int count, char** words) {
    if (count > 1) return ps::run(serve_at(static_cast<std::uint16_t>(std::atoi(words[1]))));
    return ps::run(work());
}

// prints:
// one: 3 bytes came back
// two: 3 bytes came back
// three: 5 bytes came back
