#pragma once
#include "driver/sim/driver.hpp"
#include "loop/worker.hpp"
#include "sim/fault_driver.hpp"

#include <pitsaw/executor/environment.hpp>
#include <pitsaw/sim/program.hpp>
#include <pitsaw/sim/world.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pitsaw::inline v0::sim {

/// A runtime of a world, and the program that runs on it: one life of a node.
///
/// Lifetime: the world's parts'. Threads: the world's.
class process final : sim_observer, worker_guide {
  public:
    /// `machines`: null for the world's own.
    process(world::parts& in, sim_host on, std::string name, runtime_options with, disk* machines);
    process(process&&) = delete;
    ~process() override;

    void start(std::function<std::unique_ptr<program>()> const& make);
    void start(program& what) noexcept; ///< that is somebody else's
    void stop() noexcept;
    /// Nothing it does reaches the world or its machine's disk any more; it unwinds, in a time of its own in
    /// which nothing waits for long.
    void become_a_ghost() noexcept;

    [[nodiscard]] bool is_done() const noexcept { return program_ != nullptr && program_->is_done(); }
    /// After that: destroys its program's frame, which may leave operations that are being cancelled. What
    /// went wrong, or empty.
    [[nodiscard]] std::string end();
    /// After the end the driver has nothing of it left.
    [[nodiscard]] bool is_over() const noexcept;
    void forget_program() noexcept;

    [[nodiscard]] bool is_due() noexcept;
    [[nodiscard]] time_point next_at() noexcept;
    void step() noexcept;

    std::string const name;
    time_point paused_until = time_point::min();
    /// What a worker has.
    struct seat {
        sim_driver* net;     ///< of its driver
        fault_driver* front; ///< its driver, which counts what could fail
    };
    std::vector<seat> seats; ///< by the workers' numbers
    runtime rt;
    [[nodiscard]] sim_driver& net() const noexcept { return *seats[0].net; }
    [[nodiscard]] fault_driver& front() const noexcept { return *seats[0].front; }
    [[nodiscard]] bool is_awaited_by_others() const noexcept; ///< a thread has promised to wake it

    /// How long cancels take while a harness decides that; without one the seed does.
    std::function<std::optional<duration>(operation const&)> cancel_time;

  private:
    class turn;

    [[nodiscard]] bool is_due(std::uint32_t worker) noexcept;
    [[nodiscard]] time_point next_at(std::uint32_t worker) noexcept;
    [[nodiscard]] std::uint32_t whose_turn() noexcept;

    [[nodiscard]] auto cancel_takes(operation const& op) noexcept -> std::optional<duration> override;
    void stuck() noexcept override {}
    void woken() noexcept override;
    void delivered(event const& what) noexcept override;
    void resumes(continuation& next, resume_as how) noexcept override;
    void check_failed() noexcept override;

    world::parts& world_;
    disk* const disk_;
    bool is_ghost_ = false;
    environment env_;
    std::unique_ptr<program> own_program_;
    program* program_ = nullptr;
    bool has_ended_ = false;
};

} // namespace pitsaw::inline v0::sim
