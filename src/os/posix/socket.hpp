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
/// Whether bytes have no borders in it, so that a short transfer means that there is no more: SO_TYPE.
[[nodiscard]] auto is_stream(int fd) noexcept -> bool;

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
[[nodiscard]] auto is_listener(int fd) noexcept -> bool;
[[nodiscard]] auto has_peer(int fd) noexcept -> bool;

/// What is true of a connection now, whatever was read before.
struct hang_up {
    bool peer_finished = false;
    bool both_finished = false; // or never connected
    bool error = false;         // `take_error` has one, unless another call took it
};
[[nodiscard]] auto look_for_hang_up(int fd) noexcept -> hang_up;

} // namespace pitsaw::inline v0::posix
