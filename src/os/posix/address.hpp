#pragma once
#include <pitsaw/io/socket_address.hpp>

#include <sys/socket.h>

namespace pitsaw::inline v0 {

/// A `sockaddr` and its length, as socket calls take and return them.
struct posix_address {
    sockaddr_storage storage = {};
    socklen_t length = sizeof(sockaddr_storage); // bytes; 0: the address has no translation

    [[nodiscard]] auto get() noexcept -> sockaddr* { return reinterpret_cast<sockaddr*>(&storage); }
};

/// `length` is 0 for a family that POSIX sockets of ours do not have.
[[nodiscard]] auto to_posix(socket_address const& address) noexcept -> posix_address;
/// Family `none` for whatever is neither IPv4 nor IPv6.
[[nodiscard]] auto from_posix(posix_address const& address) noexcept -> socket_address;

} // namespace pitsaw::inline v0
