#pragma once
#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/task/sync_wait.hpp>

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <utility>

namespace pitsaw::inline v0::sim {

/// A file that a worker's flight recorder was saved in, with the inputs that it held.
///
/// ```cpp
/// auto saved = ps::sim::recording::read("/tmp/pitsaw-4711.record");
/// if (!saved) std::puts(saved.error().c_str());
/// ```
/// Lifetime: owns its bytes; move-only. Threads: one at a time. Errors: `read` says in words what is wrong:
/// the file cannot be read, is none or damaged, or the runtime held no inputs.
class recording {
  public:
    [[nodiscard]] static std::expected<recording, std::string> read(std::string const& path);

    recording(recording&&) noexcept;
    recording& operator=(recording&&) noexcept;
    ~recording();

    /// Calls of the driver that can be answered again.
    [[nodiscard]] std::uint64_t calls() const noexcept;
    /// Whether these are all that were made: otherwise the memory for inputs was full, and what came later
    /// cannot be executed again.
    [[nodiscard]] bool is_whole() const noexcept;
    /// How often the worker was woken, mostly by other threads: what they brought is in no recording, and a
    /// program that it made a difference to diverges.
    [[nodiscard]] std::uint32_t wakes() const noexcept;

  private:
    friend class replay;
    struct parts;
    explicit recording(std::unique_ptr<parts> made) noexcept;
    std::unique_ptr<parts> parts_;
};

/// Executes a program again, from its beginning up to where its recording ends: each call that its worker
/// makes of the driver gets the answer that was recorded, at the time that was recorded.
///
/// ```cpp
/// ps::sim::replay again(std::move(*saved));
/// auto end = again.run(serve());          // what the recorded runtime ran; a check that failed fails again
/// EXPECT_EQ(again.divergence(), "");
/// ```
/// Where the recording ends, or the program asks for something else than it did then, everything is stopped:
/// operations end with `operation_canceled`, and `run` returns.
/// Lifetime: outlives what runs in it. Threads: one. What comes from other threads (portals, foreign
/// awaitables, a stop from outside) is in no recording, nor is what a program learns otherwise than through
/// its runtime: the system's clock, files, random numbers. Errors: `divergence`.
class replay {
  public:
    /// `options`: as of the recorded runtime.
    explicit replay(recording of, runtime_options options = {});
    replay(replay&&) = delete;
    ~replay();

    [[nodiscard]] runtime& get_runtime() noexcept;

    template <awaitable A> [[nodiscard]] auto run(A&& work) {
        return sync_wait(get_runtime(), std::move(work));
    }

    /// Calls that were answered.
    [[nodiscard]] std::uint64_t replayed() const noexcept;
    /// The first call that is not the recorded one, and the recorded one, in words; else empty.
    [[nodiscard]] std::string const& divergence() const noexcept;
    /// Sends whose bytes were others than the recorded ones, as those of a date are: no divergence by itself.
    [[nodiscard]] std::uint64_t other_bytes_sent() const noexcept;

  private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

} // namespace pitsaw::inline v0::sim
