#pragma once
#include "loop/flight_record.hpp"

#include <pitsaw/base/clock.hpp>
#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/io/driver.hpp>
#include <pitsaw/io/event.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace pitsaw::inline v0 {

/// What one worker writes down while it runs: a ring of the last records, and the inputs if they are wanted.
///
/// It lives in a mapping of its own that begins with a `flight_header`, behind a page that nobody may touch,
/// so that the kernel joins it with no mapping below it: `pitsaw record` then finds the header at the
/// beginning of a mapping of any process, without its help. Pages that nothing was written to cost nothing.
/// Where time is virtual it is on the heap and short: nobody looks at it from outside, and a test makes
/// thousands of worlds, of which each would pay for the mapping.
///
/// Lifetime: its worker's; the driver that records inputs must go first. Threads: the worker's; other threads
/// and processes read. Errors: `make_flight_recorder` gives null where there is no memory.
class flight_recorder {
  public:
    /// Of a mapping of `mapped_bytes`, the untouchable page included; 0: of zeros from the heap.
    flight_recorder(std::byte* memory, std::size_t mapped_bytes, recorder_options const& how,
                    char const* driver) noexcept;
    flight_recorder(flight_recorder&&) = delete;
    ~flight_recorder();

    /// The time of the turn that begins, which everything until the next one is given.
    void set_time(time_point at) noexcept { at_ = at.time_since_epoch().count(); }

    void note(event const& done, std::uint8_t flags = 0) noexcept {
        ring_.push({.time = at_,
                    .kind = flight_kind::event,
                    .code = static_cast<std::uint8_t>(done.op->code),
                    .flags = static_cast<std::uint8_t>(static_cast<std::uint8_t>(done.flags) | flags),
                    .options = static_cast<std::uint8_t>(done.op->options),
                    .result = done.result,
                    .index = done.op->target.index,
                    .generation = done.op->target.generation,
                    .subject = reinterpret_cast<std::uintptr_t>(done.op)});
    }
    void note(flight_kind what, std::int64_t result, void const* subject = nullptr) noexcept {
        ring_.push({.time = at_,
                    .kind = what,
                    .result = static_cast<std::int32_t>(result),
                    .subject = reinterpret_cast<std::uintptr_t>(subject)});
    }

    [[nodiscard]] auto header() const noexcept -> flight_header& { return *header_; }
    [[nodiscard]] auto ring() const noexcept -> flight_ring const& { return ring_; }
    [[nodiscard]] auto inputs() const noexcept -> std::span<std::byte>;

    /// What of the memory has been written: what a file of the recording holds.
    [[nodiscard]] auto image() const noexcept -> std::span<std::byte const>;

  private:
    std::byte* memory_;
    std::size_t mapped_bytes_;
    flight_header* header_;
    flight_ring ring_;
    std::int64_t at_ = 0;
};

/// Null: the options want none, or there is no memory.
[[nodiscard]] auto make_flight_recorder(recorder_options const& how, driver const& of) noexcept
    -> std::unique_ptr<flight_recorder>;

/// `own`, or a driver around it that writes inputs down, if `to` is there and has room for them.
[[nodiscard]] auto with_inputs_recorded(std::unique_ptr<driver> own, flight_recorder* to)
    -> std::unique_ptr<driver>;

} // namespace pitsaw::inline v0
