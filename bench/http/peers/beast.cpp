// beast ADDRESS PORT: Boost.Beast on one thread, with callbacks, which is its fastest way.
#include <boost/asio.hpp>
#include <boost/beast.hpp>

#include <cstdlib>
#include <memory>
#include <utility>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

struct session : std::enable_shared_from_this<session> {
    explicit session(tcp::socket peer) : stream(std::move(peer)) {}

    beast::tcp_stream stream;
    beast::flat_buffer buffer;
    http::request<http::empty_body> request;
    http::response<http::string_body> answer;

    void read() {
        request = {};
        http::async_read(stream, buffer, request,
                         [self = shared_from_this()](beast::error_code error, std::size_t) {
                             if (!error) self->write();
                         });
    }
    void write() {
        answer = {};
        answer.version(request.version());
        answer.result(http::status::ok);
        answer.set(http::field::content_type, "text/plain");
        answer.keep_alive(request.keep_alive());
        answer.body() = "Hello, world!";
        answer.prepare_payload();
        http::async_write(stream, answer, [self = shared_from_this()](beast::error_code error, std::size_t) {
            if (!error) self->read();
        });
    }
};

void accept(tcp::acceptor& from) {
    from.async_accept([&from](beast::error_code error, tcp::socket peer) {
        if (!error) {
            peer.set_option(tcp::no_delay(true));
            std::make_shared<session>(std::move(peer))->read();
        }
        accept(from);
    });
}

int main(int, char** words) {
    asio::io_context context(1);
    tcp::acceptor acceptor(
        context, {asio::ip::make_address(words[1]), static_cast<unsigned short>(std::atoi(words[2]))});
    accept(acceptor);
    context.run();
}
