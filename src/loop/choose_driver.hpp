#pragma once
#include <pitsaw/io/driver.hpp>

#include <memory>

namespace pitsaw::inline v0 {

/// The driver for this machine: the one that the environment variable PITSAW_DRIVER names, `io_uring`,
/// `epoll` or `sim`; where it is not set, io_uring, and epoll where the system refuses that, which one line
/// on standard error says, with the reason.
///
/// `sim` is a calm world of its own, where time is virtual and waiting costs nothing: for tests and examples.
/// Errors: std::bad_alloc; std::system_error where the system refuses the named driver, or all of them, as
/// when it has no descriptors left, and where the name means no driver of this system.
[[nodiscard]] std::unique_ptr<driver> choose_driver();

} // namespace pitsaw::inline v0
