#pragma once

namespace pitsaw::cli {

/// Prints what this machine gives a runtime: kernel, limits, the powers of io_uring and what the lack of each
/// costs, epoll, and the driver that a runtime would get here and now, with the reason.
///
/// Returns the status to exit with: 0 if a driver works, 1 if none does.
[[nodiscard]] auto doctor() -> int;

} // namespace pitsaw::cli
