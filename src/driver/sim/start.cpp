#include "driver/sim/driver.hpp"

#include <pitsaw/base/check.hpp>
#include <pitsaw/io/buffer.hpp>

#include <algorithm>
#include <cstring>
#include <system_error>

namespace pitsaw::inline v0 {

auto sim_driver::new_record(operation* op) noexcept -> std::uint32_t {
    auto which = static_cast<std::uint32_t>(records_.size());
    if (free_records_.empty()) {
        records_.emplace_back();
    } else {
        which = free_records_.back();
        free_records_.pop_back();
    }
    auto& made = records_[which];
    made.op = op;
    made.sequence = ++sequence_;
    made.has_buffer = false;
    ++counts_.in_flight;
    return which;
}

auto sim_driver::attempt(operation& op, event& finished) noexcept -> bool {
    check_home();
    check(op.state == 0, "an operation that is in flight cannot be attempted");
    if (is_cut_off_) return false;
    auto* const on = find(op.target);
    auto const way = direction_of(op.code);
    if (op.code != op_code::nop) {
        if (on == nullptr || on->closing != nobody) return false; // its final event will say why
        if (way != no_direction && on->queues[way].first != nobody) return false;
        if (op.code == op_code::close || has(op.options, op_option::multishot)) return false;
    }
    if (!chance(options_.inline_percent)) return false;
    record pooled; // where a pooled receive notes its buffer
    auto const is_pooled = has(op.options, op_option::pooled);
    pooled.op = &op;
    auto const result = is_pooled ? receive_pooled(pooled, *on) : perform(op, on, buffer_of(op));
    look_again();
    if (result == sim_network::would_block) return false;
    ++counts_.inline_done;
    finished = {.op = &op, .result = result};
    if (pooled.has_buffer) {
        finished.flags = event_flag::pooled;
        finished.buffer = pooled.buffer;
        std::ranges::copy(pooled.received, pools_[op.pool].buffer(pooled.buffer).begin());
    }
    return true;
}

void sim_driver::submit(operation& op) noexcept {
    check_home();
    check(op.state == 0, "driver law 2 (loan): an operation in flight was submitted again");
    auto const which = new_record(&op);
    auto& r = records_[which];
    op.state = 1;
    auto const mark = identity{this, r.sequence, which};
    static_assert(sizeof mark <= sizeof op.scratch);
    std::memcpy(op.scratch, &mark, sizeof mark);
    if (options_.check_loans) r.loan.begin(op);
    ++counts_.submitted;
    auto* const on = find(op.target);
    if (op.code == op_code::nop) {
        begin(which);
    } else if (on == nullptr || on->closing != nobody) {
        end(which, -static_cast<std::int32_t>(std::errc::bad_file_descriptor));
    } else {
        r.slot = op.target.index;
        r.way = direction_of(op.code);
        if (op.code == op_code::close)
            begin_close(which, *on);
        else
            enqueue(which);
    }
}

/// Law 13: the first of a direction is at work, the others wait.
void sim_driver::enqueue(std::uint32_t which) noexcept {
    auto& r = records_[which];
    auto& line = slots_[r.slot].queues[r.way];
    r.before = line.last;
    r.at = stage::waiting;
    if (line.last != nobody) records_[line.last].behind = which;
    line.last = which;
    bool const is_first = line.first == nobody;
    if (is_first) line.first = which;
    if (is_first || r.way == no_direction) begin(which); // those of no direction need not wait for each other
}

void sim_driver::begin(std::uint32_t which) noexcept {
    records_[which].at = stage::scheduled;
    plan(which, step_kind::take_place, up_to(options_.start_max));
}

/// Law 12: ends everything else first; release() calls begin_close_when_alone after each.
void sim_driver::begin_close(std::uint32_t which, slot& of) noexcept {
    of.closing = which;
    records_[which].at = stage::waiting;
    for (auto const& line : of.queues)
        for (auto other = line.first; other != nobody; other = records_[other].behind)
            ask_to_end(other, false);
    begin_close_when_alone(of);
}

void sim_driver::begin_close_when_alone(slot& of) noexcept {
    if (of.closing == nobody || !of.is_idle()) return;
    if (records_[of.closing].at == stage::waiting) begin(of.closing);
}

/// The network's object, which is no longer this driver's.
auto sim_driver::leave(slot& of) noexcept -> native_handle {
    slot_of_handle_[static_cast<std::size_t>(of.handle)] = nobody;
    return std::exchange(of.handle, native_handle::none);
}

auto sim_driver::detach(descriptor target) noexcept -> io_result<native_handle> {
    check_home();
    auto* const on = find(target);
    if (is_cut_off_ || on == nullptr || on->closing != nobody)
        return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
    if (!on->is_idle()) return std::unexpected(std::make_error_code(std::errc::device_or_resource_busy));
    auto const handle = leave(*on);
    free_slot(target.index);
    return handle;
}

void sim_driver::discard(descriptor target) noexcept {
    check_home();
    auto* const on = find(target);
    if (on == nullptr || on->closing != nobody) return; // law 10: a stale descriptor reaches nothing
    if (!is_cut_off_) network_->hide(on->handle);       // as on Linux, where a port is free at once
    auto const which = new_record(nullptr);
    records_[which].slot = target.index;
    begin_close(which, *on);
}

/// The call itself, as a kernel makes it: at once, or would_block.
auto sim_driver::perform(operation const& op, slot const* on, std::span<std::byte> receive_into) noexcept
    -> std::int32_t {
    if (is_cut_off_ && op.code != op_code::nop) return cut_off_result;
    auto const some = [&](std::size_t most) {
        auto const fewer = most > 1 && chance(options_.short_percent);
        return fewer ? 1 + static_cast<std::size_t>(random_.below(most)) : most;
    };
    auto const is_transfer = op.code == op_code::receive || op.code == op_code::send;
    if (is_transfer && happens(options_.faults.reset_percent)) network_->reset(on->handle);
    switch (op.code) {
    case op_code::nop:
        return 0;
    case op_code::receive: {
        auto const there = std::max<std::size_t>(network_->readable_bytes(on->handle), 1);
        return network_->receive(on->handle, receive_into.first(some(std::min(receive_into.size(), there))));
    }
    case op_code::send: {
        if (!has(op.options, op_option::vectored))
            return network_->send(on->handle, buffer_of(op).first(some(op.length)));
        std::vector<std::byte> joined;
        for (auto const& piece : pieces_of(op)) {
            auto const* const from = static_cast<std::byte const*>(piece.address);
            joined.insert(joined.end(), from, from + piece.length);
        }
        return network_->send(on->handle, std::span(joined).first(some(joined.size())));
    }
    case op_code::watch:
        return network_->watch(on->handle, has(op.options, op_option::broken));
    case op_code::accept:
        if (network_->has_accepted(on->handle) && !may_open())
            return -static_cast<std::int32_t>(std::errc::too_many_files_open);
        return network_->accept(on->handle);
    case op_code::connect: {
        socket_address to;
        if (op.length != sizeof to) return -static_cast<std::int32_t>(std::errc::invalid_argument);
        std::memcpy(&to, op.address, sizeof to);
        if (happens(options_.faults.refused_percent))
            return -static_cast<std::int32_t>(std::errc::connection_refused);
        return network_->connect(on->handle, to);
    }
    case op_code::shutdown:
        return network_->shutdown(on->handle);
    case op_code::close:
        return 0; // take_place() closes: a discard has no operation
    }
    return -static_cast<std::int32_t>(std::errc::operation_not_supported);
}

/// Leaves the bytes in `r.received` and a buffer for them in `r.buffer`.
auto sim_driver::receive_pooled(record& r, slot const& on) noexcept -> std::int32_t {
    if (r.op->pool >= pools_.size()) return -static_cast<std::int32_t>(std::errc::invalid_argument);
    auto& from = pools_[r.op->pool];
    if (is_cut_off_) return cut_off_result;
    auto const there = network_->readable_bytes(on.handle);
    auto const is_short = from.free.empty() || happens(options_.faults.no_buffer_percent);
    if (there != 0 && is_short) return -static_cast<std::int32_t>(std::errc::no_buffer_space);
    r.received.resize(std::min<std::size_t>(from.buffer_bytes, std::max<std::size_t>(there, 1)));
    auto const result = perform(*r.op, &on, r.received);
    r.received.resize(result > 0 ? static_cast<std::size_t>(result) : 0);
    if (result > 0) {
        r.has_buffer = true;
        r.buffer = from.free.back();
        from.free.pop_back();
        from.is_free[r.buffer] = false;
    }
    return result;
}

void sim_driver::take_place(std::uint32_t which) noexcept {
    auto& r = records_[which];
    auto const is_close = r.op == nullptr || r.op->code == op_code::close;
    if (is_close) {
        auto const handle = leave(slots_[r.slot]);
        if (!is_cut_off_) network_->close(handle);
        look_again();
        return end(which, 0);
    }
    if (options_.check_loans) r.loan.verify(*r.op);
    auto const* const on = r.slot == nobody ? nullptr : &slots_[r.slot];
    auto const is_pooled = r.op->code == op_code::receive && has(r.op->options, op_option::pooled);
    if (r.op->code == op_code::receive && !is_pooled) {
        auto const there = is_cut_off_ ? 1 : std::max<std::size_t>(network_->readable_bytes(on->handle), 1);
        r.received.resize(std::min<std::size_t>(r.op->length, there));
    }
    auto const result = is_pooled ? receive_pooled(r, *on) : perform(*r.op, on, r.received);
    look_again();
    if (result == sim_network::would_block) {
        r.at = stage::blocked;
        return;
    }
    r.received.resize(r.op->code == op_code::receive && result > 0 ? static_cast<std::size_t>(result) : 0);
    auto const may_go_on = has(r.op->options, op_option::multishot) &&
                           (r.op->code == op_code::accept ? result >= 0 : is_pooled && result > 0);
    auto const goes_on = may_go_on && !chance(options_.multishot_ends_percent);
    end(which, result, goes_on);
}

/// Schedules the operations that were blocked on a socket which has changed.
void sim_driver::look_again() noexcept {
    if (!has_changes()) return;
    for (auto const handle : std::exchange(changes_, {})) {
        auto const number = static_cast<std::size_t>(handle);
        if (number >= slot_of_handle_.size() || slot_of_handle_[number] == nobody) continue;
        auto const& of = slots_[slot_of_handle_[number]];
        for (auto const way : {inward, outward})
            if (auto const first = of.queues[way].first;
                first != nobody && records_[first].at == stage::blocked)
                begin(first);
        for (auto each = of.queues[no_direction].first; each != nobody; each = records_[each].behind)
            if (records_[each].at == stage::blocked) begin(each);
    }
}

} // namespace pitsaw::inline v0
