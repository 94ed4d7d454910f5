#include "driver/epoll/driver.hpp"

namespace pitsaw::inline v0 {

auto epoll_driver::features() const noexcept -> driver_features {
    return {.name = "epoll", .virtual_time = false};
}

} // namespace pitsaw::inline v0
