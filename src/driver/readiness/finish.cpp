#include "driver/readiness/driver.hpp"

#include <pitsaw/base/check.hpp>

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace pitsaw::inline v0 {

/// Fixes the result of one that waits, or of an event of it. Nothing changes it any more, a cancel least of
/// all.
void readiness_driver::end(readiness_slot& slot, operation& op, outcome const& how) noexcept {
    auto& line = slot.lines[direction_of(op.code)];
    line.remove(op);
    auto& own = mark_of(op);
    own.result = how.result;
    own.flags = how.flags;
    own.buffer = how.buffer;
    auto const is_one_of_many =
        op.code == op_code::accept ? how.result >= 0 : has(how.flags, event_flag::pooled);
    if (is_one_of_many && has(op.options, op_option::multishot)) {
        own.flags = own.flags | event_flag::more;
        op.state = reporting;
        slot.reporting = &op;
    } else {
        op.state = ended;
        ++slot.ended;
    }
    due_.push_back(op);
}

void readiness_driver::end_alone(operation& op, std::int32_t result) noexcept {
    mark_of(op).result = result;
    op.state = ended_alone;
    due_.push_back(op);
}

void readiness_driver::cancel(operation& op) noexcept {
    if (op.state == idle) return;
    check(mark_of(op).home == this, "driver law 11 (home): the operation was submitted to another driver");
    if (op.state == waiting || op.state == reporting) ask_to_end(*table_.find(op.target), op);
}

/// `op` waits or reports.
void readiness_driver::ask_to_end(readiness_slot& slot, operation& op) noexcept {
    if (op.state == reporting) {
        mark_of(op).cancel_asked = true; // hand_out() goes on with it
        return;
    }
    auto const way = direction_of(op.code);
    auto const was_at_work = slot.lines[way].first() == &op;
    if (op.code == op_code::connect && was_at_work) slot.is_connecting = false;
    end(slot, op, {.result = -ECANCELED});
    if (way != no_direction && was_at_work && !slot.lines[way].empty()) make_pending(slot);
}

void readiness_driver::end_others(readiness_slot& slot) noexcept {
    if (slot.reporting != nullptr) ask_to_end(slot, *slot.reporting);
    for (auto& line : slot.lines)
        while (!line.empty()) ask_to_end(slot, *line.first());
}

void readiness_driver::discard(descriptor target) noexcept {
    auto* const slot = table_.find(target);
    if (slot == nullptr || slot->is_closing()) return; // law 10: a stale descriptor reaches nothing
    slot->is_discarded = true;
    ++in_flight_;
    end_others(*slot);
    close_when_alone(*slot);
}

/// Law 12. Edges that are in a list of the kernel's already find the tag stale.
void readiness_driver::close_when_alone(readiness_slot& slot) noexcept {
    if (!slot.is_closing() || slot.fd < 0 || !slot.is_idle()) return;
    remove(slot.fd);
    ::close(std::exchange(slot.fd, -1)); // close(2): the number is free also after an error
    if (auto* const op = slot.closing; op != nullptr) {
        op->state = closed;
        mark_of(*op).result = 0;
        due_.push_back(*op);
    } else {
        --in_flight_;
        table_.remove(slot);
    }
}

auto readiness_driver::hand_out(std::span<event> out) noexcept -> std::size_t {
    std::size_t count = 0;
    while (count < out.size()) {
        auto* const op = due_.pop_front();
        if (op == nullptr) break;
        out[count++] = hand_out(*op);
    }
    return count;
}

/// The loan ends here if the event is the final one.
auto readiness_driver::hand_out(operation& op) noexcept -> event {
    auto& own = mark_of(op);
    event const what = {.op = &op, .result = own.result, .flags = own.flags, .buffer = own.buffer};
    auto const at = std::exchange(op.state, idle);
    if (at == ended_alone) {
        --in_flight_;
        return what;
    }
    auto& slot = *table_.find(op.target);
    if (at == closed) {
        --in_flight_;
        table_.remove(slot);
        return what;
    }
    if (at == reporting) {
        slot.reporting = nullptr;
        op.state = waiting;
        slot.lines[direction_of(op.code)].push_front(op);
        if (own.cancel_asked)
            ask_to_end(slot, op);
        else
            make_pending(slot);
        return what;
    }
    --in_flight_;
    --slot.ended;
    close_when_alone(slot);
    return what;
}

} // namespace pitsaw::inline v0
