#include <pitsaw/net/tcp_listener.hpp>

#include "net/ask_endpoint.hpp"

#include <pitsaw/base/check.hpp>
#include <pitsaw/io/driver.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/sleep.hpp>

#include <algorithm>
#include <system_error>

namespace pitsaw::inline v0 {
namespace {

/// What goes away by itself when somebody else closes or frees something; ENOSPC is epoll's limit of watches.
constexpr std::errc shortages[] = {std::errc::too_many_files_open, std::errc::too_many_files_open_in_system,
                                   std::errc::no_buffer_space, std::errc::not_enough_memory,
                                   std::errc::no_space_on_device};

auto is_shortage(std::error_code const error) noexcept -> bool {
    return std::ranges::any_of(shortages, [error](std::errc const each) { return error == each; });
}

} // namespace

accept_operation::~accept_operation() {
    if (has_ended() && !is_taken_ && result_ >= 0) (void)await_resume();
}

io_result<tcp_stream> accept_operation::await_resume() noexcept {
    is_taken_ = true;
    if (result_ < 0) return std::unexpected(to_error(result_));
    auto const own = home_->io->attach(native_handle(result_));
    if (!own) return std::unexpected(own.error());
    return tcp_stream(home_, *own);
}

tcp_listener::~tcp_listener() {
    if (!own_) return;
    auto* const here = current_executor();
    check(here == nullptr || home_ == executor_ref(*here),
          "a tcp_listener was destroyed on another worker than its own");
    home_->io->discard(own_);
}

io_result<void> tcp_listener::set_up(endpoint const at) noexcept {
    auto const set = [this](socket_option which, bool value) {
        socket_command command{.what = socket_command::set_option, .option = which, .value = value ? 1 : 0};
        return home_->io->control(own_, command);
    };
    auto done = set(socket_option::reuse_address, options_.reuse_address);
    if (done && options_.reuse_port) done = set(socket_option::reuse_port, true);
    if (done && at.family() == address_family::ipv6) done = set(socket_option::only_ipv6, options_.only_ipv6);
    socket_command bind{.what = socket_command::bind, .address = at.as_socket_address()};
    if (done) done = home_->io->control(own_, bind);
    socket_command listen{.what = socket_command::listen, .value = options_.backlog_max};
    if (done) done = home_->io->control(own_, listen);
    return done;
}

task<io_result<tcp_listener>> tcp_listener::bind(endpoint const at, tcp_listener_options const how) {
    environment const& env = co_await this_task::get_environment();
    auto const home = env.executor;
    auto const opened = home->io->open_stream(at.family());
    if (!opened.has_value()) co_return std::unexpected(opened.error());
    tcp_listener made(home, *opened, how);
    if (auto const done = made.set_up(at); !done.has_value()) co_return std::unexpected(done.error());
    co_return io_result<tcp_listener>(std::move(made));
}

task<io_result<tcp_stream>> tcp_listener::accept() {
    duration pause = pause_min;
    for (;;) {
        auto got = co_await accept_operation(home_, own_);
        if (got.has_value()) {
            // An option that the peer's early end made impossible is no reason to refuse it.
            (void)got->set_up(options_.accepted);
            co_return got;
        }
        if (!is_shortage(got.error())) co_return got;
        co_await sleep(pause);
        pause = std::min(2 * pause, pause_max);
    }
}

io_result<endpoint> tcp_listener::local_endpoint() const noexcept {
    return ask_endpoint(home_, own_, socket_command::local_address);
}

} // namespace pitsaw::inline v0
