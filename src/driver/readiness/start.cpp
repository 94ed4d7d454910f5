#include "driver/readiness/driver.hpp"

#include "os/posix/socket.hpp"

#include <pitsaw/base/check.hpp>
#include <pitsaw/io/buffer.hpp>

#include <cerrno>
#include <cstring>
#include <new>

namespace pitsaw::inline v0 {
namespace {

// Calls for one descriptor and direction before another has its turn.
constexpr std::size_t calls_in_a_row = 16;

// EINTR and connections that were gone before they were accepted: so often in one call, then the next edge
// or turn.
constexpr int retries_max = 16;

/// Repeats what a signal interrupted. Calls that do not block are hardly ever interrupted; signal(7).
template <class Call> auto uninterrupted(Call call) noexcept -> std::int32_t {
    for (;;)
        if (auto const result = call(); result != -EINTR) return result;
}

/// What became of a receive of `wanted` bytes: keeps readiness and the error of a broken connection.
auto settle_receive(readiness_slot& slot, std::int32_t result, std::size_t wanted) noexcept -> std::int32_t {
    if (result == posix::would_block) {
        slot.ready = slot.ready - readiness::inward;
    } else if (result > 0) {
        // epoll(7): from a stream, fewer bytes than asked for were all there are, and the next edge is to
        // come. Not so once the peer has finished: that edge has been.
        if (slot.short_means_empty && static_cast<std::size_t>(result) < wanted && !slot.has_hung_up)
            slot.ready = slot.ready - readiness::inward;
    } else if (posix::is_broken(result)) {
        slot.error = result;
    } else if ((result == 0 && slot.error != -EPIPE) || result == -ENOTCONN) {
        if (slot.error != 0) return slot.error; // another call has taken it from the kernel
    }
    return result;
}

} // namespace

auto readiness_driver::mark_of(operation& op) noexcept -> mark& {
    return *std::launder(reinterpret_cast<mark*>(op.scratch));
}

auto readiness_driver::attempt(operation& op, event& finished) noexcept -> bool {
    check(op.state == idle, "an operation that is in flight cannot be attempted");
    if (op.code == op_code::nop) {
        finished = {.op = &op};
        return true;
    }
    // A connect that has begun cannot be undone, so it is not attempted.
    if (op.code == op_code::close || op.code == op_code::connect || has(op.options, op_option::multishot))
        return false;
    auto* const slot = table_.find(op.target);
    if (slot == nullptr || slot->is_closing()) return false; // its final event will say why
    auto const way = direction_of(op.code);
    if (way != no_direction && !slot->lines[way].empty()) return false;
    // What has ended and was not told yet comes first, whichever way it goes.
    if (slot->reporting != nullptr || slot->ended != 0) return false;
    auto const done = perform(op, *slot);
    if (done.result == posix::would_block) return false;
    finished = {.op = &op, .result = done.result, .flags = done.flags, .buffer = done.buffer};
    return true;
}

void readiness_driver::submit(operation& op) noexcept {
    check(op.state == idle, "driver law 2 (loan): an operation in flight was submitted again");
    auto* const made = ::new (op.scratch) mark;
    made->home = this;
    made->sequence = ++sequence_;
    ++in_flight_;
    if (op.code == op_code::nop) return end_alone(op, 0);
    auto* const slot = table_.find(op.target);
    if (slot == nullptr || slot->is_closing()) return end_alone(op, -EBADF);
    if (op.code == op_code::close) {
        op.state = closing;
        slot->closing = &op;
        end_others(*slot);
        return close_when_alone(*slot);
    }
    auto const way = direction_of(op.code);
    auto& line = slot->lines[way];
    auto const is_at_work = line.empty() && (way != inward || slot->reporting == nullptr);
    op.state = waiting;
    line.push_back(op);
    if (way == no_direction) {
        if (auto const result = watch(op, *slot, true); result != posix::would_block)
            end(*slot, op, {.result = result});
    } else if (is_at_work) {
        std::size_t calls = 1;
        if (!advance(*slot, way, calls)) make_pending(*slot);
    }
}

/// Tries the operations of a direction, in order, until one would block. False: `calls` ran out before.
auto readiness_driver::advance(readiness_slot& slot, direction way, std::size_t& calls) noexcept -> bool {
    auto& line = slot.lines[way];
    auto const is_reporting = [&] { return way == inward && slot.reporting != nullptr; };
    for (std::size_t in_a_row = 0; !line.empty() && !is_reporting(); ++in_a_row) {
        if (calls == 0 || in_a_row == calls_in_a_row) return false;
        auto& op = *line.first();
        auto const done = perform(op, slot);
        if (done.result == posix::would_block) return true;
        --calls;
        end(slot, op, done);
    }
    return true;
}

void readiness_driver::look_at_watches(readiness_slot& slot) noexcept {
    slot.ready = slot.ready - readiness::hang_up;
    for (auto* op = slot.lines[no_direction].first(); op != nullptr;) {
        auto* const behind = op->next;
        if (auto const result = watch(*op, slot, false); result != posix::would_block)
            end(slot, *op, {.result = result});
        op = behind;
    }
}

/// The call itself, where it may succeed: its result, or would_block and no more readiness.
auto readiness_driver::perform(operation& op, readiness_slot& slot) noexcept -> outcome {
    switch (op.code) {
    case op_code::receive:
        return has(op.options, op_option::pooled) ? receive_pooled(op, slot) : receive(op, slot);
    case op_code::send:
        return {.result = send(op, slot)};
    case op_code::watch:
        return {.result = watch(op, slot, true)};
    case op_code::accept:
        return {.result = accept(slot)};
    case op_code::connect:
        return {.result = connect(op, slot)};
    case op_code::shutdown:
        return {.result = posix::shutdown_sending(slot.fd)};
    case op_code::nop:
    case op_code::close:
        break; // submit's
    }
    return {.result = -EOPNOTSUPP};
}

auto readiness_driver::receive(operation const& op, readiness_slot& slot) noexcept -> outcome {
    if (op.length == 0) return {}; // recv(2) would wait for a byte that it then does not take
    if (slot.is_listener)
        return {.result = -ENOTCONN}; // recv(2) says so, and only an accept made it not ready
    if (!has(slot.ready, readiness::inward)) return {.result = posix::would_block};
    auto const result = uninterrupted([&] { return posix::receive(slot.fd, buffer_of(op)); });
    return {.result = settle_receive(slot, result, op.length)};
}

auto readiness_driver::receive_pooled(operation const& op, readiness_slot& slot) noexcept -> outcome {
    if (op.pool >= pools_.size()) return {.result = -EINVAL};
    if (slot.is_listener) return {.result = -ENOTCONN};
    if (!has(slot.ready, readiness::inward)) return {.result = posix::would_block};
    auto& pool = pools_[op.pool];
    if (pool.empty()) {
        auto const result = uninterrupted([&] { return posix::peek(slot.fd); });
        return {.result = result > 0 ? -ENOBUFS : settle_receive(slot, result, 0)};
    }
    auto const into = pool.front();
    auto const result = uninterrupted([&] { return posix::receive(slot.fd, into); });
    if (result <= 0) return {.result = settle_receive(slot, result, into.size())};
    return {.result = settle_receive(slot, result, into.size()),
            .flags = event_flag::pooled,
            .buffer = pool.take()};
}

auto readiness_driver::send(operation const& op, readiness_slot& slot) noexcept -> std::int32_t {
    if (!has(slot.ready, readiness::outward)) return posix::would_block;
    auto const result = uninterrupted([&] {
        return has(op.options, op_option::vectored) ? posix::send(slot.fd, pieces_of(op))
                                                    : posix::send(slot.fd, buffer_of(op));
    });
    if (result == posix::would_block)
        slot.ready = slot.ready - readiness::outward;
    else if (posix::is_broken(result))
        slot.error = result;
    else if ((result == -EPIPE || result == -ENOTCONN) && slot.error != 0)
        return slot.error; // another call has taken it from the kernel
    return result;
}

auto readiness_driver::accept(readiness_slot& slot) noexcept -> std::int32_t {
    // What is no listener is not ready only because a receive found nothing, and no edge will tell.
    if (slot.is_listener && !has(slot.ready, readiness::inward)) return posix::would_block;
    for (int i = 0; i < retries_max; ++i) {
        auto const result = posix::accept(slot.fd);
        if (result == -EINTR || posix::is_of_the_accepted(result)) continue;
        if (result != posix::would_block) return result; // EMFILE too: whoever accepts decides when to go on
        slot.is_listener = true;
        slot.ready = slot.ready - readiness::inward;
        return posix::would_block;
    }
    make_pending(slot); // still ready
    return posix::would_block;
}

auto readiness_driver::connect(operation const& op, readiness_slot& slot) noexcept -> std::int32_t {
    if (!slot.is_connecting) {
        socket_address to;
        if (op.length != sizeof to) return -EINVAL;
        std::memcpy(&to, op.address, sizeof to);
        // Linux lets the first connect(2) after one that ended in the background succeed
        // (inet_stream_connect).
        if (slot.is_connected) return -EISCONN;
        slot.ready = slot.ready - readiness::outward; // what was said before it began says nothing of its end
        slot.has_hung_up = false; // a socket that is not connected counts as hung up; tcp_poll of Linux
        slot.error = 0;
        auto result = posix::connect(slot.fd, to);
        // Linux has the first connect(2) after one that failed in the background end so, and does nothing
        // (inet_stream_connect, where the error has been taken already).
        if (result == -ECONNABORTED) result = posix::connect(slot.fd, to);
        if (result == -EINPROGRESS || result == -EINTR) { // connect(2): after EINTR it goes on as well
            slot.is_connecting = true;
            return posix::would_block;
        }
        slot.ready = slot.ready | readiness::outward;
        slot.is_connected = result == 0;
        // connect(2): of sockets that are not local, EAGAIN is a lack of entries in a table of the kernel.
        return result == posix::would_block ? -ENOBUFS : result;
    }
    if (!has(slot.ready, readiness::outward)) return posix::would_block;
    auto result = slot.error != 0 ? slot.error : posix::take_error(slot.fd);
    if (result == 0 && posix::look_for_peer(slot.fd) < 0) { // an edge of before: it goes on
        slot.ready = slot.ready - readiness::outward;
        return posix::would_block;
    }
    slot.is_connecting = false;
    slot.is_connected = result == 0;
    slot.error = result;
    return result;
}

/// Level, not edge: what is true now. The error of a broken connection can be taken from the kernel once,
/// so who takes it leaves it in the slot for the others.
auto readiness_driver::watch(operation const& op, readiness_slot& slot, bool is_new) noexcept
    -> std::int32_t {
    if (slot.error != 0) return slot.error;
    auto const now = posix::look_for_hang_up(slot.fd);
    if (now.error) slot.error = posix::take_error(slot.fd);
    if (slot.error != 0) return slot.error;
    if (now.peer_finished) return has(op.options, op_option::broken) ? posix::would_block : 0;
    if (is_new)
        if (auto const peer = posix::look_for_peer(slot.fd); peer < 0) return peer;
    return now.both_finished ? -ENOTCONN : posix::would_block;
}

} // namespace pitsaw::inline v0
