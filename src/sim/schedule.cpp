// Who has the next turn in a world, and when time passes.
#include "sim/world_parts.hpp"
#include "task/allocation_watch.hpp"

#include <pitsaw/base/check.hpp>
#include <pitsaw/task/frame_memory.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace pitsaw::inline v0::sim {

namespace {

sim::network_options network_of(world_options const& how) {
    auto made = how.network;
    if (how.is_calm) made.latency_max = made.latency_min;
    return made;
}

runtime_options own_runtime(world_options const& how) {
    runtime_options made;
    made.pool_buffers = how.pool_buffers;
    return made;
}

bool is_asked_for(char const* variable) {
    char const* const text = std::getenv(variable);
    return text != nullptr && std::strcmp(text, "0") != 0 && *text != '\0';
}

} // namespace

world::parts::parts(world& of, world_options const& how)
    : self(of), options(how), is_traced(is_asked_for("PITSAW_SIM_TRACE")),
      network(network_of(how), seed_for(seed_of_the_network)), choices(seed_for(seed_of_turns)),
      users(seed_for(seed_of_the_user)), frames_before(frame_memory_statistics().live),
      own(*this, sim_host{}, "world", own_runtime(how), nullptr) {}

std::uint64_t world::parts::seed_for(std::uint64_t const purpose) const noexcept {
    random_source mixed(options.seed ^ purpose * 0x9e3779b97f4a7c15);
    return mixed();
}

world::parts::~parts() {
    end_everything();
    run_until([this] { return own.rt.loop().abandoned == 0; });
    for (auto const stream : streams) own.net().discard(stream);
    std::array<event, 16> out;
    while (own.net().drain(out, never).remaining != 0) {
    } // discards only: nobody's event is in there
}

sim::node& world::parts::add(std::string name, maker body, bool const is_service, node_options const& with) {
    auto how = with;
    how.disk.seed = seed_for(seeds_of_disks + nodes.size());
    if (options.is_calm) how.disk.faults.short_percent = 0;
    auto made = std::make_unique<node_parts>(self, std::move(name), network.add_host(), std::move(how));
    made->is_service = is_service;
    made->make_program = std::move(body);
    auto& node = *nodes.emplace_back(new sim::node(std::move(made)));
    begin(node);
    return node;
}

void world::parts::begin(sim::node& of) {
    auto& node = *of.parts_;
    if (node.dies_after_its_turn.has_value() && node.present != nullptr) {
        node.begins_again = true;
        return;
    }
    check(node.present == nullptr, "node::restart: it runs already; kill it, or wait for its end");
    network.power_on(node.host);
    ++node.lives;
    auto made = std::make_unique<process>(*this, node.host, node.name, node.options, &node.own_disk);
    made->start([&] { return node.make_program(of); });
    node.present = std::move(made);
}

void world::parts::kill(sim::node& which, death const how) {
    auto& node = *which.parts_;
    if (node.present == nullptr || is_a_ghost_of(node, running_)) return; // the dead reach nobody
    if (node.present.get() == running_) {
        node.dies_after_its_turn = how;
        return;
    }
    node.dies_after_its_turn.reset();
    node.ended_at = network.now();
    if (how == death::of_machine) {
        network.power_off(node.host);
        node.own_disk.power_loss();
    } else {
        network.close_all(node.host);
        node.own_disk.kill();
    }
    node.present->become_a_ghost();
    node.ghosts.push_back(std::move(node.present));
}

void world::parts::end_life(node_parts& of) {
    if (of.present->is_done()) {
        auto what = of.present->end();
        of.ended_at = network.now();
        if (of.failure.empty()) of.failure = std::move(what);
    }
    if (of.present->is_over()) of.present.reset();
}

bool world::parts::is_a_ghost_of(node_parts const& node, process const* const who) noexcept {
    return std::ranges::any_of(node.ghosts, [who](auto const& ghost) { return ghost.get() == who; });
}

bool world::parts::runs_now(node_parts const& node) const noexcept {
    return running_ != nullptr && (node.present.get() == running_ || is_a_ghost_of(node, running_));
}

/// By number, for a frame that is destroyed may make nodes and kill them.
void world::parts::bury_the_dead() {
    for (std::size_t number = 0; number < nodes.size(); ++number) {
        auto& each = *nodes[number];
        auto& node = *each.parts_;
        if (auto const how = std::exchange(node.dies_after_its_turn, std::nullopt)) kill(each, *how);
        if (std::exchange(node.begins_again, false) && node.present == nullptr) begin(each);
        if (node.present != nullptr) end_life(node);
        for (std::size_t which = 0; which < node.ghosts.size();) {
            auto* const ghost = node.ghosts[which].get();
            if (ghost->is_done()) (void)ghost->end(); // it was killed: what it makes of that concerns nobody
            if (ghost->is_over())
                node.ghosts.erase(node.ghosts.begin() + static_cast<std::ptrdiff_t>(which));
            else
                ++which;
        }
    }
}

std::vector<process*> world::parts::everybody() {
    std::vector<process*> all;
    all.push_back(&own);
    for (auto const& each : nodes) {
        auto& node = *each->parts_;
        if (node.present != nullptr) all.push_back(node.present.get());
        for (auto const& ghost : node.ghosts) all.push_back(ghost.get());
    }
    return all;
}

void world::parts::step() {
    if (auto const call = before_each_step) (*call)(steps); // a copy: it may take itself away
    bury_the_dead();
    auto all = everybody();
    auto next = network.next_at();
    for (auto* const each : all) next = std::min(next, each->next_at());
    std::erase_if(all, [](process* each) { return !each->is_due(); });
    if (all.empty()) {
        if (next == never) return wait_for_others();
        if (next > saturating_add(time_point(), options.time_max)) fail("the run goes on for too long");
        return network.advance_to(next);
    }
    auto which = std::size_t{0};
    if (all.size() > 1) which = (options.is_calm ? last_turn_++ : choices()) % all.size();
    auto const stalls = options.faults.stall_percent;
    if (stalls != 0 && choices.below(100) < stalls)
        network.advance_to(saturating_add(
            network.now(),
            duration(choices.between(0, std::max(options.faults.stall_max.count(), std::int64_t{0})))));
    if (++steps > options.steps_max) fail("the run takes too many steps: somebody never waits");
    all[which]->step();
    bury_the_dead();
}

void world::parts::run_until(std::function<bool()> const& is_reached) {
    unwatched_allocations const of_the_world; // process::step is where they are the programs' own
    while (!is_reached()) step();
}

/// Nothing in this world will happen: another thread may have promised to wake somebody.
void world::parts::wait_for_others() {
    // acquire: pairs with the release in woken().
    auto const seen = wakes_.load(std::memory_order_acquire);
    auto const all = everybody();
    if (std::ranges::any_of(all, [](process* each) { return each->is_due(); })) return;
    if (std::ranges::any_of(all, [](process* each) { return each->is_awaited_by_others(); }))
        return wakes_.wait(seen, std::memory_order_acquire);
    for (auto* const each : all)
        if (auto* const observer = each->rt.loop().observer) return observer->on_deadlock();
    fail("deadlock: every task waits, and nothing in this world is left that could wake one");
}

void world::parts::woken() noexcept {
    // release: pairs with the acquire in wait_for_others(), so that what the waker did is seen.
    wakes_.fetch_add(1, std::memory_order_release);
    wakes_.notify_one();
}

bool world::parts::is_anybody_running() const noexcept {
    return std::ranges::any_of(nodes, [](auto const& each) {
        return each->parts_->present != nullptr || !each->parts_->ghosts.empty();
    });
}

void world::parts::end_everything() {
    before_each_step = nullptr;
    run_until([this] { // again and again, for a frame that is destroyed may restart a node
        for (std::size_t number = 0; number < nodes.size(); ++number) kill(*nodes[number], death::of_process);
        return !is_anybody_running();
    });
}

void world::parts::fail(char const* const what) const {
    if (current_executor() == nullptr)
        std::fprintf(stderr, "%s\n", self.rerun().c_str()); // else check says it
    for (auto const& each : nodes)
        if (each->is_running()) std::fprintf(stderr, "node %s still runs\n", each->name().c_str());
    for (auto const& each : nodes)
        if (!each->parts_->ghosts.empty())
            std::fprintf(stderr, "node %s was killed and does not unwind: it waits in a shield for ever\n",
                         each->name().c_str());
    check(false, what);
    std::unreachable();
}

} // namespace pitsaw::inline v0::sim
