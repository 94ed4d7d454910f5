#pragma once
#include <cstdint>
#include <string>

/// What the system allows this process. No policy. Threads: any.
namespace pitsaw::inline v0 {

enum class limit : std::uint8_t {
    nofile,  // RLIMIT_NOFILE: descriptors
    memlock, // RLIMIT_MEMLOCK: bytes that rings of io_uring count against
};
/// The soft limit as a user reads it: "1024", "64 KiB", "unlimited".
[[nodiscard]] auto limit_text(limit which) -> std::string;

/// A field of /proc/self/status, or empty.
[[nodiscard]] auto process_status(char const* field) -> std::string;

/// The first line of a file, as those of /proc/sys are; empty where there is none.
[[nodiscard]] auto first_line(char const* path) -> std::string;

/// Name and release of the kernel: "Linux 6.1.0-18-amd64".
[[nodiscard]] auto kernel_release() -> std::string;

} // namespace pitsaw::inline v0
