#include <pitsaw/executor/timer_queue.hpp>

#include <algorithm>
#include <bit>
#include <limits>

// A node stands in the level of the highest base-64 digit in which its tick differs from elapsed_, in the
// slot that this digit names (the placement is Tokio's, tokio/src/runtime/time/wheel). So within a level the
// slots ahead are in order, each level is wholly earlier than the next one, and the first bit of the first
// level is the earliest slot. When its time comes, a slot of level 0 is one instant and fires; a higher one
// is unpacked into lower levels.
//
// Nodes of the same tick always share a slot, and lists keep their order through every move: equal deadlines
// fire as they were armed.

namespace pitsaw::inline v0 {
namespace {

constexpr auto latest_tick = std::numeric_limits<std::uint64_t>::max(); // `never`

constexpr auto to_tick(time_point at) noexcept -> std::uint64_t {
    return static_cast<std::uint64_t>(at.time_since_epoch().count()) ^ (std::uint64_t{1} << 63);
}
constexpr auto to_time_point(std::uint64_t tick) noexcept -> time_point {
    return time_point(duration(static_cast<std::int64_t>(tick ^ (std::uint64_t{1} << 63))));
}

} // namespace

timer_queue::timer_queue(time_point start) noexcept
    : elapsed_(to_tick(start)), horizon_(elapsed_), wake_(latest_tick) {}

void timer_queue::arm(timer_node& node) noexcept {
    check(!node.armed(), "a timer is armed once: disarm it before arming it again");
    ++size_;
    if (node.deadline == never) return lists_[idle].push_back(node);
    node.tick_ = to_tick(node.deadline);
    if (node.tick_ <= horizon_) [[unlikely]] {
        node.tick_ = horizon_;
        lists_[late].push_back(node);
    } else {
        list_for(node.tick_).push_back(node);
    }
    wake_ = std::min(wake_, node.tick_);
}

auto timer_queue::disarm(timer_node& node) noexcept -> bool {
    if (!node.armed()) return false;
    take(node);
    return true;
}

auto timer_queue::next_wake() const noexcept -> time_point { return to_time_point(wake_); }

auto timer_queue::expire(time_point now, std::size_t budget) noexcept -> std::size_t {
    if (to_tick(now) < wake_) { // nothing is due, so the wheel need not move
        horizon_ = std::max(horizon_, to_tick(now));
        if (empty()) elapsed_ = horizon_;
        return 0;
    }
    if (to_tick(now) < horizon_) return 0;
    if (!lists_[late].empty()) list_for(horizon_).splice_back(lists_[late]);
    horizon_ = to_tick(now);
    std::size_t fired = 0;
    for (; budget != 0; --budget) {
        if (auto* const node = lists_[unpacked].pop_front()) {
            place(*node);
            continue;
        }
        unpacked_below_ = 0;
        if (!has_due_slot()) break;
        unsigned const slot = first_slot();
        if (slot < slots_per_level) {
            elapsed_ = start_of(slot);
            fire(lists_[slot].front());
            ++fired;
        } else {
            // Straight to the first node, which skips the levels in between.
            elapsed_ = std::min(earliest(), horizon_);
            unpack(slot);
        }
    }
    bool const settled = lists_[unpacked].empty() && !has_due_slot();
    if (settled) {
        elapsed_ = horizon_;
        unpacked_below_ = 0;
    }
    wake_ = settled && lists_[late].empty() ? earliest() : elapsed_;
    return fired;
}

// The list for nodes of this tick, about to receive one. While a slot is being unpacked, what belongs to its
// span queues up behind it, lest it overtakes an equal deadline.
auto timer_queue::list_for(tick at) noexcept -> list& {
    unsigned const slot = slot_of(at);
    if (slot < unpacked_below_) return lists_[unpacked];
    mark(slot);
    return lists_[slot];
}

void timer_queue::place(timer_node& node) noexcept {
    unsigned const slot = slot_of(node.tick_);
    mark(slot);
    lists_[slot].push_back(node);
}

void timer_queue::unpack(unsigned slot) noexcept {
    lists_[unpacked].splice_back(lists_[slot]);
    unmark(slot);
    unpacked_below_ = slot / slots_per_level * slots_per_level;
}

void timer_queue::take(timer_node& node) noexcept {
    if (list* const emptied = list::unlink(node)) {
        auto const index = static_cast<unsigned>(emptied - lists_.data());
        if (index < wheel_slots) unmark(index);
    }
    if (--size_ == 0) wake_ = latest_tick;
}

void timer_queue::fire(timer_node& node) noexcept {
    take(node);
    node.on_expired(node);
}

void timer_queue::mark(unsigned slot) noexcept {
    occupied_slots_[slot / slots_per_level] |= std::uint64_t{1} << slot % slots_per_level;
    occupied_levels_ |= std::uint64_t{1} << slot / slots_per_level;
}

void timer_queue::unmark(unsigned slot) noexcept {
    auto& slots = occupied_slots_[slot / slots_per_level];
    slots &= ~(std::uint64_t{1} << slot % slots_per_level);
    if (slots == 0) occupied_levels_ &= ~(std::uint64_t{1} << slot / slots_per_level);
}

auto timer_queue::slot_of(tick at) const noexcept -> unsigned {
    // Forcing the lowest digit to differ puts what is equal, or differs there only, into level 0.
    auto const highest_bit =
        static_cast<unsigned>(std::bit_width((at ^ elapsed_) | (slots_per_level - 1)) - 1);
    unsigned const level = highest_bit / bits_per_level;
    return level * slots_per_level + static_cast<unsigned>(at >> level * bits_per_level) % slots_per_level;
}

auto timer_queue::first_slot() const noexcept -> unsigned {
    auto const level = static_cast<unsigned>(std::countr_zero(occupied_levels_));
    return level * slots_per_level + static_cast<unsigned>(std::countr_zero(occupied_slots_[level]));
}

// Whether the time of the earliest slot has come.
auto timer_queue::has_due_slot() const noexcept -> bool {
    return occupied_levels_ != 0 && start_of(first_slot()) <= horizon_;
}

auto timer_queue::start_of(unsigned slot) const noexcept -> tick {
    unsigned const shift = slot / slots_per_level * bits_per_level;
    tick const digit = tick{slot % slots_per_level} << shift;
    unsigned const above = shift + bits_per_level;
    return (above < 64 ? elapsed_ >> above << above : 0) | digit;
}

// The earliest tick in the wheel, or the start of its slot where that is crowded.
auto timer_queue::earliest() const noexcept -> tick {
    if (occupied_levels_ == 0) return latest_tick;
    unsigned const slot = first_slot();
    tick found = latest_tick;
    unsigned looked_at = 0;
    for (timer_node const& node : lists_[slot]) {
        // A few nodes are cheaper to look at than to wake up for and to move through every level in between.
        if (++looked_at > 16) return start_of(slot);
        found = std::min(found, node.tick_);
    }
    return found;
}

} // namespace pitsaw::inline v0
