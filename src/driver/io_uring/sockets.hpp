#pragma once
#include <pitsaw/io/socket_command.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace pitsaw::inline v0 {

/// Writes the `sockaddr` of an address and returns its bytes, 0 for an unknown family.
[[nodiscard]] auto write_native_address(socket_address const& from, std::span<std::byte> to) noexcept
    -> std::uint32_t;
/// Returns 0 or `-errno`.
[[nodiscard]] auto control_socket(int fd, socket_command& command) noexcept -> int;

} // namespace pitsaw::inline v0
