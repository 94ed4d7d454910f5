#include "driver/readiness/driver.hpp"

#include "os/posix/owned_fd.hpp"
#include "os/posix/socket.hpp"

#include <pitsaw/base/check.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <limits>
#include <new>

namespace pitsaw::inline v0 {
namespace {

// Calls of the kernel that one turn makes for operations that wait, beyond room for their events.
constexpr std::size_t calls_per_turn = 64;

// Turns that hand out what is due already and do not ask the kernel; after them one asks, however much is
// due, so that descriptors that are always ready do not starve the others.
constexpr std::uint32_t turns_without_kernel_max = 8;

auto failed(std::int32_t result) noexcept -> std::unexpected<std::error_code> {
    return std::unexpected(to_error(result));
}

} // namespace

readiness_driver::~readiness_driver() {
    if (in_flight_ != 0) {
        char text[96];
        std::snprintf(text, sizeof text, "driver law 15 (teardown): %zu operations are in flight",
                      in_flight_);
        check_failed(text, std::source_location::current());
    }
    for (auto const& slot : table_.all())
        if (slot.is_open) ::close(slot.fd);
}

auto readiness_driver::now() const noexcept -> time_point {
    return time_point(std::chrono::steady_clock::now().time_since_epoch());
}

auto readiness_driver::attach(native_handle handle) noexcept -> io_result<descriptor> {
    auto const number = static_cast<std::int64_t>(handle);
    if (number < 0 || number > std::numeric_limits<int>::max()) return failed(-EBADF);
    owned_fd fd(static_cast<int>(number));
    if (auto const result = posix::make_non_blocking(fd.get()); result < 0) return failed(result);
    descriptor made;
    try {
        made = table_.add(fd.get());
    } catch (std::bad_alloc const&) {
        return failed(-ENOMEM);
    }
    auto& slot = table_[made.index];
    slot.short_means_empty = posix::is_tcp(fd.get());
    if (auto const result = add(fd.get(), made); result < 0) {
        check(result != -EEXIST, "a handle is attached once");
        table_.remove(slot);
        return failed(result);
    }
    (void)fd.release();
    return made;
}

auto readiness_driver::open_stream(address_family family) noexcept -> io_result<descriptor> {
    auto const fd = posix::open_stream(family, posix::wait_mode::non_blocking);
    if (fd < 0) return failed(fd);
    return attach(native_handle(fd));
}

auto readiness_driver::control(descriptor target, socket_command& command) noexcept -> io_result<void> {
    auto* const on = table_.find(target);
    if (on == nullptr || on->is_closing()) return failed(-EBADF);
    if (auto const result = posix::control(on->fd, command); result < 0) return failed(result);
    return {};
}

auto readiness_driver::detach(descriptor target) noexcept -> io_result<native_handle> {
    auto* const on = table_.find(target);
    if (on == nullptr || on->is_closing()) return failed(-EBADF);
    if (!on->is_idle()) return failed(-EBUSY);
    auto const fd = on->fd;
    remove(fd);
    table_.remove(*on);
    return native_handle(fd);
}

auto readiness_driver::lend(std::span<std::byte> memory, std::uint32_t buffer_bytes) noexcept
    -> io_result<std::uint16_t> {
    auto const count = buffer_bytes == 0 ? 0 : memory.size() / buffer_bytes;
    if (count == 0 || count > pool_buffers_max || buffer_bytes > std::numeric_limits<std::int32_t>::max() ||
        pools_.size() > UINT16_MAX)
        return failed(-EINVAL);
    try {
        pools_.emplace_back(memory, buffer_bytes, count);
    } catch (std::bad_alloc const&) {
        return failed(-ENOMEM);
    }
    return static_cast<std::uint16_t>(pools_.size() - 1);
}

void readiness_driver::give_back(std::uint16_t pool, std::uint16_t buffer) noexcept {
    check(pool < pools_.size() && pools_[pool].give_back(buffer),
          "driver law 16 (pools): a buffer was given back that no event had brought");
}

auto readiness_driver::poll(std::span<event> out, time_point until) noexcept -> std::size_t {
    return turn(out, until, false);
}

auto readiness_driver::turn(std::span<event> out, time_point until, bool until_empty) noexcept
    -> std::size_t {
    check(!out.empty(), "driver::poll needs room for at least one event");
    auto const is_over = [&] { return until != never && (until == time_point::min() || now() >= until); };
    for (;;) {
        auto const woken = attention_.take();
        look_at_pending(calls_per_turn);
        auto const is_busy = !due_.empty() || first_pending_ != readiness_slot::nobody;
        if (!is_busy || ++turns_without_kernel_ > turns_without_kernel_max) {
            turns_without_kernel_ = 0;
            if (is_busy || woken || until == time_point::min() || (until_empty && in_flight_ == 0))
                wait_for_edges(time_point::min());
            else
                wait(until);
            look_at_pending(calls_per_turn);
        }
        auto const count = hand_out(out);
        if (count != 0 || woken || attention_.take()) return count;
        if ((until_empty && in_flight_ == 0) || is_over()) return 0;
    }
}

/// Blocks, unless a wake came since the last one was taken.
void readiness_driver::wait(time_point until) noexcept {
    if (!attention_.fall_asleep()) return;
    wait_for_edges(until);
    attention_.rise();
}

void readiness_driver::wake() noexcept {
    if (attention_.wake()) interrupt();
}

void readiness_driver::note(descriptor tag, readiness edges) noexcept {
    auto* const slot = table_.find(tag);
    if (slot == nullptr) return;
    slot->ready = slot->ready | edges;
    if (has(edges, readiness::hang_up)) slot->has_hung_up = true;
    if (has(edges, readiness::urgent)) slot->short_means_empty = false;
    make_pending(*slot);
}

void readiness_driver::make_pending(readiness_slot& slot) noexcept {
    if (slot.is_pending) return;
    slot.is_pending = true;
    slot.next_pending = readiness_slot::nobody;
    auto const index = table_.index_of(slot);
    if (first_pending_ == readiness_slot::nobody)
        first_pending_ = index;
    else
        table_[last_pending_].next_pending = index;
    last_pending_ = index;
}

/// Tries what may succeed, with about `calls` calls of the kernel; what is left keeps its place in the list.
void readiness_driver::look_at_pending(std::size_t calls) noexcept {
    auto const end_at = first_pending_ == readiness_slot::nobody ? first_pending_ : last_pending_;
    while (calls != 0 && first_pending_ != readiness_slot::nobody) {
        auto const index = first_pending_;
        auto& slot = table_[index];
        first_pending_ = slot.next_pending;
        slot.is_pending = false;
        if (!slot.is_open) {
            table_.release(slot);
            if (index == end_at) return;
            continue;
        }
        // A connect before a receive: it, and not the receive, is to take the error of its failure.
        auto const is_outward_done = advance(slot, outward, calls);
        auto const is_inward_done = advance(slot, inward, calls);
        if (has(slot.ready, readiness::hang_up)) look_at_watches(slot);
        if (!is_outward_done || !is_inward_done) make_pending(slot); // at the end: others have their turn
        if (index == end_at) return;
    }
}

auto readiness_driver::drain(std::span<event> out, time_point deadline) noexcept -> drain_progress {
    for (auto& slot : table_.all())
        if (slot.is_open) end_others(slot);
    drain_progress progress;
    if (in_flight_ != 0) progress.events = turn(out, deadline, true);
    progress.remaining = in_flight_;
    auto sequence = std::numeric_limits<std::uint64_t>::max();
    auto const consider = [&](operation* op) {
        if (op == nullptr || mark_of(*op).sequence >= sequence) return;
        sequence = mark_of(*op).sequence;
        progress.oldest = op;
    };
    for (auto* op = due_.front(); op != nullptr; op = op->next) consider(op);
    for (auto const& slot : table_.all()) {
        consider(slot.closing);
        for (auto const& line : slot.lines)
            for (auto* op = line.first(); op != nullptr; op = op->next) consider(op);
    }
    return progress;
}

} // namespace pitsaw::inline v0
