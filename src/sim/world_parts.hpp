#pragma once
#include <pitsaw/sim/world.hpp>

#include "driver/sim/driver.hpp"
#include "loop/worker.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace pitsaw::inline v0::sim {

/// What a world is made of. Lifetime: the world's.
struct world::parts final : sim_observer {
    explicit parts(world_options options);
    ~parts() override;

    [[nodiscard]] auto cancel_takes(operation const& op) noexcept -> std::optional<duration> override;
    void stuck() noexcept override;

    sim_driver* net = nullptr; ///< the runtime's driver
    runtime rt;
    /// How long cancels take while a harness decides that; without one the seed does.
    std::function<std::optional<duration>(operation const&)> cancel_time;
    std::int64_t frames_before;
    std::vector<descriptor> streams; ///< made for the user, closed with the world
};

} // namespace pitsaw::inline v0::sim
