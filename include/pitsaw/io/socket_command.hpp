#pragma once
#include <pitsaw/io/socket_address.hpp>

#include <cstdint>

namespace pitsaw::inline v0 {

/// What `driver::control` can set; `value` is 0 or 1 unless a unit is named.
enum class socket_option : std::uint8_t {
    reuse_address,        // SO_REUSEADDR
    reuse_port,           // SO_REUSEPORT: several listeners share a port
    only_ipv6,            // IPV6_V6ONLY
    no_delay,             // TCP_NODELAY
    keep_alive,           // SO_KEEPALIVE
    send_buffer_bytes,    // SO_SNDBUF
    receive_buffer_bytes, // SO_RCVBUF
    reset_on_close,       // SO_LINGER with no time: closing breaks the connection
};

/// A call on a socket that never waits: what a driver does at once, off the hot path.
///
/// ```
/// socket_command bind{.what = socket_command::bind, .address = at};
/// if (auto done = driver.control(listener, bind); !done) return done.error();
/// ```
struct socket_command {
    enum kind : std::uint8_t {
        bind,           // address, which it leaves as it is: local_address tells what port 0 became
        listen,         // value: connections that may wait to be accepted
        local_address,  // writes address
        peer_address,   // writes address
        set_option,     // option, value
        look_for_input, // of a connection; writes value: 1 if a receive would end at once, else 0
    };

    kind what;
    socket_option option = socket_option::reuse_address;
    std::int32_t value = 0;
    socket_address address = {};
};

} // namespace pitsaw::inline v0
