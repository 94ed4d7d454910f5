#pragma once
#include "driver/direction.hpp"
#include "driver/first_generation.hpp"
#include "driver/operation_line.hpp"

#include <pitsaw/io/descriptor.hpp>
#include <pitsaw/io/operation.hpp>

#include <cstdint>
#include <vector>

namespace pitsaw::inline v0 {

/// What a poller tells of a descriptor; bits.
enum class readiness : std::uint8_t {
    none = 0,
    inward = 1,  // a receive or an accept may succeed
    outward = 2, // a send may succeed, a connect may have ended
    hang_up = 4, // the peer has finished, or the connection is broken
    all = 7,
    urgent = 8, // urgent data is or was there, at which a receive ends early
};
[[nodiscard]] constexpr readiness operator|(readiness a, readiness b) noexcept {
    return static_cast<readiness>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
[[nodiscard]] constexpr readiness operator-(readiness a, readiness b) noexcept {
    return static_cast<readiness>(static_cast<std::uint8_t>(a) & ~static_cast<std::uint8_t>(b));
}
/// Whether `bits` has the bit `one`.
[[nodiscard]] constexpr bool has(readiness bits, readiness one) noexcept {
    return (static_cast<std::uint8_t>(bits) & static_cast<std::uint8_t>(one)) != 0;
}

/// What a descriptor's index means: an open object and its operations in flight.
struct readiness_slot {
    static constexpr std::uint32_t nobody = UINT32_MAX;

    int fd = -1;
    std::uint32_t generation = 1;
    bool is_open = false;
    bool short_means_empty = false;   // a receive that brought less than it could: TCP, no urgent data
    bool is_listener = false;         // an accept was answered as a listener answers
    bool is_connected = false;        // by a connect of ours
    bool is_connecting = false;       // the connect at work has begun
    bool has_hung_up = false;         // ever, since it was connected
    bool is_discarded = false;        // closing without an operation
    bool is_pending = false;          // in the driver's list of slots to look at
    readiness ready = readiness::all; // what may succeed; an edge sets it, `would_block` clears it
    std::int32_t error = 0; // negative: the connection broke, and a call has taken that from the kernel
    std::uint32_t next_pending = nobody;
    std::uint32_t ended = 0;          // operations that have their final event due
    operation* closing = nullptr;     // its close
    operation* reporting = nullptr;   // inward: a multishot one with an event due that is not its final one
    operation_line lines[directions]; // the first is at work, the others wait; watches are all at work

    [[nodiscard]] bool is_closing() const noexcept { return closing != nullptr || is_discarded; }
    [[nodiscard]] bool is_idle() const noexcept {
        return lines[inward].empty() && lines[outward].empty() && lines[no_direction].empty() &&
               reporting == nullptr && ended == 0;
    }
};
static_assert(sizeof(readiness_slot) == 72); // of each open descriptor

/// The open objects of a driver, by index; a generation for each tenant of an index (law 10).
///
/// Pointers to slots hold until the next `add`. Threads: the driver's.
class readiness_table {
  public:
    /// The descriptor of a new slot. Errors: std::bad_alloc.
    [[nodiscard]] auto add(int fd) -> descriptor {
        auto index = first_free_;
        if (index == readiness_slot::nobody) {
            index = static_cast<std::uint32_t>(slots_.size());
            slots_.emplace_back().generation = first_generation_;
        } else {
            first_free_ = slots_[index].next_pending;
        }
        auto& made = slots_[index];
        made.next_pending = readiness_slot::nobody;
        made.fd = fd;
        made.is_open = true;
        return {index, made.generation};
    }
    /// Null for a stale descriptor.
    [[nodiscard]] auto find(descriptor target) noexcept -> readiness_slot* {
        if (target.index >= slots_.size()) return nullptr;
        auto& candidate = slots_[target.index];
        return candidate.is_open && candidate.generation == target.generation ? &candidate : nullptr;
    }
    /// Makes the descriptors of the slot stale. The index is free for a new tenant at once, or, where the
    /// slot is in the list of those to look at, once `release` is called.
    void remove(readiness_slot& slot) noexcept {
        auto next = slot.generation + 1;
        if (next == 0) next = 1; // 0 means no descriptor
        auto const is_pending = slot.is_pending;
        auto const next_pending = slot.next_pending;
        slot = {};
        slot.generation = next;
        slot.is_pending = is_pending;
        slot.next_pending = next_pending;
        if (!is_pending) release(slot);
    }
    void release(readiness_slot& slot) noexcept {
        slot.next_pending = first_free_;
        first_free_ = index_of(slot);
    }
    [[nodiscard]] auto index_of(readiness_slot const& slot) const noexcept -> std::uint32_t {
        return static_cast<std::uint32_t>(&slot - slots_.data());
    }
    [[nodiscard]] auto operator[](std::uint32_t index) noexcept -> readiness_slot& { return slots_[index]; }
    [[nodiscard]] auto all() noexcept -> std::vector<readiness_slot>& { return slots_; }

  private:
    std::vector<readiness_slot> slots_;
    std::uint32_t const first_generation_ = first_generation();
    std::uint32_t first_free_ = readiness_slot::nobody; // linked by next_pending
};

} // namespace pitsaw::inline v0
