// pitsaw_echo PORT [per_core|stealing WORKERS]: an echo server, a task for each connection, as in
// examples/17_echo.cpp; with more workers each of them listens, or one does and the others take over what it
// accepts.
#include <pitsaw/pitsaw.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace ps = pitsaw;

namespace {

using result = ps::task<ps::io_result<void>>;

result echo(ps::tcp_stream peer) {
    for (;;) {
        auto chunk = co_await ps::or_return(peer.receive());
        if (chunk.empty()) co_return {};
        co_await ps::or_return(peer.send_all(chunk));
    }
}

result serve(ps::tcp_listener& listener) {
    auto const accepts = [&](ps::task_group& clients) -> result {
        for (;;) clients.spawn(echo(co_await ps::or_return(listener.accept())));
    };
    co_return co_await ps::task_group::run(ps::on_failure::keep_others, accepts);
}

result serve_alone(std::uint16_t const port) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(port)));
    co_return co_await serve(listener);
}

result serve_on_each(std::uint16_t const port) {
    ps::tcp_listener_options shared;
    shared.reuse_port = true;
    auto const listens = [port, shared](std::uint32_t) -> result {
        auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(port), shared));
        co_return co_await serve(listener);
    };
    co_return co_await ps::on_each_worker(listens);
}

result serve_from_one(std::uint16_t const port) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(port)));
    auto const accepts = [&](ps::task_group& clients) -> result {
        for (;;) clients.spawn_anywhere(echo, co_await ps::or_return(listener.accept()));
    };
    co_return co_await ps::task_group::run(ps::on_failure::keep_others, accepts);
}

} // namespace

int main(int const count, char** const arguments) {
    if (count != 2 && count != 4) return 2;
    auto const port = static_cast<std::uint16_t>(std::atoi(arguments[1]));
    if (count == 2) return ps::run(serve_alone(port));
    ps::runtime_options options;
    options.workers = static_cast<std::uint32_t>(std::atoi(arguments[3]));
    if (std::string_view(arguments[2]) == "per_core") return ps::run(serve_on_each(port), options);
    options.scheduling = ps::scheduling::stealing;
    return ps::run(serve_from_one(port), options);
}
