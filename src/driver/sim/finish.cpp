#include "driver/sim/driver.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>

namespace pitsaw::inline v0 {

/// Fixes the result. Nothing changes it any more, a cancel least of all (law 3).
void sim_driver::end(std::uint32_t which, std::int32_t result, bool more) noexcept {
    auto& r = records_[which];
    r.at = stage::ended;
    r.result = result;
    r.more = more;
    auto const late = chance(options_.late_percent);
    plan(which, step_kind::deliver, late ? up_to(options_.late_max) : duration::zero());
}

/// Hands the event out. The loan ends here if it is the final one.
void sim_driver::deliver(std::uint32_t which, event& written) noexcept {
    auto& r = records_[which];
    if (r.op == nullptr) return release(which);
    if (options_.check_loans) r.loan.verify(*r.op);
    written = {.op = r.op, .result = r.result, .flags = r.more ? event_flag::more : event_flag::none};
    if (std::exchange(r.has_buffer, false)) {
        written.flags = written.flags | event_flag::pooled;
        written.buffer = r.buffer;
        std::ranges::copy(r.received, pools_[r.op->pool].buffer(r.buffer).begin());
        r.received.clear();
    }
    if (observer_ != nullptr) observer_->delivered(written);
    if (r.more) return go_on(which);
    if (!r.received.empty()) std::memcpy(r.op->address, r.received.data(), r.received.size());
    r.op->state = 0;
    ++counts_.completed;
    if (r.result == -static_cast<std::int32_t>(std::errc::operation_canceled)) ++counts_.cancelled;
    release(which);
}

/// After an event that was not the final one.
void sim_driver::go_on(std::uint32_t which) noexcept {
    if (records_[which].cancel_asked)
        return end(which, -static_cast<std::int32_t>(std::errc::operation_canceled));
    begin(which);
}

void sim_driver::free_slot(std::uint32_t which) noexcept {
    auto& of = slots_[which];
    auto const generation = of.generation + 1;
    of = slot{};
    of.generation = generation;
    free_slots_.push_back(which);
    --counts_.descriptors_open;
}

/// Forgets the record, lets the next of its direction work, and a close that waited for it.
void sim_driver::release(std::uint32_t which) noexcept {
    auto& r = records_[which];
    --counts_.in_flight;
    auto const place = r.slot;
    auto const way = r.way;
    auto const before = r.before;
    auto const behind = r.behind;
    r = record{};
    free_records_.push_back(which);
    if (place == nobody) return;
    auto& of = slots_[place];
    if (of.closing == which) { // law 12: the number is free only now
        return free_slot(place);
    }
    auto& line = of.queues[way];
    (before == nobody ? line.first : records_[before].behind) = behind;
    (behind == nobody ? line.last : records_[behind].before) = before;
    if (before == nobody && behind != nobody && records_[behind].at == stage::waiting) begin(behind);
    begin_close_when_alone(of);
}

} // namespace pitsaw::inline v0
