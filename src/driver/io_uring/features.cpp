#include "driver/io_uring/driver.hpp"

namespace pitsaw::inline v0 {

auto io_uring_driver::features() const noexcept -> driver_features { return {.name = "io_uring"}; }

} // namespace pitsaw::inline v0
