#pragma once
#include <pitsaw/executor/timer_node.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace pitsaw::inline v0 {

/// The timers of one worker: fires each at its deadline or later, never earlier, exact to the nanosecond.
///
///     timer_queue timers;
///     alarm wake_up;                                     // see timer_node
///     wake_up.deadline = saturating_add(driver.now(), 1s);
///     timers.arm(wake_up);
///     // the loop, each turn:
///     poll(timers.next_wake());
///     timers.expire(driver.now(), 256);
///
/// A hierarchical timing wheel (Varghese and Lauck, SOSP 1987, scheme 7) of 11 levels of 64 slots, which
/// spans the whole range of `time_point`: nothing wraps, and a clock that jumps by years costs no more than
/// one that ticks. Arming and disarming are O(1); a timer that is left to fire moves at most ten times, as
/// its deadline nears.
///
/// Lifetime: owns nothing and allocates nothing; empty when it is destroyed (a debug check).
/// Threads: one worker's; nothing here is atomic. Errors: none. About 11 KiB.
class timer_queue {
  public:
    /// `start`: where time begins for this queue; expiring anything older does nothing.
    explicit timer_queue(time_point start = time_point::min()) noexcept;
    timer_queue(timer_queue&&) = delete;

    /// Starts the wait for `node.deadline`. A deadline that has passed (as far as the last `expire` knows)
    /// fires at the next `expire`; `never` does not fire and costs nothing, but can be disarmed like any
    /// other.
    void arm(timer_node& node) noexcept;

    /// Ends the wait. True: the node was armed and will not fire. False: it had fired, or was never armed.
    auto disarm(timer_node& node) noexcept -> bool;

    /// When to call `expire` next: never later than the earliest deadline, often exactly then; earlier where
    /// that is cheaper to know, after a disarm, and after an `expire` that ran out of budget (a time that has
    /// come). `never` when nothing waits for a time.
    [[nodiscard]] auto next_wake() const noexcept -> time_point;

    /// Fires the timers with deadlines up to `now`, in the order of their deadlines, equal ones as they were
    /// armed. A deadline that had passed on arming counts as the `now` that was the latest then. Returns how
    /// many fired.
    ///
    /// `budget` bounds the nodes that this call fires or moves within the wheel; the rest waits for the next
    /// call, which `next_wake` asks for. An `on_expired` may arm and disarm any timer, itself and those due
    /// next included; what it arms for a time that has come fires in the next call, so that no timer can hold
    /// this one. A `now` before the latest does nothing: time only moves forward.
    auto expire(time_point now, std::size_t budget) noexcept -> std::size_t;

    /// How many are armed, those for `never` included.
    [[nodiscard]] auto size() const noexcept -> std::size_t { return size_; }
    [[nodiscard]] auto empty() const noexcept -> bool { return size_ == 0; }

  private:
    // A time_point, shifted so that its whole range is positive: 0 is time_point::min().
    using tick = std::uint64_t;
    using list = intrusive_list<timer_node>;

    static constexpr unsigned bits_per_level = 6;
    static constexpr unsigned slots_per_level = 1u << bits_per_level;
    static constexpr unsigned levels = 11;
    static constexpr unsigned wheel_slots = levels * slots_per_level;
    // Lists beside the wheel, in the same array so that a list can be told from its address alone.
    // `idle` holds deadlines of `never`; `late` what was armed when its deadline had passed, until the next
    // expire; `unpacked` a slot whose time has come, on its way to lower levels.
    static constexpr unsigned idle = wheel_slots;
    static constexpr unsigned late = wheel_slots + 1;
    static constexpr unsigned unpacked = wheel_slots + 2;

    [[nodiscard]] auto list_for(tick at) noexcept -> list&;
    void place(timer_node& node) noexcept;
    void unpack(unsigned slot) noexcept;
    void take(timer_node& node) noexcept;
    void fire(timer_node& node) noexcept;
    void mark(unsigned slot) noexcept;
    void unmark(unsigned slot) noexcept;
    [[nodiscard]] auto slot_of(tick at) const noexcept -> unsigned;
    [[nodiscard]] auto first_slot() const noexcept -> unsigned;
    [[nodiscard]] auto has_due_slot() const noexcept -> bool;
    [[nodiscard]] auto start_of(unsigned slot) const noexcept -> tick;
    [[nodiscard]] auto earliest() const noexcept -> tick;

    tick elapsed_; // where the wheel stands: nothing in it is earlier
    tick horizon_; // the latest `now` of expire; elapsed_ <= horizon_, less while work is left over
    tick wake_;    // next_wake
    std::size_t size_ = 0;
    unsigned unpacked_below_ =
        0; // the slots below this are where `unpacked` goes; 0 while that is not in use
    std::uint64_t occupied_levels_ = 0;                  // a bit for each level that has a bit below
    std::array<std::uint64_t, levels> occupied_slots_{}; // a bit for each slot that holds a node
    std::array<list, wheel_slots + 3> lists_;
};

} // namespace pitsaw::inline v0
