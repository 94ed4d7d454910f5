#include "sim/fault_driver.hpp"

#include "task/allocation_watch.hpp"

#include <pitsaw/base/check.hpp>
#include <pitsaw/io/socket_command.hpp>

#include <algorithm>
#include <chrono>
#include <system_error>

namespace pitsaw::inline v0::sim {

namespace {

// How long an operation takes that fails: long enough for others to happen meanwhile.
constexpr duration time_to_fail = std::chrono::microseconds(30);

std::int32_t failed_with(std::errc const what) noexcept { return -static_cast<std::int32_t>(what); }

/// How the world breaks an operation.
std::errc failure_of(op_code const code) noexcept {
    switch (code) {
    case op_code::receive:
    case op_code::send:
    case op_code::watch:
        return std::errc::connection_reset;
    case op_code::accept:
        return std::errc::too_many_files_open;
    case op_code::connect:
        return std::errc::connection_refused;
    case op_code::shutdown:
        return std::errc::not_connected;
    case op_code::nop:
    case op_code::close:
        return std::errc::io_error;
    }
    std::unreachable();
}

} // namespace

void fault_driver::strike(char const* const what, std::errc const with) noexcept {
    if (faults.on_failure != nullptr) faults.on_failure(faults.context, what, with);
}

auto fault_driver::is_failing_call(char const* const what, std::errc const with) noexcept -> bool {
    if (++faults.calls != faults.failing_call) return false;
    strike(what, with);
    return true;
}

auto fault_driver::attach(native_handle const handle) noexcept -> io_result<descriptor> {
    unwatched_allocations const kernel;
    auto const attached = own_->attach(handle);
    if (!attached.has_value() || !is_failing_call("attach", std::errc::not_enough_memory)) return attached;
    own_->discard(*attached); // it takes the object over also when it fails
    return std::unexpected(std::make_error_code(std::errc::not_enough_memory));
}

auto fault_driver::open_stream(address_family const family) noexcept -> io_result<descriptor> {
    unwatched_allocations const kernel;
    if (is_failing_call("open_stream", std::errc::too_many_files_open))
        return std::unexpected(std::make_error_code(std::errc::too_many_files_open));
    return own_->open_stream(family);
}

auto fault_driver::control(descriptor const target, socket_command& command) noexcept -> io_result<void> {
    unwatched_allocations const kernel;
    return own_->control(target, command);
}

auto fault_driver::lend(std::span<std::byte> const memory, std::uint32_t const buffer_bytes) noexcept
    -> io_result<std::uint16_t> {
    unwatched_allocations const kernel;
    if (is_failing_call("lend", std::errc::not_enough_memory))
        return std::unexpected(std::make_error_code(std::errc::not_enough_memory));
    return own_->lend(memory, buffer_bytes);
}

void fault_driver::give_back(std::uint16_t const pool, std::uint16_t const buffer) noexcept {
    unwatched_allocations const kernel;
    own_->give_back(pool, buffer);
}

auto fault_driver::attempt(operation& op, event& finished) noexcept -> bool {
    unwatched_allocations const kernel;
    if (op.code == op_code::close || has(op.options, op_option::multishot))
        return own_->attempt(op, finished);
    if (is_failing_call(name(op.code).data(), std::errc::not_enough_memory)) {
        finished = {.op = &op, .result = failed_with(std::errc::not_enough_memory)};
        return true;
    }
    if (faults.operations + 1 == faults.failing_operation) return false; // it fails after its submission
    bool const is_done = own_->attempt(op, finished);
    if (is_done) ++faults.operations;
    return is_done;
}

void fault_driver::submit(operation& op) noexcept {
    unwatched_allocations const kernel;
    if (op.code == op_code::close) {
        end_held(op.target);
    } else {
        if (is_failing_call(name(op.code).data(), std::errc::not_enough_memory))
            return hold(op, failed_with(std::errc::not_enough_memory), duration::zero());
        if (++faults.operations == faults.failing_operation) {
            strike(name(op.code).data(), failure_of(op.code));
            return hold(op, failed_with(failure_of(op.code)), time_to_fail);
        }
    }
    own_->submit(op);
}

void fault_driver::hold(operation& op, std::int32_t const result, duration const takes) noexcept {
    check(held_ == nullptr && op.state == 0, "driver law 2 (loan): submitted again while in flight");
    op.state = 1;
    held_ = &op;
    held_result_ = result;
    held_until_ = saturating_add(now(), takes);
}

void fault_driver::cancel(operation& op) noexcept {
    unwatched_allocations const kernel;
    if (&op != held_) return own_->cancel(op);
    if (!is_held_due()) held_result_ = failed_with(std::errc::operation_canceled);
    held_until_ = now();
}

/// A close ends every operation on its descriptor first.
void fault_driver::end_held(descriptor const at) noexcept {
    if (held_ == nullptr || held_->target != at) return;
    held_result_ = failed_with(std::errc::operation_canceled);
    held_until_ = now();
}

auto fault_driver::detach(descriptor const target) noexcept -> io_result<native_handle> {
    unwatched_allocations const kernel;
    return own_->detach(target);
}

void fault_driver::discard(descriptor const target) noexcept {
    unwatched_allocations const kernel;
    end_held(target);
    own_->discard(target);
}

auto fault_driver::is_held_due() const noexcept -> bool { return held_ != nullptr && held_until_ <= now(); }

auto fault_driver::deliver_held() noexcept -> event {
    auto& op = *std::exchange(held_, nullptr);
    op.state = 0;
    socket_command look{.what = socket_command::peer_address};
    bool const is_broken = held_result_ == failed_with(std::errc::connection_reset) ||
                           held_result_ == failed_with(std::errc::not_connected);
    if (is_broken && own_->control(op.target, look).has_value()) own_->reset(op.target);
    return {.op = &op, .result = held_result_};
}

auto fault_driver::poll(std::span<event> const out, time_point const until) noexcept -> std::size_t {
    unwatched_allocations const kernel;
    if (is_held_due()) {
        out[0] = deliver_held();
        return out.size() == 1 ? 1 : 1 + own_->poll(out.subspan(1), time_point::min());
    }
    auto const count = own_->poll(out, held_ == nullptr ? until : std::min(until, held_until_));
    if (count != 0 || !is_held_due()) return count;
    out[0] = deliver_held();
    return 1;
}

auto fault_driver::drain(std::span<event> const out, time_point const deadline) noexcept -> drain_progress {
    unwatched_allocations const kernel;
    if (held_ == nullptr) return own_->drain(out, deadline);
    end_held(held_->target);
    out[0] = deliver_held();
    return {.events = 1, .remaining = 1}; // the others are asked by the next call
}

} // namespace pitsaw::inline v0::sim
