#include "driver/recording/driver.hpp"

#include <pitsaw/io/buffer.hpp>
#include <pitsaw/io/socket_address.hpp>

#include <array>
#include <cstring>
#include <type_traits>

namespace pitsaw::inline v0 {
namespace {

template <class T> auto result_of(io_result<T> const& of) noexcept -> std::int32_t {
    return of ? 0 : -of.error().value();
}

/// FNV-1a: tells what differs, and need not resist anybody.
auto add_to(std::uint64_t sum, std::span<std::byte const> bytes) noexcept -> std::uint64_t {
    for (auto const each : bytes) sum = (sum ^ static_cast<std::uint64_t>(each)) * 0x100000001b3;
    return sum;
}

} // namespace

auto entry_of(driver_call const call, operation const& op) noexcept -> input_entry {
    input_entry made;
    made.call = call;
    made.code = static_cast<std::uint8_t>(op.code);
    made.options = static_cast<std::uint8_t>(op.options);
    made.length = op.length;
    made.target = op.target;
    made.subject = reinterpret_cast<std::uintptr_t>(&op);
    if (op.code != op_code::send && op.code != op_code::connect) return made;
    made.checksum = 0xcbf29ce484222325;
    if (!has(op.options, op_option::vectored)) {
        made.checksum = add_to(made.checksum, buffer_of(op));
        return made;
    }
    for (auto const& piece : pieces_of(op))
        made.checksum = add_to(made.checksum, {static_cast<std::byte const*>(piece.address), piece.length});
    return made;
}

void recording_driver::append(input_entry const& last, std::span<std::byte const> content) const noexcept {
    if (room_.is_full.load(std::memory_order_relaxed) != 0) return; // our own
    auto const made = last.with_content(content.size());
    auto const end = room_.end.load(std::memory_order_relaxed); // our own
    if (memory_.size() - end < made.bytes) return room_.is_full.store(1, std::memory_order_relaxed);
    std::memcpy(memory_.data() + end, &made, sizeof made);
    if (!content.empty()) std::memcpy(memory_.data() + end + sizeof made, content.data(), content.size());
    room_.entries.store(room_.entries.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    room_.end.store(end + made.bytes, std::memory_order_release); // with whoever reads the entries
}

auto recording_driver::received(event const& done) const noexcept -> std::span<std::byte const> {
    if (done.op->code != op_code::receive || done.result <= 0) return {};
    auto const count = static_cast<std::size_t>(done.result);
    if (!has(done.flags, event_flag::pooled)) return buffer_of(*done.op).first(count);
    auto const& from = pools_[done.op->pool];
    return from.memory.subspan(std::size_t{done.buffer} * from.buffer_bytes, count);
}

void recording_driver::append(std::span<event const> events) const noexcept {
    for (auto const& each : events) {
        auto entry = entry_of(driver_call::event, *each.op);
        entry.checksum = 0; // the submit has it
        entry.result = each.result;
        entry.flags = static_cast<std::uint8_t>(each.flags);
        entry.value = each.buffer;
        append(entry, received(each));
    }
}

auto recording_driver::now() const noexcept -> time_point {
    auto const at = own_->now();
    input_entry entry;
    entry.value = at.time_since_epoch().count();
    append(entry);
    return at;
}

auto recording_driver::attach(native_handle const handle) noexcept -> io_result<descriptor> {
    auto const made = own_->attach(handle);
    input_entry entry;
    entry.call = driver_call::attach;
    entry.subject = static_cast<std::uint64_t>(handle);
    entry.result = result_of(made);
    if (made) entry.target = *made;
    append(entry);
    return made;
}

auto recording_driver::open_stream(address_family const family) noexcept -> io_result<descriptor> {
    auto const made = own_->open_stream(family);
    input_entry entry;
    entry.call = driver_call::open_stream;
    entry.code = static_cast<std::uint8_t>(family);
    entry.result = result_of(made);
    if (made) entry.target = *made;
    append(entry);
    return made;
}

auto recording_driver::control(descriptor const target, socket_command& command) noexcept -> io_result<void> {
    static_assert(std::is_trivially_copyable_v<socket_command>);
    std::array<socket_command, 2> both = {command, command};
    auto const done = own_->control(target, command);
    both[1] = command;
    input_entry entry;
    entry.call = driver_call::control;
    entry.code = command.what;
    entry.target = target;
    entry.result = result_of(done);
    append(entry, std::as_bytes(std::span(both)));
    return done;
}

auto recording_driver::lend(std::span<std::byte> const memory, std::uint32_t const buffer_bytes) noexcept
    -> io_result<std::uint16_t> {
    auto const made = own_->lend(memory, buffer_bytes);
    input_entry entry;
    entry.call = driver_call::lend;
    entry.value = static_cast<std::int64_t>(memory.size());
    entry.length = buffer_bytes;
    entry.result = made ? *made : result_of(made);
    append(entry);
    if (!made) return made;
    if (pools_.size() <= *made) pools_.resize(std::size_t{*made} + 1);
    pools_[*made] = {memory, buffer_bytes};
    return made;
}

void recording_driver::give_back(std::uint16_t const pool, std::uint16_t const buffer) noexcept {
    own_->give_back(pool, buffer);
}

auto recording_driver::attempt(operation& op, event& finished) noexcept -> bool {
    auto entry = entry_of(driver_call::attempt, op);
    if (!own_->attempt(op, finished)) {
        append(entry);
        return false;
    }
    entry.result = finished.result;
    entry.flags = static_cast<std::uint8_t>(finished.flags) | input_entry::is_done;
    entry.value = finished.buffer;
    append(entry, received(finished));
    return true;
}

void recording_driver::submit(operation& op) noexcept {
    append(entry_of(driver_call::submit, op));
    own_->submit(op);
}

void recording_driver::cancel(operation& op) noexcept {
    auto entry = entry_of(driver_call::cancel, op);
    entry.checksum = 0; // the submit has it
    append(entry);
    own_->cancel(op);
}

auto recording_driver::poll(std::span<event> const out, time_point const until) noexcept -> std::size_t {
    auto const count = own_->poll(out, until);
    input_entry entry;
    entry.call = driver_call::poll;
    entry.result = static_cast<std::int32_t>(count);
    append(entry);
    append(out.first(count));
    return count;
}

void recording_driver::wake() noexcept {
    room_.wakes.fetch_add(1, std::memory_order_relaxed); // a count
    own_->wake();
}

auto recording_driver::detach(descriptor const target) noexcept -> io_result<native_handle> {
    auto const left = own_->detach(target);
    input_entry entry;
    entry.call = driver_call::detach;
    entry.target = target;
    entry.result = result_of(left);
    if (left) entry.subject = static_cast<std::uint64_t>(*left);
    append(entry);
    return left;
}

void recording_driver::discard(descriptor const target) noexcept {
    input_entry entry;
    entry.call = driver_call::discard;
    entry.target = target;
    append(entry);
    own_->discard(target);
}

auto recording_driver::drain(std::span<event> const out, time_point const deadline) noexcept
    -> drain_progress {
    auto const progress = own_->drain(out, deadline);
    input_entry entry;
    entry.call = driver_call::drain;
    entry.result = static_cast<std::int32_t>(progress.events);
    entry.length = static_cast<std::uint32_t>(progress.remaining);
    append(entry);
    append(out.first(progress.events));
    return progress;
}

auto recording_driver::features() const noexcept -> driver_features { return own_->features(); }

} // namespace pitsaw::inline v0
