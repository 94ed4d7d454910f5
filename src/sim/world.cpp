#include "sim/fault_driver.hpp"
#include "sim/world_parts.hpp"
#include "task/allocation_watch.hpp"

#include <pitsaw/base/check.hpp>
#include <pitsaw/task/frame_memory.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

namespace pitsaw::inline v0::sim {

namespace {

std::unique_ptr<driver> make_driver(world_options const options, sim_observer& observer, sim_driver*& made) {
    auto driver_options = options.is_calm ? sim_driver_options::calm() : sim_driver_options();
    driver_options.seed = options.seed;
    auto driver = std::make_unique<sim_driver>(driver_options, &observer);
    made = driver.get();
    return std::make_unique<fault_driver>(std::move(driver));
}

runtime_options closed_world(world_options const& of) {
    runtime_options options;
    options.is_closed_world = true;
    options.pool_buffers = of.pool_buffers;
    return options;
}

} // namespace

std::uint64_t seed_from_environment(std::uint64_t const otherwise) {
    char const* const text = std::getenv("PITSAW_SIM_SEED");
    if (text == nullptr) return otherwise;
    char* end = nullptr;
    errno = 0;
    auto const seed = std::strtoull(text, &end, 10);
    check(errno == 0 && end != text && *end == '\0',
          "PITSAW_SIM_SEED is not a number of 64 bits: set it to the seed "
          "that the failing run printed");
    return seed;
}

world::parts::parts(world_options const options)
    : rt(make_driver(options, *this, net), closed_world(options)),
      frames_before(frame_memory_statistics().live) {}

world::parts::~parts() {
    rt.loop().end_abandoned();
    for (auto const stream : streams) net->discard(stream);
    std::array<event, 16> out;
    while (net->drain(out, never).remaining != 0) {
    } // discards only: nobody's event is in there
}

auto world::parts::cancel_takes(operation const& op) noexcept -> std::optional<duration> {
    return cancel_time ? cancel_time(op) : std::nullopt;
}

void world::parts::stuck() noexcept {
    auto& worker = rt.loop();
    if (worker.foreign != 0) return; // another thread will wake it
    if (worker.observer != nullptr) return worker.observer->on_deadlock();
    check(false, "deadlock: an operation waits for what nobody in this world will do");
}

world::world(world_options const options) : parts_(std::make_unique<parts>(options)) {}
world::~world() = default;

runtime& world::get_runtime() noexcept { return parts_->rt; }
time_point world::now() const noexcept { return parts_->net->now(); }
void world::advance(duration const by) { parts_->net->advance(by); }

std::pair<descriptor, descriptor> world::make_stream_pair() {
    unwatched_allocations const kernel;
    auto const [left, right] = parts_->net->make_stream_pair();
    parts_->streams.push_back(left);
    parts_->streams.push_back(right);
    return {left, right};
}

std::size_t world::readable_bytes(descriptor const stream) const noexcept {
    return parts_->net->readable_bytes(stream);
}

std::string world::imbalance() const {
    auto& worker = parts_->rt.loop();
    worker.end_abandoned();
    // Descriptors that were discarded may still be closing: that is the driver's work, and no imbalance.
    std::size_t orphans = 0;
    if (worker.operations == 0) {
        std::array<event, 16> out;
        for (std::size_t remaining = 1; remaining != 0;) {
            auto const left = parts_->net->drain(out, never);
            orphans += left.events;
            remaining = left.remaining;
        }
    }
    auto const statistics = parts_->net->statistics();
    std::string found;
    auto const expect_none = [&found](std::int64_t const count, char const* what) {
        if (count != 0) found += (found.empty() ? "" : ", ") + std::to_string(count) + " " + what;
    };
    expect_none(frame_memory_statistics().live - parts_->frames_before, "frames or nodes not freed");
    expect_none(worker.operations, "operations in flight");
    expect_none(static_cast<std::int64_t>(statistics.in_flight + orphans), "operations at the driver");
    expect_none(static_cast<std::int64_t>(worker.timers.size()), "timers armed");
    expect_none(worker.foreign, "foreign completions awaited");
    expect_none(worker.unwinding, "unwindings not ended");
    // The ends that were made for the user are his to close, or the world's.
    auto const users = std::ranges::count_if(parts_->streams, [&](descriptor const end) {
        socket_command look{.what = socket_command::peer_address};
        return parts_->net->control(end, look).has_value();
    });
    expect_none(static_cast<std::int64_t>(statistics.descriptors_open) - users, "descriptors not closed");
    expect_none(static_cast<std::int64_t>(statistics.objects_open) - users, "sockets not closed");
    auto const& bytes = statistics.traffic;
    expect_none(static_cast<std::int64_t>(bytes.sent - bytes.received - bytes.readable - bytes.discarded),
                "bytes lost");
    expect_none(static_cast<std::int64_t>(statistics.buffers_out), "pool buffers not given back");
    expect_none(worker.ready.empty() ? 0 : 1, "ready queue not empty");
    return found;
}

} // namespace pitsaw::inline v0::sim
