#pragma once
#include <pitsaw/io/buffer.hpp>
#include <pitsaw/io/socket_address.hpp>
#include <pitsaw/io/socket_command.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

/// The socket calls of POSIX as drivers need them: what they return is a count, a descriptor, 0 or `-errno`.
///
/// No policy: no call retries, waits or chooses an option that its caller did not name. Sockets made here do
/// not survive exec. Threads: any.
namespace pitsaw::inline v0::posix {

inline constexpr std::int32_t would_block = -11; // -EAGAIN, and -EWOULDBLOCK as well; checked in socket.cpp

enum class wait_mode : std::uint8_t { blocking, non_blocking };
[[nodiscard]] auto open_stream(address_family family, wait_mode mode) noexcept -> std::int32_t;
[[nodiscard]] auto control(int fd, socket_command& command) noexcept -> std::int32_t;
[[nodiscard]] auto make_non_blocking(int fd) noexcept -> std::int32_t;
/// Whether it is TCP: a receive that brings less than there was room for means that there is no more, unless
/// the peer sends urgent data (a local socket also stops where descriptors are passed).
[[nodiscard]] auto is_tcp(int fd) noexcept -> bool;
/// Whether a result tells that the connection is broken. The kernel tells it once, to whoever asks first.
[[nodiscard]] auto is_broken(std::int32_t result) noexcept -> bool;
/// Whether an accept's error is one that the new connection has met already, which Linux passes on and which
/// is none of the listener's: accept(2).
[[nodiscard]] auto is_of_the_accepted(std::int32_t result) noexcept -> bool;

[[nodiscard]] auto receive(int fd, std::span<std::byte> into) noexcept -> std::int32_t;
/// As a receive of one byte that leaves it where it is.
[[nodiscard]] auto peek(int fd) noexcept -> std::int32_t;
/// A peer that is gone is an error and no SIGPIPE.
[[nodiscard]] auto send(int fd, std::span<std::byte const> bytes) noexcept -> std::int32_t;
[[nodiscard]] auto send(int fd, std::span<source_span const> pieces) noexcept -> std::int32_t;
[[nodiscard]] auto accept(int fd) noexcept -> std::int32_t;
/// `-EINPROGRESS`: it goes on; writability and `take_error` tell how it ended.
[[nodiscard]] auto connect(int fd, socket_address const& to) noexcept -> std::int32_t;
[[nodiscard]] auto shutdown_sending(int fd) noexcept -> std::int32_t;

/// The pending error of a socket, negative, which the call clears: SO_ERROR. 0: none.
[[nodiscard]] auto take_error(int fd) noexcept -> std::int32_t;
/// 0, or why nobody can be watched on it: not a socket, a listener.
[[nodiscard]] auto look_whether_watchable(int fd) noexcept -> std::int32_t;
/// 0, or why it has none: not a socket, not connected.
[[nodiscard]] auto look_for_peer(int fd) noexcept -> std::int32_t;

/// What is true of a connection now, whatever was read before.
struct hang_up {
    bool peer_finished = false;
    bool both_finished = false; // or never connected
    bool error = false;         // `take_error` has one, unless another call took it
};
[[nodiscard]] auto look_for_hang_up(int fd) noexcept -> hang_up;

} // namespace pitsaw::inline v0::posix
