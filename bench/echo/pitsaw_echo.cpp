// pitsaw_echo PORT: an echo server, a task for each connection, as in examples/17_echo.cpp.
#include <pitsaw/pitsaw.hpp>

#include <cstdint>
#include <cstdlib>

namespace ps = pitsaw;

namespace {

ps::task<ps::io_result<void>> echo(ps::tcp_stream peer) {
    for (;;) {
        auto chunk = co_await ps::or_return(peer.receive());
        if (chunk.empty()) co_return {};
        co_await ps::or_return(peer.send_all(chunk));
    }
}

ps::task<ps::io_result<void>> serve(std::uint16_t const port) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(port)));
    co_return co_await ps::task_group::run(
        ps::on_failure::keep_others, [&](ps::task_group& clients) -> ps::task<ps::io_result<void>> {
            for (;;) clients.spawn(echo(co_await ps::or_return(listener.accept())));
        });
}

} // namespace

int main(int const count, char** const arguments) {
    if (count != 2) return 2;
    return ps::run(serve(static_cast<std::uint16_t>(std::atoi(arguments[1]))));
}
