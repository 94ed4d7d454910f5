#pragma once
#include <linux/io_uring.h>

#include <cstdint>

/// What the oldest kernel header that we build with (Linux 6.1) does not name yet. The numbers are the
/// kernel's own (include/uapi/linux/io_uring.h of Linux 6.13) and never change.
namespace pitsaw::inline v0::kernel {

inline constexpr std::uint32_t setup_no_sqarray = 1U << 16;     // IORING_SETUP_NO_SQARRAY, Linux 6.6
inline constexpr std::uint32_t register_send_msg_ring = 31;     // IORING_REGISTER_SEND_MSG_RING, Linux 6.13
inline constexpr std::uint32_t enter_registered_ring = 1U << 4; // IORING_ENTER_REGISTERED_RING, Linux 5.18

} // namespace pitsaw::inline v0::kernel
