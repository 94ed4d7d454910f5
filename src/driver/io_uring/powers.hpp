#pragma once
#include <pitsaw/io/result.hpp>

#include <cstdint>

namespace pitsaw::inline v0 {

/// What a kernel's io_uring can do beyond the least that the driver needs.
struct io_uring_powers {
    bool registered_ring_fd = true; // spares a look-up at each enter
    bool buffer_rings = true;       // otherwise a pooled receive looks first and then takes its buffer
    bool multishot_accept = true;   // otherwise a multishot operation ends after one event
    bool multishot_receive = true;
    bool message_wake = true; // IORING_REGISTER_SEND_MSG_RING; otherwise an eventfd

    friend constexpr bool operator==(io_uring_powers const&, io_uring_powers const&) noexcept = default;
};

/// How a driver is made: what it may use, and the sizes of its rings, which are rounded up to powers of two.
///
/// Where memory is short (RLIMIT_MEMLOCK of 64 KiB for all rings of a user, since Linux 6.14 again) the rings
/// are halved until they fit.
struct io_uring_options {
    std::uint32_t submissions = 256;
    std::uint32_t completions = 1024;
    io_uring_powers allowed = {};
};

/// Asks the running kernel, by trying each on a ring of its own. No room for one more ring: no powers.
/// Errors: what the system says to a ring that it has made and that does not work, as where a filter of
/// system calls knows io_uring_setup and not the other two.
[[nodiscard]] auto probe_io_uring_powers() noexcept -> io_result<io_uring_powers>;

} // namespace pitsaw::inline v0
