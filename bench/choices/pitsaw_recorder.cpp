// pitsaw_recorder on|off PORT: bench/echo's server, with the flight recorder or without.
#include <pitsaw/pitsaw.hpp>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string_view>

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
    auto const accepts = [&](ps::task_group& clients) -> ps::task<ps::io_result<void>> {
        for (;;) clients.spawn(echo(co_await ps::or_return(listener.accept())));
    };
    co_return co_await ps::task_group::run(ps::on_failure::keep_others, accepts);
}

} // namespace

int main(int const count, char** const arguments) {
    if (count != 3) return 2;
    ps::runtime_options options;
    options.on_lost_error = [](std::exception_ptr) {}; // clients that go in the middle
    if (std::string_view(arguments[1]) == "off") options.recorder.records = 0;
    ps::runtime on(options);
    auto const end = ps::sync_wait(on, serve(static_cast<std::uint16_t>(std::atoi(arguments[2]))));
    return end.has_value() ? 0 : 1;
}
