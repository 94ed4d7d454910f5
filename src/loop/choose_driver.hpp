#pragma once
#include <pitsaw/io/driver.hpp>

#include <memory>

namespace pitsaw::inline v0 {

/// The driver for this machine: the one that the environment variable PITSAW_DRIVER names, `sim` or
/// `epoll`; where it is not set, that of the operating system, whose time is real.
///
/// `sim` is a calm world of its own, where time is virtual and waiting costs nothing: for tests and examples.
/// Errors: std::bad_alloc; std::system_error where the system refuses, as when it has no descriptors left.
/// An unknown name is a failed check.
[[nodiscard]] std::unique_ptr<driver> choose_driver();

} // namespace pitsaw::inline v0
