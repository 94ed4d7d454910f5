#pragma once
#include <pitsaw/io/driver.hpp>

#include <memory>
#include <string>
#include <system_error>

namespace pitsaw::inline v0 {

/// The driver of a runtime on this machine, and why it is that one.
struct driver_choice {
    std::unique_ptr<driver> made; // null: none works
    std::string why;              // in half a sentence
    std::error_code error;        // of the driver that was named, or of the last that was tried
    bool is_a_fallback = false;   // the system refuses the one that comes first
};

/// Tries what `choose_driver` would take, and says what came of it.
///
/// Errors: std::bad_alloc; all others are in the choice.
[[nodiscard]] auto consider_drivers() -> driver_choice;

/// The driver for this machine: the one that the environment variable PITSAW_DRIVER names, `io_uring`,
/// `epoll` or `sim`; where it is not set, io_uring, and epoll where the system refuses that, which one line
/// on standard error says, with the reason.
///
/// `sim` is a calm world of its own, where time is virtual and waiting costs nothing: for tests and examples.
/// Errors: std::bad_alloc; std::system_error where the system refuses the named driver, or all of them, as
/// when it has no descriptors left, and where the name means no driver of this system.
[[nodiscard]] std::unique_ptr<driver> choose_driver();

/// The same for one more worker of a runtime, without the line.
[[nodiscard]] std::unique_ptr<driver> choose_driver_again();

} // namespace pitsaw::inline v0
