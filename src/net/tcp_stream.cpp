#include <pitsaw/net/tcp_stream.hpp>

#include "net/ask_endpoint.hpp"

#include <pitsaw/base/check.hpp>
#include <pitsaw/io/driver.hpp>
#include <pitsaw/task/this_task.hpp>

#include <system_error>
#include <utility>

namespace pitsaw::inline v0 {

close_operation::close_operation(tcp_stream& of) noexcept
    : plain_operation(op_code::close, of.own_), of_(of) {}

std::coroutine_handle<> close_operation::start(promise_header& header) noexcept {
    if (!header.env->stop.stop_requested()) of_.own_ = {}; // from here on it is the driver's
    return plain_operation::start(header);
}

tcp_stream::~tcp_stream() {
    if (!own_) return;
    auto* const here = current_executor();
    check(here == nullptr || home_ == executor_ref(*here),
          "a tcp_stream was destroyed on another worker than its own");
    home_->io->discard(own_);
}

tcp_stream_in_transit::tcp_stream_in_transit(tcp_stream&& leaving) noexcept {
    if (!leaving) return;
    check(leaving.home_.is_current(), "a tcp_stream was sent away by another worker than its own");
    auto const left = leaving.home_->io->detach(leaving.own_);
    check(left.has_value(), "a tcp_stream was sent to another worker with an operation in flight on it");
    leaving.own_ = {};
    handle_ = *left;
}

tcp_stream_in_transit::~tcp_stream_in_transit() {
    if (handle_ == native_handle::none) return;
    auto* const here = current_executor();
    check(here != nullptr, "a tcp_stream that never arrived is destroyed by no worker");
    if (auto const taken = here->io->attach(handle_); taken.has_value()) here->io->discard(*taken);
}

tcp_stream& tcp_stream_in_transit::arrive() {
    if (handle_ == native_handle::none) return stream_;
    auto& here = *current_executor();
    auto const taken = here.io->attach(std::exchange(handle_, native_handle::none));
    if (!taken.has_value()) throw std::system_error(taken.error(), "a tcp_stream arrives at a worker");
    stream_ = tcp_stream(here, *taken);
    return stream_;
}

task<io_result<tcp_stream>> tcp_stream::connect(endpoint const to, tcp_stream_options const how) {
    environment const& env = co_await this_task::get_environment();
    auto const home = env.executor;
    auto const opened = home->io->open_stream(to.family());
    if (!opened.has_value()) co_return std::unexpected(opened.error());
    tcp_stream made(home, *opened);
    if (auto const set = made.set_up(how); !set.has_value()) co_return std::unexpected(set.error());
    auto const connected = co_await connect_operation(made.own_, to.as_socket_address());
    if (!connected.has_value()) co_return std::unexpected(connected.error());
    co_return io_result<tcp_stream>(std::move(made));
}

io_result<endpoint> tcp_stream::local_endpoint() const noexcept {
    return ask_endpoint(home_, own_, socket_command::local_address);
}

io_result<endpoint> tcp_stream::peer_endpoint() const noexcept {
    return ask_endpoint(home_, own_, socket_command::peer_address);
}

io_result<void> tcp_stream::set_option(socket_option const which, std::int32_t const value) noexcept {
    if (!own_) return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
    socket_command set{.what = socket_command::set_option, .option = which, .value = value};
    return home_->io->control(own_, set);
}

io_result<void> tcp_stream::set_options(tcp_stream_options const how) noexcept {
    auto done = set_option(socket_option::no_delay, how.no_delay ? 1 : 0);
    if (done) done = set_option(socket_option::keep_alive, how.keep_alive ? 1 : 0);
    return done ? set_buffer_bytes(how) : done;
}

io_result<void> tcp_stream::set_up(tcp_stream_options const how) noexcept {
    io_result<void> done;
    if (how.no_delay) done = set_option(socket_option::no_delay, 1);
    if (done && how.keep_alive) done = set_option(socket_option::keep_alive, 1);
    return done ? set_buffer_bytes(how) : done;
}

io_result<void> tcp_stream::set_buffer_bytes(tcp_stream_options const& how) noexcept {
    io_result<void> done;
    if (how.send_buffer_bytes != 0)
        done = set_option(socket_option::send_buffer_bytes, how.send_buffer_bytes);
    if (done && how.receive_buffer_bytes != 0)
        done = set_option(socket_option::receive_buffer_bytes, how.receive_buffer_bytes);
    return done;
}

} // namespace pitsaw::inline v0
