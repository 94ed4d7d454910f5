#include "os/posix/address.hpp"

#include <netinet/in.h>

#include <cstring>

namespace pitsaw::inline v0 {

auto to_posix(socket_address const& address) noexcept -> posix_address {
    posix_address made;
    made.length = 0;
    switch (address.family) {
    case address_family::none:
        break;
    case address_family::ipv4: {
        sockaddr_in in = {};
        in.sin_family = AF_INET;
        in.sin_port = htons(address.port);
        std::memcpy(&in.sin_addr, address.bytes.data(), sizeof in.sin_addr);
        std::memcpy(&made.storage, &in, sizeof in);
        made.length = sizeof in;
        break;
    }
    case address_family::ipv6: {
        sockaddr_in6 in = {};
        in.sin6_family = AF_INET6;
        in.sin6_port = htons(address.port);
        in.sin6_scope_id = address.scope;
        std::memcpy(&in.sin6_addr, address.bytes.data(), sizeof in.sin6_addr);
        std::memcpy(&made.storage, &in, sizeof in);
        made.length = sizeof in;
        break;
    }
    }
    return made;
}

auto from_posix(posix_address const& address) noexcept -> socket_address {
    socket_address made;
    if (address.length >= sizeof(sockaddr_in) && address.storage.ss_family == AF_INET) {
        sockaddr_in in;
        std::memcpy(&in, &address.storage, sizeof in);
        made.family = address_family::ipv4;
        made.port = ntohs(in.sin_port);
        std::memcpy(made.bytes.data(), &in.sin_addr, sizeof in.sin_addr);
    } else if (address.length >= sizeof(sockaddr_in6) && address.storage.ss_family == AF_INET6) {
        sockaddr_in6 in;
        std::memcpy(&in, &address.storage, sizeof in);
        made.family = address_family::ipv6;
        made.port = ntohs(in.sin6_port);
        made.scope = in.sin6_scope_id;
        std::memcpy(made.bytes.data(), &in.sin6_addr, sizeof in.sin6_addr);
    }
    return made;
}

} // namespace pitsaw::inline v0
