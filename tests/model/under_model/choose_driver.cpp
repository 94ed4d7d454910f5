#include "loop/choose_driver.hpp"

#include "driver/sim/driver.hpp"

namespace pitsaw::inline v0 {

/// The system cannot be run twice the same way, so under the model each runtime has the simulated driver.
auto choose_driver() -> std::unique_ptr<driver> {
    return std::make_unique<sim_driver>(sim_driver_options::calm());
}
auto choose_driver_again() -> std::unique_ptr<driver> { return choose_driver(); }

} // namespace pitsaw::inline v0
