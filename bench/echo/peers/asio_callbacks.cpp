// asio_callbacks ADDRESS PORT: Boost.Asio on one thread, a session object for each connection.
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

#include <boost/asio.hpp>

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

class session : public std::enable_shared_from_this<session> {
  public:
    explicit session(tcp::socket peer) : peer_(std::move(peer)) {}

    void read() {
        peer_.async_read_some(asio::buffer(buffer_),
                              [self = shared_from_this()](error_code failure, std::size_t count) {
                                  if (!failure) self->write(count);
                              });
    }

  private:
    void write(std::size_t const count) {
        asio::async_write(peer_, asio::buffer(buffer_, count),
                          [self = shared_from_this()](error_code failure, std::size_t) {
                              if (!failure) self->read();
                          });
    }

    tcp::socket peer_;
    std::array<char, 1024> buffer_;
};

void accept(tcp::acceptor& listener) {
    listener.async_accept([&listener](error_code failure, tcp::socket peer) {
        if (!failure) {
            peer.set_option(tcp::no_delay(true));
            std::make_shared<session>(std::move(peer))->read();
        }
        accept(listener);
    });
}

} // namespace

int main(int, char** const arguments) {
    asio::io_context context(1);
    tcp::acceptor listener(context, {asio::ip::make_address(arguments[1]),
                                     static_cast<unsigned short>(std::atoi(arguments[2]))});
    accept(listener);
    context.run();
}
