#pragma once
#include <pitsaw/io/driver.hpp>

#include <memory>

namespace pitsaw::inline v0 {

/// The driver for this machine. Errors: std::bad_alloc.
[[nodiscard]] std::unique_ptr<driver> choose_driver();

} // namespace pitsaw::inline v0
