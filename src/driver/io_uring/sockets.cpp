#include "driver/io_uring/sockets.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace pitsaw::inline v0 {

auto write_native_address(socket_address const& from, std::span<std::byte> to) noexcept -> std::uint32_t {
    if (from.family == address_family::ipv4) {
        sockaddr_in made{};
        made.sin_family = AF_INET;
        made.sin_port = htons(from.port);
        std::memcpy(&made.sin_addr, from.bytes.data(), 4);
        std::memcpy(to.data(), &made, sizeof made);
        return sizeof made;
    }
    if (from.family != address_family::ipv6) return 0;
    sockaddr_in6 made{};
    made.sin6_family = AF_INET6;
    made.sin6_port = htons(from.port);
    made.sin6_scope_id = from.scope;
    std::memcpy(&made.sin6_addr, from.bytes.data(), 16);
    std::memcpy(to.data(), &made, sizeof made);
    return sizeof made;
}

auto control_socket(int fd, socket_command& command) noexcept -> int {
    alignas(8) std::byte native[64] = {};
    if (command.what == socket_command::bind) {
        auto const bytes = write_native_address(command.address, native);
        return ::bind(fd, reinterpret_cast<sockaddr*>(native), bytes) == 0 ? 0 : -errno;
    }
    if (command.what == socket_command::listen) return ::listen(fd, command.value) == 0 ? 0 : -errno;
    if (command.what == socket_command::local_address) {
        socklen_t bytes = sizeof native;
        if (getsockname(fd, reinterpret_cast<sockaddr*>(native), &bytes) != 0) return -errno;
        sockaddr_in from{};
        std::memcpy(&from, native, sizeof from);
        command.address = {.family = address_family::ipv4, .port = ntohs(from.sin_port)};
        std::memcpy(command.address.bytes.data(), &from.sin_addr, 4);
        return 0;
    }
    return -EOPNOTSUPP;
}

} // namespace pitsaw::inline v0
