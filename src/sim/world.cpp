#include "sim/report_words.hpp"
#include "sim/world_parts.hpp"
#include "task/allocation_watch.hpp"

#include <pitsaw/base/check.hpp>
#include <pitsaw/task/frame_memory.hpp>

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

namespace pitsaw::inline v0::sim {

world::world(world_options const options) : parts_(std::make_unique<parts>(*this, options)) {}
world::~world() = default;

world::own_machine::own_machine(world& of) : of_(of) {
    check(current_executor() == nullptr, "world::run was called by a task: it is for the test's own thread");
    exchange_current_executor(&of.get_runtime().loop());
}
world::own_machine::~own_machine() {
    of_.parts_->run_until([this] { return of_.parts_->own.rt.loop().abandoned == 0; });
    exchange_current_executor(nullptr);
}

sim::node& world::add(std::string name, maker body, bool const is_service, node_options const& with) {
    unwatched_allocations const of_the_world; // the program's own begin with its first turn
    return parts_->add(std::move(name), std::move(body), is_service, with);
}

sim::node* world::latest_running() const noexcept {
    auto const found = std::ranges::find_if(std::views::reverse(parts_->nodes),
                                            [](auto const& each) { return each->is_running(); });
    return found == parts_->nodes.rend() ? nullptr : found->get();
}

void world::run() {
    check(current_executor() == nullptr, "world::run was called by a task: it is for the test's own thread");
    auto const is_over = [this](bool const is_service) {
        return std::ranges::none_of(parts_->nodes, [=](auto const& each) {
            return each->parts_->is_service == is_service && each->is_running();
        });
    };
    parts_->run_until([&] { return is_over(false); });
    // One after the other; what is made or restarted meanwhile is asked too.
    for (auto* latest = latest_running(); latest != nullptr; latest = latest_running()) {
        auto const asked = latest->lives();
        latest->stop();
        parts_->run_until([&] { return !latest->is_running() || latest->lives() != asked; });
    }
    parts_->run_until([this] { return !parts_->is_anybody_running(); });
}

void world::run_own(program& chain) {
    auto& own = parts_->own;
    own.start(chain);
    parts_->run_until([&] { return chain.is_done(); });
    own.step(); // what was discarded last is to be closed now
    own.forget_program();
}

void world::cut(sim::node const& one, sim::node const& other) {
    parts_->network.cut(one.parts_->host, other.parts_->host);
}
void world::heal(sim::node const& one, sim::node const& other) {
    parts_->network.heal(one.parts_->host, other.parts_->host);
}
void world::heal() { parts_->network.heal(); }
void world::reset_connections(sim::node const& one, sim::node const& other) {
    parts_->network.reset_between(one.parts_->host, other.parts_->host);
}
void world::slow_down(sim::node const& one, sim::node const& other, duration const more) {
    parts_->network.slow_down(one.parts_->host, other.parts_->host, more);
}

void world::before_each_step(std::function<void(std::uint64_t)> call) {
    parts_->before_each_step =
        call ? std::make_shared<std::function<void(std::uint64_t)>>(std::move(call)) : nullptr;
}

std::uint64_t world::seed() const noexcept { return parts_->options.seed; }
std::uint64_t world::steps() const noexcept { return parts_->steps; }
random_source& world::random() noexcept { return parts_->users; }

runtime& world::get_runtime() noexcept { return parts_->own.rt; }
time_point world::now() const noexcept { return parts_->network.now(); }
void world::advance(duration const by) { parts_->own.net().advance(by); }

std::pair<descriptor, descriptor> world::make_stream_pair() {
    unwatched_allocations const kernel;
    auto const [left, right] = parts_->own.net().make_stream_pair();
    parts_->streams.push_back(left);
    parts_->streams.push_back(right);
    return {left, right};
}

std::size_t world::readable_bytes(descriptor const stream) const noexcept {
    return parts_->own.net().readable_bytes(stream);
}

std::string world::leftovers() const {
    auto& own = parts_->own;
    auto& worker = own.rt.loop();
    // What outlived its run, as a client may, leaves operations that are being cancelled when it goes.
    parts_->run_until([&worker] { return worker.abandoned == 0; });
    // Descriptors that were discarded may still be closing: that is the driver's work, and no imbalance.
    std::size_t orphans = 0;
    if (worker.operations == 0) {
        std::array<event, 16> out;
        for (std::size_t remaining = 1; remaining != 0;) {
            auto const left = own.net().drain(out, never);
            orphans += left.events;
            remaining = left.remaining;
        }
    }
    auto const statistics = own.net().statistics();
    std::string found;
    auto const expect_none = [&found](std::int64_t const count, char const* what) {
        if (count != 0) append_wrong(found, std::to_string(count) + " " + what);
    };
    for (auto const& each : parts_->nodes)
        if (each->is_running()) append_wrong(found, "node " + each->name() + " still runs");
    expect_none(frame_memory_statistics().live - parts_->frames_before, "frames or nodes not freed");
    expect_none(worker.operations, "operations in flight");
    expect_none(static_cast<std::int64_t>(statistics.in_flight + orphans), "operations at the driver");
    expect_none(static_cast<std::int64_t>(worker.timers.size()), "timers armed");
    expect_none(worker.foreign, "foreign completions awaited");
    expect_none(worker.unwinding, "unwindings not ended");
    // The ends that were made for the user are his to close, or the world's.
    auto const users = std::ranges::count_if(parts_->streams, [&](descriptor const end) {
        socket_command look{.what = socket_command::peer_address};
        return own.net().control(end, look).has_value();
    });
    expect_none(static_cast<std::int64_t>(statistics.descriptors_open) - users, "descriptors not closed");
    expect_none(static_cast<std::int64_t>(statistics.objects_open) - users, "sockets not closed");
    expect_none(static_cast<std::int64_t>(statistics.buffers_out), "pool buffers not given back");
    expect_none(worker.ready.empty() ? 0 : 1, "ready queue not empty");
    if (!statistics.traffic.balances())
        append_wrong(found, "bytes sent are not those received, readable and thrown away");
    return found;
}

std::string world::failures() const {
    std::string found;
    for (auto const& each : parts_->nodes)
        if (!each->failure().empty())
            append_wrong(found, "node " + each->name() + " failed: " + each->failure());
    return found;
}

std::string world::imbalance() const {
    auto found = leftovers();
    append_wrong(found, failures());
    return found;
}

} // namespace pitsaw::inline v0::sim
