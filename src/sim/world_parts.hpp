#pragma once
#include "driver/sim/network.hpp"
#include "sim/process.hpp"

#include <pitsaw/base/random.hpp>
#include <pitsaw/sim/world.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pitsaw::inline v0::sim {

// The purposes of seeds.
inline constexpr std::uint64_t seed_of_turns = 1;
inline constexpr std::uint64_t seed_of_the_user = 2;
inline constexpr std::uint64_t seed_of_the_network = 3;
inline constexpr std::uint64_t seeds_of_processes = std::uint64_t{1} << 32;
inline constexpr std::uint64_t seeds_of_disks = std::uint64_t{2} << 32;

/// What a node is made of. Lifetime: the world's.
struct node_parts {
    node_parts(world& of, std::string called, sim_host at, node_options with)
        : in(of), name(std::move(called)), host(at), options(std::move(with)), own_disk(options.disk) {}

    world& in;
    std::string const name;
    sim_host const host;
    node_options const options;
    disk own_disk;
    bool is_service = false;
    std::move_only_function<std::unique_ptr<program>(sim::node&)> make_program;
    std::unique_ptr<process> present;             ///< null: it does not run
    std::vector<std::unique_ptr<process>> ghosts; ///< killed, and not unwound yet
    std::optional<death> dies_after_its_turn;
    bool begins_again = false; ///< after that
    std::uint64_t lives = 0;
    time_point ended_at = time_point::min();
    std::string failure;
};

/// What a world is made of, and who has the next turn in it. Lifetime: the world's.
struct world::parts {
    parts(world& of, world_options const& how);
    parts(parts&&) = delete;
    ~parts();

    sim::node& add(std::string name, maker body, bool is_service, node_options const& with);
    void begin(sim::node& of);
    void kill(sim::node& which, death how);
    /// Turns until `is_reached`, or fails.
    void run_until(std::function<bool()> const& is_reached);
    void end_everything();
    [[noreturn]] void fail(char const* what) const;

    /// A seed of its own for each purpose: those of worlds with neighbouring seeds have nothing in common.
    [[nodiscard]] std::uint64_t seed_for(std::uint64_t purpose) const noexcept;
    /// Whether a life of this node, a past one too, has its turn just now.
    [[nodiscard]] bool runs_now(node_parts const& node) const noexcept;
    /// Whose turn it is from now on; returns whose it was.
    process* exchange_running(process* next) noexcept { return std::exchange(running_, next); }
    void woken() noexcept; ///< from any thread
    [[nodiscard]] std::string begin_line(std::string const& name) const;
    [[nodiscard]] bool is_anybody_running() const noexcept;

    world& self;
    world_options const options;
    bool const is_traced;
    sim_network network;
    random_source choices; ///< whose turn it is
    random_source users;
    std::uint64_t processes_made = 0;
    std::uint64_t steps = 0;
    std::shared_ptr<std::function<void(std::uint64_t)>> before_each_step;
    std::int64_t const frames_before;
    std::vector<descriptor> streams; ///< made for the user, closed with the world
    process own;                     ///< of the world's own machine
    std::vector<std::unique_ptr<sim::node>> nodes;

  private:
    [[nodiscard]] static bool is_a_ghost_of(node_parts const& node, process const* who) noexcept;
    void step();
    void bury_the_dead();
    void end_life(node_parts& of);
    void wait_for_others();
    [[nodiscard]] std::vector<process*> everybody();

    process* running_ = nullptr; ///< whose turn it is just now
    std::uint64_t last_turn_ = 0;
    std::atomic<std::uint32_t> wakes_ = 0; ///< any thread
};

} // namespace pitsaw::inline v0::sim
