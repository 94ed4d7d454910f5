#include "loop/choose_driver.hpp"

#include "driver/sim/driver.hpp"

namespace pitsaw::inline v0 {

// Until there is a driver of an operating system: a calm world of its own, where waiting costs nothing.
std::unique_ptr<driver> choose_driver() { return std::make_unique<sim_driver>(sim_driver_options::calm()); }

} // namespace pitsaw::inline v0
