#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/io/descriptor.hpp>
#include <pitsaw/task/sync_wait.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace pitsaw::inline v0::sim {

/// How a simulated world behaves.
struct world_options {
    /// Every choice comes from it; the same seed gives the same run.
    std::uint64_t seed = 0;
    /// No choices at all: everything completes at once, whole and in order.
    bool is_calm = false;
    /// As `runtime_options::pool_buffers`; 0: every pooled receive falls back to the heap.
    std::uint32_t pool_buffers = 256;
};

/// The seed that a failing run printed, from the environment variable PITSAW_SIM_SEED, else `otherwise`.
/// Errors: a value that is no number ends the process with a message.
[[nodiscard]] std::uint64_t seed_from_environment(std::uint64_t otherwise = 0);

/// A simulated world of one worker: virtual time, streams in memory, and books that must balance.
///
/// ```cpp
/// ps::sim::world world;
/// auto [left, right] = world.make_stream_pair();
/// auto end = world.run(talk(left, right));
/// EXPECT_EQ(world.imbalance(), "");
/// ```
/// Lifetime: outlives what runs in it. Threads: one. Errors: a deadlock is a checked error, for nobody
/// outside can wake it.
class world {
  public:
    explicit world(world_options options = {});
    world(world&&) = delete;
    ~world();

    [[nodiscard]] runtime& get_runtime() noexcept;
    [[nodiscard]] time_point now() const noexcept;

    /// Virtual time passes while nobody looks: what a task that blocks its thread does.
    void advance(duration by);

    /// Two ends of a connection. What is still open when the world ends is closed then.
    [[nodiscard]] std::pair<descriptor, descriptor> make_stream_pair();

    /// Bytes that have arrived at `stream` and were not received.
    [[nodiscard]] std::size_t readable_bytes(descriptor stream) const noexcept;

    /// Runs `work` to its end.
    template <awaitable A> [[nodiscard]] auto run(A&& work) {
        return sync_wait(get_runtime(), std::move(work));
    }

    /// Between runs: what is left over that should not be (frames, operations, timers, bytes), in words;
    /// empty when the books balance.
    [[nodiscard]] std::string imbalance() const;

  private:
    friend class stop_harness;
    friend class fault_harness;
    struct parts;
    std::unique_ptr<parts> parts_;
};

} // namespace pitsaw::inline v0::sim
