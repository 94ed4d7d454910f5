#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace pitsaw::inline v0 {

enum class address_family : std::uint16_t { none, ipv4, ipv6 };

/// Where a socket is, as every driver reads it: plain data, without the layout of any system's `sockaddr`.
///
/// `net/endpoint.hpp` parses and prints it. Size: 24 bytes. Source: RFC 791, RFC 4291, RFC 4007 for the
/// scope.
struct socket_address {
    address_family family = address_family::none;
    std::uint16_t port = 0;               // host order
    std::uint32_t scope = 0;              // ipv6: the interface's index, 0 for none
    std::array<std::byte, 16> bytes = {}; // network order; ipv4 uses the first four

    friend constexpr bool operator==(socket_address const&, socket_address const&) noexcept = default;
};
static_assert(sizeof(socket_address) == 24);

} // namespace pitsaw::inline v0
