#include "driver/io_uring/driver.hpp"
#include "os/posix/address.hpp"
#include "os/posix/socket.hpp"

#include <pitsaw/base/check.hpp>
#include <pitsaw/io/buffer.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <new>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace pitsaw::inline v0 {

static_assert(sizeof(source_span) == sizeof(iovec) && sizeof(msghdr) <= sizeof(wide_operation::native));

auto io_uring_driver::line_of(operation const& op) noexcept -> operation_line& {
    return op.code == op_code::nop ? targetless_ : slots_[op.target.index].lines[direction_of(op.code)];
}

/// Declines all: each would be a system call, and the point of a ring is that a turn has one.
auto io_uring_driver::attempt(operation& op, event&) noexcept -> bool {
    check(op.state == 0, "an operation that is in flight cannot be attempted");
    return false;
}

void io_uring_driver::submit(operation& op) noexcept {
    check(op.state == 0, "driver law 2 (loan): an operation in flight was submitted again");
    ::new (static_cast<void*>(op.scratch)) links{nullptr, nullptr, ++sequence_, 0, 0, 0, 0};
    set(op, stage::queued);
    ++in_flight_;
    auto* const on = find(op.target);
    if (op.code != op_code::nop && (on == nullptr || on->is_closing)) {
        ended_.push_back(op);
        set(op, stage::ended);
        of(op).result = -EBADF;
        return;
    }
    if (op.code == op_code::close) return begin_close(*on, &op);
    auto& line = line_of(op);
    auto const waits = direction_of(op.code) != no_direction && !line.empty(); // law 13
    line.push_back(op);
    if (!waits) begin(op, step::whole);
}

auto io_uring_driver::user_data(operation& op, tag what) noexcept -> std::uint64_t {
    return reinterpret_cast<std::uint64_t>(&op) | (of(op).sequence << 48) | what;
}

void io_uring_driver::to_backlog(operation& op) noexcept {
    of(op).behind = nullptr;
    (backlog_last_ == nullptr ? backlog_first_ : of(*backlog_last_).behind) = &op;
    backlog_last_ = &op;
}

/// The operation is the first of its direction: its entry goes to the submission queue, or it waits for room
/// there.
void io_uring_driver::begin(operation& op, step what) noexcept {
    set(op, stage::backlog, what);
    if (backlog_first_ == nullptr && ring_.free_entries() != 0)
        prepare(op);
    else
        to_backlog(op);
}

/// Turns what waits for room into entries, as far as there is room.
void io_uring_driver::flush_backlog() noexcept {
    arm_wake();
    while (closing_first_ != nobody && ring_.free_entries() >= 2) {
        auto& on = slots_[closing_first_];
        closing_first_ = on.next_closing;
        prepare_close(on);
    }
    while (backlog_first_ != nullptr && ring_.free_entries() != 0) {
        auto& op = *backlog_first_;
        auto& mine = of(op);
        backlog_first_ = mine.behind;
        if (backlog_first_ == nullptr) backlog_last_ = nullptr;
        if (at(op) == stage::backlog) {
            if ((mine.wishes & cancel_asked) == 0) {
                prepare(op);
            } else {
                drop_buffer(op);
                end_later(op, -ECANCELED);
            }
        } else {
            mine.wishes &= static_cast<std::uint8_t>(~cancel_waits);
            if ((mine.debts & owes_result) != 0)
                prepare_cancel(op);
            else
                end_later(op, mine.result); // ended by itself meanwhile
        }
    }
}

/// What needs no entry, or gets none. True: it has ended.
auto io_uring_driver::end_without_entry(operation& op) noexcept -> bool {
    auto result = 1;
    auto const is_pooled = has(op.options, op_option::pooled);
    switch (op.code) {
    case op_code::
        shutdown: // io_uring hands every one to a thread of its own (io_shutdown_prep sets FORCE_ASYNC,
        result = posix::shutdown_sending(slots_[op.target.index].fd); // Linux 6.18); the call never waits
        break;
    case op_code::receive:
        if (is_pooled && op.pool >= pools_.size()) result = -EINVAL;
        if (!is_pooled && op.length == 0) result = 0; // it would wait for some (tcp_recvmsg)
        break;
    case op_code::watch: // it would wait for ever: poll(2) finds nothing wrong with a listener
        if (auto const why = posix::look_whether_watchable(slots_[op.target.index].fd); why < 0) result = why;
        break;
    case op_code::connect:
        of(op).result = write_address(op);
        if (of(op).result < 0) result = of(op).result;
        break;
    case op_code::nop:
    case op_code::send:
    case op_code::accept:
    case op_code::close:
        break;
    }
    if (result <= 0) end_later(op, result);
    return result <= 0;
}

void io_uring_driver::prepare(operation& op) noexcept {
    if (end_without_entry(op)) return;
    auto const* const on = op.code == op_code::nop ? nullptr : &slots_[op.target.index];
    auto& entry = *ring_.next_entry();
    entry.fd = on == nullptr ? -1 : on->fd;
    entry.user_data = user_data(op, of_operation);
    switch (op.code) {
    case op_code::nop:
    case op_code::shutdown:
    case op_code::close:
        entry.opcode = IORING_OP_NOP;
        break;
    case op_code::receive:
        prepare_receive(op, entry);
        break;
    case op_code::send:
        entry.opcode = IORING_OP_SEND;
        entry.addr = reinterpret_cast<std::uint64_t>(op.address);
        entry.len = op.length;
        entry.msg_flags = MSG_NOSIGNAL;
        if (has(op.options, op_option::vectored)) {
            auto* const message =
                ::new (static_cast<void*>(static_cast<wide_operation&>(op).native)) msghdr{};
            message->msg_iov = static_cast<iovec*>(op.address);
            message->msg_iovlen = op.length;
            entry.opcode = IORING_OP_SENDMSG;
            entry.addr = reinterpret_cast<std::uint64_t>(message);
            entry.len = 1;
        }
        break;
    case op_code::watch:
        entry.opcode = IORING_OP_POLL_ADD;
        // The kernel adds POLLERR, POLLHUP and POLLRDHUP itself (IO_POLL_UNMASK). A watch for a broken
        // connection has to outlive the last: a multishot poll tells it once, another one-shot poll would at
        // once again.
        entry.poll32_events = POLLRDHUP;
        if (has(op.options, op_option::broken)) entry.len = IORING_POLL_ADD_MULTI;
        break;
    case op_code::accept:
        entry.opcode = IORING_OP_ACCEPT;
        entry.accept_flags = SOCK_CLOEXEC;
        if (has(op.options, op_option::multishot) && powers_.multishot_accept)
            entry.ioprio = IORING_ACCEPT_MULTISHOT;
        break;
    case op_code::connect:
        entry.opcode = IORING_OP_CONNECT;
        entry.addr = reinterpret_cast<std::uint64_t>(static_cast<wide_operation&>(op).native);
        entry.addr2 = static_cast<std::uint64_t>(of(op).result); // of write_address
        break;
    }
    set(op, stage::working, step_of(op));
    of(op).debts |= owes_result;
}

/// Returns the bytes of the `sockaddr`, or an error if the operation holds no address.
auto io_uring_driver::write_address(operation& op) noexcept -> std::int32_t {
    socket_address to;
    if (op.length != sizeof to) return -EINVAL;
    std::memcpy(&to, op.address, sizeof to);
    auto const native = to_posix(to);
    if (native.length == 0) return -EAFNOSUPPORT;
    static_assert(sizeof(sockaddr_in6) <= sizeof(wide_operation::native));
    std::memcpy(static_cast<wide_operation&>(op).native, &native.storage, native.length);
    return static_cast<std::int32_t>(native.length);
}

void io_uring_driver::prepare_receive(operation& op, io_uring_sqe& entry) noexcept {
    entry.opcode = IORING_OP_RECV;
    entry.addr = reinterpret_cast<std::uint64_t>(op.address);
    entry.len = op.length;
    if (!has(op.options, op_option::pooled)) return;
    auto& from = pools_[op.pool];
    auto what = step_of(op);
    if (what == step::whole && from.ring == nullptr) what = step::looks;
    if (what == step::looks) {
        entry.addr = reinterpret_cast<std::uint64_t>(&looked_at_);
        entry.len = 1;
        entry.msg_flags = MSG_PEEK;
    } else if (what == step::takes) {
        entry.addr =
            reinterpret_cast<std::uint64_t>(&from.memory[std::size_t{of(op).buffer} * from.buffer_bytes]);
        entry.len = from.buffer_bytes;
    } else {
        entry.addr = 0;
        entry.len = 0; // as much as the buffer holds
        entry.flags = IOSQE_BUFFER_SELECT;
        entry.buf_group = op.pool;
        if (has(op.options, op_option::multishot) && powers_.multishot_receive)
            entry.ioprio = IORING_RECV_MULTISHOT;
    }
    set(op, stage::backlog, what);
}

void io_uring_driver::cancel(operation& op) noexcept {
    if (op.state != 0 && op.code != op_code::close) ask_to_end(op, true);
}

void io_uring_driver::ask_to_end(operation& op, bool tell_kernel) noexcept {
    auto& mine = of(op);
    if ((mine.wishes & cancel_asked) != 0 || at(op) == stage::ended) return;
    mine.wishes |= cancel_asked;
    if (at(op) == stage::queued) return end_later(op, -ECANCELED);
    if (at(op) == stage::backlog || !tell_kernel) return; // flush_backlog() finds the wish
    tell_kernel_to_end(op);
}

void io_uring_driver::tell_kernel_to_end(operation& op) noexcept {
    auto& mine = of(op);
    if ((mine.debts & owes_result) == 0) return; // its result is there
    if ((mine.wishes & cancel_waits) != 0 || (mine.debts & owes_cancel) != 0) return;
    if (backlog_first_ == nullptr && ring_.free_entries() != 0) return prepare_cancel(op);
    mine.wishes |= cancel_waits;
    to_backlog(op);
}

void io_uring_driver::prepare_cancel(operation& op) noexcept {
    auto& entry = *ring_.next_entry();
    entry.opcode = IORING_OP_ASYNC_CANCEL;
    entry.fd = -1;
    entry.addr = user_data(op, of_operation);
    entry.user_data = user_data(op, of_cancel);
    of(op).debts |= owes_cancel;
}

auto io_uring_driver::detach(descriptor target) noexcept -> io_result<native_handle> {
    auto* const on = find(target);
    if (on == nullptr || on->is_closing) return std::unexpected(to_error(-EBADF));
    if (!on->is_idle()) return std::unexpected(to_error(-EBUSY));
    native_handle const handle{on->fd};
    free_slot(*on);
    return handle;
}

void io_uring_driver::discard(descriptor target) noexcept {
    auto* const on = find(target);
    if (on == nullptr || on->is_closing) return; // law 10: a stale descriptor reaches nothing
    if (on->is_idle()) {                         // as epoll does: whoever looks finds it closed
        ::close(on->fd);
        return free_slot(*on);
    }
    ++in_flight_;
    ++sequence_;
    begin_close(*on, nullptr);
}

/// Law 12: ends everything else first. What waits here ends here; the kernel ends what it has, before it
/// closes.
void io_uring_driver::begin_close(slot& on, operation* op) noexcept {
    on.is_closing = true;
    on.closing_op = op;
    if (op != nullptr) set(*op, stage::working);
    for (auto& line : on.lines)
        for (auto* each = line.first(); each != nullptr;) {
            auto* const behind = each->next;
            ask_to_end(*each, false);
            each = behind;
        }
    if (closing_first_ == nobody && ring_.free_entries() >= 2) return prepare_close(on);
    on.next_closing = closing_first_;
    closing_first_ = on.index;
}

/// A close alone leaves what is in flight on the file alive, and it still takes data that arrives.
void io_uring_driver::prepare_close(slot& on) noexcept {
    auto const mark = reinterpret_cast<std::uint64_t>(&on) | (std::uint64_t{on.generation} << 48);
    if (!on.is_idle()) {
        auto& entry = *ring_.next_entry();
        entry.opcode = IORING_OP_ASYNC_CANCEL;
        entry.flags = IOSQE_IO_HARDLINK; // the close follows whatever the cancel finds
        entry.fd = on.fd;
        entry.cancel_flags = IORING_ASYNC_CANCEL_FD | IORING_ASYNC_CANCEL_ALL;
        entry.user_data = mark | of_close_cancel;
        on.close_debts |= owes_cancel;
    }
    auto& entry = *ring_.next_entry();
    entry.opcode = IORING_OP_CLOSE;
    entry.fd = on.fd;
    entry.user_data = mark | of_close;
    on.close_debts |= owes_result;
}

} // namespace pitsaw::inline v0
