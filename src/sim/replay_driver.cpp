#include "sim/replay_driver.hpp"

#include <pitsaw/base/check.hpp>
#include <pitsaw/io/buffer.hpp>
#include <pitsaw/io/socket_command.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <system_error>
#include <utility>

namespace pitsaw::inline v0::sim {
namespace {

constexpr auto cancelled = -static_cast<std::int32_t>(std::errc::operation_canceled);

// When it is over, a clean-up that tries again for ever is to come to its deadline.
constexpr duration time_of_a_turn = std::chrono::milliseconds(1);

auto name_of(driver_call call) -> char const* {
    switch (call) {
    case driver_call::now:
        return "a look at the clock";
    case driver_call::attach:
        return "an attach";
    case driver_call::open_stream:
        return "a new socket";
    case driver_call::control:
        return "a command";
    case driver_call::lend:
        return "a buffer pool";
    case driver_call::attempt:
        return "an attempt to ";
    case driver_call::submit:
        return "the start of ";
    case driver_call::cancel:
        return "a cancel of ";
    case driver_call::poll:
        return "a poll";
    case driver_call::event:
        return "an event of ";
    case driver_call::discard:
        return "a discard";
    case driver_call::drain:
        return "a drain";
    case driver_call::detach:
        return "a detach";
    }
    return "an unknown call";
}

auto is_of_an_operation(driver_call call) noexcept -> bool {
    return call == driver_call::attempt || call == driver_call::submit || call == driver_call::cancel ||
           call == driver_call::event;
}

auto in_words(input_entry const& of) -> std::string {
    std::string text = name_of(of.call);
    if (is_of_an_operation(of.call)) text += name(static_cast<op_code>(of.code));
    if (of.call == driver_call::control) text += " of kind " + std::to_string(of.code);
    if (of.target) text += " on descriptor " + std::to_string(of.target.index);
    if (of.length != 0) text += ", length " + std::to_string(of.length);
    return text;
}

/// What a program chooses; the rest of an entry is the answer, an address, or, as for a clock, nothing.
auto is_same(input_entry const& asked, input_entry const& then) noexcept -> bool {
    if (asked.call != then.call || asked.code != then.code || asked.options != then.options) return false;
    switch (asked.call) {
    case driver_call::attempt:
    case driver_call::submit:
    case driver_call::cancel:
        return asked.target == then.target && asked.length == then.length &&
               (static_cast<op_code>(asked.code) != op_code::connect || asked.checksum == then.checksum);
    case driver_call::attach:
        return asked.subject == then.subject;
    case driver_call::lend:
        return asked.value == then.value && asked.length == then.length;
    case driver_call::control:
    case driver_call::discard:
    case driver_call::detach:
        return asked.target == then.target;
    case driver_call::now:
    case driver_call::open_stream:
    case driver_call::poll:
    case driver_call::event:
    case driver_call::drain:
        return true;
    }
    return false;
}

/// A command has members that its kind does not use.
auto is_same(socket_command const& asked, socket_command const& then) noexcept -> bool {
    switch (asked.what) {
    case socket_command::bind:
        return asked.address == then.address;
    case socket_command::listen:
        return asked.value == then.value;
    case socket_command::set_option:
        return asked.option == then.option && asked.value == then.value;
    case socket_command::local_address:
    case socket_command::peer_address:
    case socket_command::look_for_input:
        return true;
    }
    return false;
}

auto called(driver_call call) noexcept -> input_entry {
    input_entry made;
    made.call = call;
    return made;
}

auto cancelled_error() noexcept { return std::unexpected(to_error(cancelled)); }

} // namespace

replay_driver::replay_driver(std::span<std::byte const> const entries, std::function<void()> on_over)
    : entries_(entries), on_over_(std::move(on_over)) {}

replay_driver::~replay_driver() {
    check(flights_.empty() && left_.empty(), "driver law 15 (teardown): operations in flight");
}

/// Trusts no length that it reads.
auto replay_driver::look() const noexcept -> std::optional<answer> {
    auto const left = entries_.size() - at_;
    answer found;
    if (is_over_ || left < sizeof found.entry) return {};
    std::memcpy(&found.entry, entries_.data() + at_, sizeof found.entry);
    auto const& entry = found.entry;
    if (entry.bytes > left || entry.bytes < sizeof entry || entry.content > entry.bytes - sizeof entry)
        return {};
    found.content = entries_.subspan(at_ + sizeof entry, entry.content);
    return found;
}

void replay_driver::step(answer const& over) const noexcept {
    at_ += over.entry.bytes;
    ++replayed_;
}

void replay_driver::end_here() const noexcept { is_over_ = true; }

/// The answer to `asked`, or nothing from when it is over on.
auto replay_driver::next(input_entry const& asked) const noexcept -> std::optional<answer> {
    auto const found = look();
    if (!found) {
        end_here();
        return {};
    }
    if (!is_same(asked, found->entry)) {
        divergence_ = "call " + std::to_string(replayed_ + 1) + ": the program asks for " + in_words(asked) +
                      ", the recorded one asked for " + in_words(found->entry);
        end_here();
        return {};
    }
    step(*found);
    return found;
}

auto replay_driver::now() const noexcept -> time_point {
    if (auto const then = next(called(driver_call::now))) time_ = time_point(duration(then->entry.value));
    return time_;
}

auto replay_driver::attach(native_handle const handle) noexcept -> io_result<descriptor> {
    auto asked = called(driver_call::attach);
    asked.subject = static_cast<std::uint64_t>(handle);
    auto const then = next(asked);
    if (!then) return cancelled_error();
    if (then->entry.result < 0) return std::unexpected(to_error(then->entry.result));
    return then->entry.target;
}

auto replay_driver::open_stream(address_family const family) noexcept -> io_result<descriptor> {
    auto asked = called(driver_call::open_stream);
    asked.code = static_cast<std::uint8_t>(family);
    auto const then = next(asked);
    if (!then) return cancelled_error();
    if (then->entry.result < 0) return std::unexpected(to_error(then->entry.result));
    return then->entry.target;
}

auto replay_driver::control(descriptor const target, socket_command& command) noexcept -> io_result<void> {
    auto asked = called(driver_call::control);
    asked.code = command.what;
    asked.target = target;
    auto const then = next(asked);
    std::array<socket_command, 2> both = {command, command};
    if (!then || then->content.size() != sizeof both) return cancelled_error();
    std::memcpy(both.data(), then->content.data(), sizeof both);
    if (!is_same(command, both[0])) {
        divergence_ = "call " + std::to_string(replayed_) + ": " + in_words(asked) + " has another value";
        end_here();
        return cancelled_error();
    }
    command = both[1];
    if (then->entry.result < 0) return std::unexpected(to_error(then->entry.result));
    return {};
}

auto replay_driver::lend(std::span<std::byte> const memory, std::uint32_t const buffer_bytes) noexcept
    -> io_result<std::uint16_t> {
    auto asked = called(driver_call::lend);
    asked.value = static_cast<std::int64_t>(memory.size());
    asked.length = buffer_bytes;
    auto const then = next(asked);
    if (!then) return cancelled_error();
    if (then->entry.result < 0) return std::unexpected(to_error(then->entry.result));
    auto const number = static_cast<std::uint16_t>(then->entry.result);
    if (pools_.size() <= number) pools_.resize(std::size_t{number} + 1);
    pools_[number] = {memory, buffer_bytes};
    return number;
}

void replay_driver::give_back(std::uint16_t, std::uint16_t) noexcept {} // has no answer

/// Puts the recorded bytes where the program wants them. What does not fit in there is no recording of it.
void replay_driver::receive(operation& op, answer const& from, event& to) noexcept {
    auto const flags = static_cast<std::uint8_t>(from.entry.flags & ~input_entry::is_done);
    to = {.op = &op,
          .result = from.entry.result,
          .flags = static_cast<event_flag>(flags),
          .buffer = static_cast<std::uint16_t>(from.entry.value)};
    if (from.content.empty()) return;
    auto room = buffer_of(op);
    if (has(to.flags, event_flag::pooled)) {
        check(op.pool < pools_.size(), "a recording names a buffer pool that the program did not make");
        auto const& pool = pools_[op.pool];
        auto const begin = std::size_t{to.buffer} * pool.buffer_bytes;
        check(begin + pool.buffer_bytes <= pool.memory.size(), "a recording names a buffer that is none");
        room = pool.memory.subspan(begin, pool.buffer_bytes);
    }
    check(from.content.size() <= room.size(), "a recording holds more bytes than were asked for");
    std::ranges::copy(from.content, room.begin());
}

auto replay_driver::attempt(operation& op, event& finished) noexcept -> bool {
    auto const asked = entry_of(driver_call::attempt, op);
    auto const then = next(asked);
    if (!then || (then->entry.flags & input_entry::is_done) == 0) return false;
    if (asked.checksum != then->entry.checksum) ++other_bytes_sent_;
    receive(op, *then, finished);
    return true;
}

void replay_driver::submit(operation& op) noexcept {
    check(op.state == 0, "driver law 2 (loan): an operation in flight was submitted again");
    op.state = 1;
    auto const asked = entry_of(driver_call::submit, op);
    auto const then = next(asked);
    if (!then) return left_.push_back(&op);
    if (asked.checksum != then->entry.checksum) ++other_bytes_sent_;
    flights_[then->entry.subject] = &op;
}

void replay_driver::cancel(operation& op) noexcept { (void)next(entry_of(driver_call::cancel, op)); }

auto replay_driver::detach(descriptor const target) noexcept -> io_result<native_handle> {
    auto asked = called(driver_call::detach);
    asked.target = target;
    auto const then = next(asked);
    if (!then) return cancelled_error();
    if (then->entry.result < 0) return std::unexpected(to_error(then->entry.result));
    return native_handle(static_cast<std::int64_t>(then->entry.subject));
}

void replay_driver::discard(descriptor const target) noexcept {
    auto asked = called(driver_call::discard);
    asked.target = target;
    (void)next(asked);
}

auto replay_driver::bring_one(event& to) noexcept -> bool {
    auto const found = look();
    if (!found || found->entry.call != driver_call::event) return false;
    auto const flight = flights_.find(found->entry.subject);
    if (flight == flights_.end()) return false;
    auto& op = *flight->second;
    step(*found);
    receive(op, *found, to);
    if (!to.is_final()) return true;
    op.state = 0;
    flights_.erase(flight);
    return true;
}

/// A recording may end between a poll and its events: such a poll is not answered.
auto replay_driver::are_there(std::size_t const events) const noexcept -> bool {
    auto const at = at_;
    auto count = std::size_t{0};
    for (auto each = look(); count < events && each && each->entry.call == driver_call::event;
         each = look()) {
        at_ += each->entry.bytes;
        ++count;
    }
    at_ = at;
    return count == events;
}

/// What the next call of this kind brought, or nothing if it is over.
auto replay_driver::bring(std::span<event> const out, driver_call const call) noexcept
    -> std::optional<std::pair<std::size_t, input_entry>> {
    auto const then = next(called(call));
    if (!then) return {};
    auto const count = static_cast<std::size_t>(std::max(then->entry.result, 0));
    if (count > out.size() || !are_there(count)) {
        end_here();
        return {};
    }
    for (std::size_t i = 0; i < count; ++i)
        check(bring_one(out[i]), "a recording has an event of an operation that is not in flight");
    return std::pair(count, then->entry);
}

auto replay_driver::poll(std::span<event> const out, time_point const until) noexcept -> std::size_t {
    if (auto const brought = bring(out, driver_call::poll)) return brought->first;
    if (!std::exchange(has_told_, true)) {
        for (auto const& [address, op] : flights_) left_.push_back(op);
        flights_.clear();
        on_over_();
    }
    return end_what_waits(out, until);
}

auto replay_driver::end_what_waits(std::span<event> const out, time_point const until) noexcept
    -> std::size_t {
    auto const count = std::min(out.size(), left_.size());
    for (std::size_t i = 0; i < count; ++i) {
        auto& op = *left_[i];
        auto const succeeds =
            op.code == op_code::nop || op.code == op_code::shutdown || op.code == op_code::close;
        op.state = 0;
        out[i] = {.op = &op, .result = succeeds ? 0 : cancelled};
    }
    left_.erase(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(count));
    if (count != 0) {
        time_ = saturating_add(time_, time_of_a_turn);
    } else if (until != never) {
        time_ = std::max(time_, until);
    } else {
        // acquire: pairs with the release in wake(), so that what the waker wrote is visible after this poll.
        while (woken_.exchange(0, std::memory_order_acquire) == 0)
            woken_.wait(0, std::memory_order_relaxed); // relaxed: the exchange acquires
    }
    return count;
}

void replay_driver::wake() noexcept {
    // release: pairs with the acquire in end_what_waits().
    if (woken_.exchange(1, std::memory_order_release) == 0) woken_.notify_one();
}

auto replay_driver::drain(std::span<event> const out, time_point const deadline) noexcept -> drain_progress {
    if (auto const brought = bring(out, driver_call::drain))
        return {.events = brought->first, .remaining = brought->second.length};
    for (auto const& [address, op] : flights_) left_.push_back(op);
    flights_.clear();
    has_told_ = true;
    drain_progress progress;
    if (!left_.empty()) progress.events = end_what_waits(out, deadline);
    progress.remaining = left_.size();
    if (!left_.empty()) progress.oldest = left_.front();
    return progress;
}

auto replay_driver::features() const noexcept -> driver_features {
    return {.name = "replay", .virtual_time = true};
}

} // namespace pitsaw::inline v0::sim
