#include "os/posix/socket.hpp"

#include "os/posix/address.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace pitsaw::inline v0::posix {

static_assert(would_block == -EAGAIN && would_block == -EWOULDBLOCK);
static_assert(sizeof(source_span) == sizeof(iovec) &&
              offsetof(source_span, length) == offsetof(iovec, iov_len));

namespace {

template <class Result> auto checked(Result result) noexcept -> std::int32_t {
    return result < 0 ? -errno : static_cast<std::int32_t>(result);
}

auto set(int fd, int level, int name, int value) noexcept -> std::int32_t {
    return checked(::setsockopt(fd, level, name, &value, sizeof value));
}

auto set_option(int fd, socket_option which, int value) noexcept -> std::int32_t {
    switch (which) {
    case socket_option::reuse_address:
        return set(fd, SOL_SOCKET, SO_REUSEADDR, value);
    case socket_option::reuse_port:
        return set(fd, SOL_SOCKET, SO_REUSEPORT, value);
    case socket_option::only_ipv6:
        return set(fd, IPPROTO_IPV6, IPV6_V6ONLY, value);
    case socket_option::no_delay:
        return set(fd, IPPROTO_TCP, TCP_NODELAY, value);
    case socket_option::keep_alive:
        return set(fd, SOL_SOCKET, SO_KEEPALIVE, value);
    case socket_option::send_buffer_bytes:
        return set(fd, SOL_SOCKET, SO_SNDBUF, value);
    case socket_option::receive_buffer_bytes:
        return set(fd, SOL_SOCKET, SO_RCVBUF, value);
    case socket_option::reset_on_close: {
        linger const no_time{.l_onoff = value != 0 ? 1 : 0, .l_linger = 0};
        return checked(::setsockopt(fd, SOL_SOCKET, SO_LINGER, &no_time, sizeof no_time));
    }
    }
    return -EINVAL;
}

template <class Call> auto read_address(int fd, Call call, socket_address& into) noexcept -> std::int32_t {
    posix_address found;
    auto const result = checked(call(fd, found.get(), &found.length));
    if (result == 0) into = from_posix(found);
    return result;
}

/// What is true now, of what is asked for and of errors.
auto look(int fd, int what) noexcept -> int {
    pollfd now = {.fd = fd, .events = static_cast<short>(what), .revents = 0};
    int count = 0;
    do count = ::poll(&now, 1, 0); // with a signal pending it is interrupted although it does not wait
    while (count < 0 && errno == EINTR);
    return count <= 0 ? 0 : now.revents;
}

} // namespace

auto open_stream(address_family family, wait_mode mode) noexcept -> std::int32_t {
    if (family == address_family::none) return -EAFNOSUPPORT;
    auto const domain = family == address_family::ipv4 ? AF_INET : AF_INET6;
    auto const waits = mode == wait_mode::blocking ? 0 : SOCK_NONBLOCK;
    return checked(::socket(domain, SOCK_STREAM | waits | SOCK_CLOEXEC, 0));
}

auto control(int fd, socket_command& command) noexcept -> std::int32_t {
    switch (command.what) {
    case socket_command::bind: {
        auto at = to_posix(command.address);
        if (at.length == 0) return -EAFNOSUPPORT;
        return checked(::bind(fd, at.get(), at.length));
    }
    case socket_command::listen:
        return checked(::listen(fd, command.value));
    case socket_command::local_address:
        return read_address(fd, ::getsockname, command.address);
    case socket_command::peer_address:
        return read_address(fd, ::getpeername, command.address);
    case socket_command::set_option:
        return set_option(fd, command.option, command.value);
    case socket_command::look_for_input:
        command.value = look(fd, POLLIN | POLLRDHUP) != 0;
        return 0;
    }
    return -EINVAL;
}

auto make_non_blocking(int fd) noexcept -> std::int32_t {
    auto const flags = ::fcntl(fd, F_GETFL);
    if (flags < 0) return -errno;
    return (flags & O_NONBLOCK) != 0 ? 0 : checked(::fcntl(fd, F_SETFL, flags | O_NONBLOCK));
}

auto is_tcp(int fd) noexcept -> bool {
    int protocol = 0;
    socklen_t length = sizeof protocol;
    return ::getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) == 0 && protocol == IPPROTO_TCP;
}

auto is_broken(std::int32_t result) noexcept -> bool {
    switch (-result) {
    case ECONNRESET:
    case ECONNABORTED:
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN:
        return true;
    default:
        return false;
    }
}

auto is_of_the_accepted(std::int32_t result) noexcept -> bool {
    switch (-result) {
    case ECONNABORTED:
    case ENETDOWN:
    case EPROTO:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case ENETUNREACH:
        return true;
    default:
        return false;
    }
}

auto receive(int fd, std::span<std::byte> into) noexcept -> std::int32_t {
    return checked(::recv(fd, into.data(), into.size(), 0));
}

auto peek(int fd) noexcept -> std::int32_t {
    std::byte unread;
    return checked(::recv(fd, &unread, 1, MSG_PEEK));
}

auto send(int fd, std::span<std::byte const> bytes) noexcept -> std::int32_t {
    return checked(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

auto send(int fd, std::span<source_span const> pieces) noexcept -> std::int32_t {
    msghdr message = {};
    // sendmsg(2) reads the pieces and does not write to them.
    message.msg_iov = const_cast<iovec*>(reinterpret_cast<iovec const*>(pieces.data()));
    message.msg_iovlen = pieces.size();
    return checked(::sendmsg(fd, &message, MSG_NOSIGNAL));
}

auto accept(int fd) noexcept -> std::int32_t {
    return checked(::accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

auto connect(int fd, socket_address const& to) noexcept -> std::int32_t {
    auto peer = to_posix(to);
    if (peer.length == 0) return -EAFNOSUPPORT;
    return checked(::connect(fd, peer.get(), peer.length));
}

auto shutdown_sending(int fd) noexcept -> std::int32_t { return checked(::shutdown(fd, SHUT_WR)); }

auto take_error(int fd) noexcept -> std::int32_t {
    int error = 0;
    socklen_t length = sizeof error;
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0) return -errno;
    return -error;
}

auto look_whether_watchable(int fd) noexcept -> std::int32_t {
    int listens = 0;
    socklen_t length = sizeof listens;
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) < 0) return -errno;
    return listens != 0 ? -ENOTCONN : 0;
}

auto look_for_peer(int fd) noexcept -> std::int32_t {
    posix_address peer;
    if (::getpeername(fd, peer.get(), &peer.length) == 0) return 0;
    return errno == ENOTCONN || errno == ENOTSOCK ? -errno : 0; // ENOBUFS: it could not say
}

auto look_for_hang_up(int fd) noexcept -> hang_up {
    auto const now = look(fd, POLLRDHUP);
    return {.peer_finished = (now & POLLRDHUP) != 0,
            .both_finished = (now & POLLHUP) != 0,
            .error = (now & POLLERR) != 0};
}

} // namespace pitsaw::inline v0::posix
