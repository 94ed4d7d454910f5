#include "driver/sim/driver.hpp"

namespace pitsaw::inline v0 {

auto sim_driver::features() const noexcept -> driver_features {
    return {.name = "sim", .virtual_time = true};
}

} // namespace pitsaw::inline v0
