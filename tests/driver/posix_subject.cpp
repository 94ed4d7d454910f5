#include "driver/posix_subject.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace pitsaw::laws {
namespace {

void must(bool holds, char const* what) {
    if (!holds) throw std::system_error(errno, std::generic_category(), what);
}

/// Binds to a free port of the loopback interface and returns it.
auto bind_somewhere(int fd) -> std::uint16_t {
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0, "bind");
    socklen_t length = sizeof at;
    must(::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &length) == 0, "getsockname");
    return ntohs(at.sin_port);
}

auto address_bytes(std::uint16_t port) -> std::vector<std::byte> {
    socket_address const at{.family = address_family::ipv4,
                            .port = port,
                            .scope = 0,
                            .bytes = {std::byte{127}, std::byte{0}, std::byte{0}, std::byte{1}}};
    auto const bytes = std::bit_cast<std::array<std::byte, sizeof at>>(at);
    return {bytes.begin(), bytes.end()};
}

} // namespace

posix_subject::posix_subject(std::unique_ptr<driver> judged, posix_options options)
    : judged_(std::move(judged)), options_(options) {}

auto posix_subject::make_fd() const -> int {
    auto const fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(fd >= 0, "socket");
    if (options_.buffer_bytes != 0)
        for (auto const which : {SO_SNDBUF, SO_RCVBUF})
            must(::setsockopt(fd, SOL_SOCKET, which, &options_.buffer_bytes, sizeof(int)) == 0, "setsockopt");
    return fd;
}

auto posix_subject::attach(int fd) -> descriptor {
    auto const made = judged_->attach(native_handle(fd));
    if (!made) throw std::system_error(made.error(), "attach");
    fds_[made->index] = fd;
    return *made;
}

auto posix_subject::connected_pair() -> std::pair<descriptor, descriptor> {
    auto const listener = make_fd(); // an accepted socket has its buffers' sizes
    auto const port = bind_somewhere(listener);
    must(::listen(listener, 1) == 0, "listen");
    auto const one = make_fd();
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(::connect(one, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0, "connect");
    auto const other = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    must(other >= 0, "accept");
    ::close(listener);
    return {attach(one), attach(other)};
}

auto posix_subject::socket() -> descriptor { return attach(make_fd()); }

auto posix_subject::listen(std::size_t backlog_max) -> listening {
    auto const fd = make_fd();
    auto const port = bind_somewhere(fd);
    must(::listen(fd, static_cast<int>(backlog_max)) == 0, "listen");
    return {attach(fd), address_bytes(port)};
}

/// Port 1 is tcpmux, which nobody serves: RFC 7805 makes it historic. A free port could be another test's
/// soon.
auto posix_subject::address_of_nobody() -> std::vector<std::byte> { return address_bytes(1); }

auto posix_subject::file() -> native_handle {
    auto const fd = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    must(fd >= 0, "open");
    return native_handle(fd);
}

/// connect(2): AF_UNSPEC dissolves the association; Linux sends a reset to the peer and leaves ECONNRESET
/// here (tcp_disconnect), and the descriptor stays as it is.
void posix_subject::reset(descriptor stream) {
    sockaddr nobody = {};
    nobody.sa_family = AF_UNSPEC;
    must(::connect(fds_.at(stream.index), &nobody, sizeof nobody) == 0, "connect to AF_UNSPEC");
}

auto posix_subject::open_objects() -> std::size_t {
    auto const all = std::filesystem::directory_iterator("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all))) - 1; // that of the iterator itself
}

void posix_subject::abandon() noexcept {
    std::array<event, 16> out;
    auto const deadline = saturating_add(judged_->now(), std::chrono::seconds(10));
    while (judged_->drain(out, deadline).remaining != 0 && judged_->now() < deadline) {
    }
}

} // namespace pitsaw::laws
