// asio_coroutines ADDRESS PORT [THREADS]: Boost.Asio on one thread or more, a coroutine for each connection.
#include <array>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <thread>
#include <utility> // Boost 1.74 forgets it
#include <vector>

#include <boost/asio.hpp>

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

asio::awaitable<void> echo(tcp::socket peer) {
    std::array<char, 1024> buffer;
    try {
        for (;;) {
            std::size_t const count =
                co_await peer.async_read_some(asio::buffer(buffer), asio::use_awaitable);
            co_await asio::async_write(peer, asio::buffer(buffer, count), asio::use_awaitable);
        }
    } catch (boost::system::system_error const&) {
        // The peer has finished.
    }
}

asio::awaitable<void> serve(tcp::endpoint const at) {
    auto const executor = co_await asio::this_coro::executor;
    tcp::acceptor listener(executor, at);
    for (;;) {
        tcp::socket peer = co_await listener.async_accept(asio::use_awaitable);
        peer.set_option(tcp::no_delay(true));
        asio::co_spawn(executor, echo(std::move(peer)), asio::detached);
    }
}

} // namespace

int main(int const count, char** const arguments) {
    int const threads = count > 3 ? std::atoi(arguments[3]) : 1;
    asio::io_context context(threads);
    tcp::endpoint const at(asio::ip::make_address(arguments[1]),
                           static_cast<unsigned short>(std::atoi(arguments[2])));
    asio::co_spawn(context, serve(at), asio::detached);
    std::vector<std::jthread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back([&] { context.run(); });
    context.run();
}
