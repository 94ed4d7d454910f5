#include "driver/io_uring/driver.hpp"

#include "os/posix/socket.hpp"

#include <pitsaw/base/check.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace pitsaw::inline v0 {
namespace {

template <class T> auto pointer(std::uint64_t user_data) noexcept -> T& {
    return *reinterpret_cast<T*>(user_data & 0x0000'FFFF'FFFF'FFF8U);
}

/// Each completion is owed: a late one, or a second, ends the process here, as long as what its user_data
/// points to is memory still (an operation that is over may be gone; a driver's slots stay).
constexpr auto const* nobody_waits = "driver law 10 (identity): a completion that nobody waits for";

} // namespace

auto io_uring_driver::take_ended(std::span<event> out) noexcept -> std::size_t {
    std::size_t count = 0;
    while (count < out.size() && !ended_.empty()) {
        auto& op = *ended_.first();
        ended_.remove(op);
        out[count++] = deliver(op);
    }
    return count;
}

/// Takes completions as long as the span has room for what each may bring; the rest stays in the queue.
auto io_uring_driver::reap(std::span<event> out) noexcept -> std::size_t {
    std::size_t count = 0;
    while (count < out.size()) {
        auto const* const next = ring_.completion();
        if (next == nullptr) break;
        auto const done = *next;
        ring_.pop_completion();
        switch (static_cast<tag>(done.user_data & tag_bits)) {
        case of_operation: {
            auto& op = pointer<operation>(done.user_data);
            check(done.user_data == user_data(op, of_operation) && at(op) == stage::working &&
                      (of(op).debts & owes_result) != 0,
                  nobody_waits);
            if (on_result(op, done, out[count])) ++count;
            break;
        }
        case of_cancel: {
            auto& op = pointer<operation>(done.user_data);
            auto& mine = of(op);
            check(done.user_data == user_data(op, of_cancel) && at(op) == stage::working &&
                      (mine.debts & owes_cancel) != 0,
                  nobody_waits);
            mine.debts &= static_cast<std::uint8_t>(~owes_cancel);
            // Not found, between two of the kernel's lists or done with its completion to come: asked once
            // more.
            if (done.res == -ENOENT) tell_kernel_to_end(op);
            if (mine.debts == 0 && finish(op, mine.result, out[count])) ++count;
            break;
        }
        case of_close: {
            auto& on = pointer<slot>(done.user_data);
            check((on.close_debts & owes_result) != 0, nobody_waits);
            on.close_debts &= static_cast<std::uint8_t>(~owes_result);
            on.close_result = done.res;
            on.is_closed = true;
            close_when_alone(on);
            break;
        }
        case of_close_cancel: {
            auto& on = pointer<slot>(done.user_data);
            check((on.close_debts & owes_cancel) != 0, nobody_waits);
            on.close_debts &= static_cast<std::uint8_t>(~owes_cancel);
            close_when_alone(on);
            break;
        }
        case of_wake:
        case tag_bits:
            if ((done.flags & IORING_CQE_F_MORE) == 0) wake_is_armed_ = false;
            break;
        }
    }
    return count;
}

auto io_uring_driver::on_result(operation& op, io_uring_cqe const& done, event& out) noexcept -> bool {
    auto& mine = of(op);
    if ((done.flags & IORING_CQE_F_BUFFER) != 0) {
        auto const buffer = static_cast<std::uint16_t>(done.flags >> IORING_CQE_BUFFER_SHIFT);
        if (done.res > 0)
            note_buffer(op, buffer);
        else
            put_buffer(pools_[op.pool], buffer); // law 4: a result of 0 and an error bring none
    }
    if ((done.flags & IORING_CQE_F_MORE) != 0) {
        if (op.code == op_code::watch) {
            if (auto const result = watch_result(op, done.res); result != 0) end_watch(op, result);
            return false;
        }
        auto const brings = (mine.wishes & has_buffer) != 0;
        mine.wishes &= static_cast<std::uint8_t>(~has_buffer);
        out = {&op, done.res, brings ? event_flag::more | event_flag::pooled : event_flag::more,
               brings ? mine.buffer : std::uint16_t{0}};
        return true;
    }
    mine.debts &= static_cast<std::uint8_t>(~owes_result);
    return settle(op, done.res, out);
}

/// What the kernel's last word on an entry means for its operation.
auto io_uring_driver::settle(operation& op, std::int32_t result, event& out) noexcept -> bool {
    if (result == -EINTR || result == -EAGAIN) { // law 6
        drop_buffer(op);
        return again(op, step_of(op) == step::takes ? step::looks : step_of(op), out);
    }
    if (op.code == op_code::accept && posix::is_of_the_accepted(result)) return again(op, step::whole, out);
    if (op.code == op_code::watch) {
        if ((of(op).wishes & is_settled) != 0) return finish(op, of(op).result, out);
        result = watch_result(op, result);
        auto const goes_on = result == 0 && has(op.options, op_option::broken);
        return goes_on ? again(op, step::whole, out) : finish(op, result, out);
    }
    if (op.code == op_code::send || op.code == op_code::receive) {
        auto& on = slots_[op.target.index];
        auto const is_over = op.code == op_code::send ? result == -EPIPE : result == 0;
        if (posix::is_broken(result) && on.broken == 0) {
            on.broken = result;
            for (auto* each = on.lines[no_direction].first(); each != nullptr; each = each->next)
                if (has(each->options, op_option::broken)) end_watch(*each, result);
        }
        if (is_over && on.broken != 0) result = on.broken; // the kernel tells it once, to whoever asks first
    }
    auto const is_pooled = op.code == op_code::receive && has(op.options, op_option::pooled);
    return is_pooled ? settle_pooled(op, result, out) : finish(op, result, out);
}

auto io_uring_driver::settle_pooled(operation& op, std::int32_t result, event& out) noexcept -> bool {
    auto& from = pools_[op.pool];
    auto& mine = of(op);
    switch (step_of(op)) {
    case step::whole:
        // The kernel looks for a buffer first and for something to receive afterwards; law 16 asks the
        // reverse.
        if (result == -ENOBUFS) return again(op, offer_more(from) ? step::whole : step::looks, out);
        break;
    case step::looks:
        if (result <= 0) break;
        if ((mine.wishes & cancel_asked) != 0) return finish(op, -ECANCELED, out);
        if (from.taken == from.count) return finish(op, -ENOBUFS, out);
        if (from.ring != nullptr) return again(op, step::whole, out);
        if (from.free.empty()) return finish(op, -ENOBUFS, out); // others are about to fill the last ones
        mine.buffer = from.free.back();
        from.free.pop_back();
        return again(op, step::takes, out);
    case step::takes:
        if (result > 0)
            note_buffer(op, mine.buffer);
        else
            drop_buffer(op);
        break;
    }
    return finish(op, result, out);
}

/// Tries once more, unless the operation was asked to end.
auto io_uring_driver::again(operation& op, step what, event& out) noexcept -> bool {
    if ((of(op).wishes & cancel_asked) != 0) return finish(op, -ECANCELED, out);
    set(op, stage::backlog, what);
    to_backlog(op);
    return false;
}

/// The result is fixed. True: the kernel owes nothing more and `out` is the final event.
auto io_uring_driver::finish(operation& op, std::int32_t result, event& out) noexcept -> bool {
    auto& mine = of(op);
    mine.result = result;
    if (mine.debts != 0 || (mine.wishes & cancel_waits) != 0) return false;
    leave_queue(op);
    out = deliver(op);
    return true;
}

/// As `finish`, where no span is at hand.
void io_uring_driver::end_later(operation& op, std::int32_t result) noexcept {
    of(op).result = result;
    leave_queue(op);
    set(op, stage::ended);
    ended_.push_back(op);
}

/// The next of the direction goes to work at the next turn: begun here, a chain of operations that end at
/// once would be a recursion.
void io_uring_driver::leave_queue(operation& op) noexcept {
    auto& line = line_of(op);
    line.remove(op);
    auto const is_next = direction_of(op.code) != no_direction && !line.empty();
    if (is_next && at(*line.first()) == stage::queued) {
        set(*line.first(), stage::backlog);
        to_backlog(*line.first());
    }
    if (op.code != op_code::nop) close_when_alone(slots_[op.target.index]);
}

/// Law 12: the final event of a close is the last.
void io_uring_driver::close_when_alone(slot& on) noexcept {
    if (!on.is_closed || on.close_debts != 0) return;
    for (auto const& line : on.lines)
        if (!line.empty()) return;
    if (on.closing_op != nullptr) {
        auto& op = *on.closing_op;
        on.close_debts = owes_event;
        of(op).result = on.close_result;
        set(op, stage::ended);
        ended_.push_back(op); // the number is free once the event has left
        return;
    }
    --in_flight_;
    free_slot(on);
}

void io_uring_driver::free_slot(slot& on) noexcept {
    auto const generation = on.generation + 1;
    auto const index = on.index;
    on = slot{};
    on.index = index;
    on.generation = generation == 0 ? 1 : generation;
    free_slots_.push_back(index);
}

auto io_uring_driver::deliver(operation& op) noexcept -> event {
    auto const& mine = of(op);
    auto const brings = (mine.wishes & has_buffer) != 0;
    event const made{&op, mine.result, brings ? event_flag::pooled : event_flag::none,
                     brings ? mine.buffer : std::uint16_t{0}};
    if (op.code == op_code::close)
        if (auto* const on = find(op.target); on != nullptr && on->closing_op == &op) free_slot(*on);
    --in_flight_;
    op.next = nullptr;
    op.state = 0;
    return made;
}

/// `mask`: what poll(2) found, or an error.
auto io_uring_driver::watch_result(operation const& op, std::int32_t mask) noexcept -> std::int32_t {
    if (mask < 0) return mask;
    auto& on = slots_[op.target.index];
    if ((mask & POLLNVAL) != 0) return -EBADF;
    if (on.is_closing) return -ECANCELED; // its number may be another's already
    if ((mask & POLLERR) != 0 && on.broken == 0) {
        auto const error = posix::take_error(on.fd);
        on.broken = error != 0 ? error : -ECONNRESET; // a receive may have taken it a moment ago
    }
    // Of a connection whose both directions have ended poll(2) tells POLLRDHUP as well (tcp_poll, Linux
    // 6.18).
    if ((mask & POLLHUP) != 0 && (mask & POLLRDHUP) == 0 && on.broken == 0) return -ENOTCONN;
    return on.broken;
}

/// Ends a watch for a broken connection, a poll that would go on by itself.
void io_uring_driver::end_watch(operation& op, std::int32_t result) noexcept {
    auto& mine = of(op);
    if (at(op) != stage::working || (mine.debts & owes_result) == 0 || (mine.wishes & is_settled) != 0)
        return;
    mine.result = result;
    mine.wishes |= is_settled;
    tell_kernel_to_end(op);
}

void io_uring_driver::note_buffer(operation& op, std::uint16_t buffer) noexcept {
    auto& from = pools_[op.pool];
    check(buffer < from.count && !from.is_taken[buffer],
          "driver law 16 (pools): the kernel filled a buffer that is in use");
    from.is_taken[buffer] = true;
    ++from.taken;
    of(op).buffer = buffer;
    of(op).wishes |= has_buffer;
}

/// What a receive took beforehand and did not fill goes back.
void io_uring_driver::drop_buffer(operation& op) noexcept {
    if (op.code == op_code::receive && step_of(op) == step::takes) put_buffer(pools_[op.pool], of(op).buffer);
}

void io_uring_driver::give_back(std::uint16_t of, std::uint16_t buffer) noexcept {
    check(of < pools_.size() && buffer < pools_[of].count && pools_[of].is_taken[buffer],
          "driver law 16 (pools): a buffer was given back that no event had brought");
    auto& to = pools_[of];
    to.is_taken[buffer] = false;
    --to.taken;
    put_buffer(to, buffer);
}

void io_uring_driver::put_buffer(struct pool& to, std::uint16_t buffer) noexcept {
    if (to.ring == nullptr) return to.free.push_back(buffer);
    auto& place = to.ring[to.ring_tail & (to.ring_entries - 1)];
    place.addr = reinterpret_cast<std::uint64_t>(&to.memory[std::size_t{buffer} * to.buffer_bytes]);
    place.len = to.buffer_bytes;
    place.bid = buffer;
    // The ring's tail lies in the first entry's last field (io_uring_register(2)); in C++ the header's own
    // io_uring_buf_ring puts the entries 8 bytes too far, for its empty structure has a size there.
    std::atomic_ref(to.ring->resv)
        .store(++to.ring_tail, std::memory_order_release); // with the kernel's acquire
}

} // namespace pitsaw::inline v0
