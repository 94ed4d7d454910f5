#pragma once
#include <pitsaw/sim/world.hpp>

#include "driver/sim/driver.hpp"
#include "loop/worker.hpp"

#include <cstdint>
#include <vector>

namespace pitsaw::inline v0::sim {

/// What a world is made of. Lifetime: the world's.
struct world::parts {
    explicit parts(world_options options);
    ~parts();

    sim_driver* net; ///< the runtime's driver
    runtime rt;
    std::int64_t frames_before;
    std::vector<descriptor> streams; ///< made for the user, closed with the world
};

} // namespace pitsaw::inline v0::sim
