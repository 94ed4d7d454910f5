#include "driver/io_uring/driver.hpp"

#include "os/posix/thread_number.hpp"

#include "os/posix/socket.hpp"

#include <pitsaw/base/check.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <limits>
#include <new>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace pitsaw::inline v0 {
namespace {

/// Ends the process: the ring of a driver that has operations in flight does not work any more.
[[noreturn]] void ring_failed(char const* call, int result) noexcept {
    char text[224];
    std::snprintf(
        text, sizeof text,
        "%s failed (%s): a filter of system calls that denies it was installed after the driver was "
        "made",
        call, std::strerror(-result));
    check_failed(text, std::source_location::current());
}

} // namespace

auto io_uring_driver::make(io_uring_options const& options) noexcept
    -> io_result<std::unique_ptr<io_uring_driver>> {
    std::unique_ptr<io_uring_driver> made;
    try {
        made.reset(new io_uring_driver); // its containers allocate as well
    } catch (std::bad_alloc const&) {
        return std::unexpected(to_error(-ENOMEM));
    }
    if (auto const result = made->open(options); result < 0) return std::unexpected(to_error(result));
    return made;
}

auto io_uring_driver::open(io_uring_options const& options) noexcept -> int {
    auto submissions = std::max(options.submissions, 4U); // a close needs two at a time, a wake one
    auto completions = std::max(options.completions, submissions);
    auto result = ring_.open(submissions, completions);
    while (result == -ENOMEM && submissions > 16) { // another user's limit; see io_uring_options
        submissions /= 2;
        completions = std::max(completions / 2, submissions);
        result = ring_.open(submissions, completions);
    }
    if (result < 0) return result;
    auto const found = probe_io_uring_powers();
    if (!found) return -found.error().value();
    auto const& allowed = options.allowed;
    powers_ = {.registered_ring_fd = found->registered_ring_fd && allowed.registered_ring_fd,
               .buffer_rings = found->buffer_rings && allowed.buffer_rings,
               .multishot_accept = found->multishot_accept && allowed.multishot_accept,
               .multishot_receive = found->multishot_receive && allowed.multishot_receive,
               .message_wake = found->message_wake && allowed.message_wake};
    if (powers_.message_wake) return 0;
    wake_fd_ = eventfd(0, EFD_CLOEXEC);
    return wake_fd_ < 0 ? -errno : 0;
}

io_uring_driver::~io_uring_driver() {
    if (in_flight_ != 0) {
        char text[80];
        std::snprintf(text, sizeof text, "driver law 15 (teardown): %zu in flight", in_flight_);
        check_failed(text, std::source_location::current());
    }
    for (auto const& each : slots_)
        if (each.is_open) ::close(each.fd);
    for (auto const& each : pools_)
        if (each.ring != nullptr) munmap(each.ring, each.ring_entries * sizeof(io_uring_buf));
    if (wake_fd_ >= 0) ::close(wake_fd_);
}

auto io_uring_driver::now() const noexcept -> time_point {
    timespec at{};
    clock_gettime(CLOCK_MONOTONIC, &at); // what enter's timeout counts in
    return time_point(duration(at.tv_sec * 1'000'000'000 + at.tv_nsec));
}

auto io_uring_driver::of(operation& op) noexcept -> links& {
    return *std::launder(reinterpret_cast<links*>(op.scratch));
}

auto io_uring_driver::at(operation const& op) noexcept -> stage {
    return static_cast<stage>((op.state >> 1) & 7U);
}

auto io_uring_driver::step_of(operation const& op) noexcept -> step {
    return static_cast<step>(op.state >> 4);
}

void io_uring_driver::set(operation& op, stage where, step what) noexcept {
    op.state = 1U | (static_cast<std::uint32_t>(where) << 1) | (static_cast<std::uint32_t>(what) << 4);
}

auto io_uring_driver::attach(native_handle handle) noexcept -> io_result<descriptor> {
    auto const number = static_cast<std::int64_t>(handle);
    if (number < 0 || number > std::numeric_limits<int>::max()) return std::unexpected(to_error(-EBADF));
    auto const fd = static_cast<int>(number);
    auto const flags = fcntl(fd, F_GETFL);
    if (flags < 0) return std::unexpected(to_error(-errno));
    // On such a file io_uring ends with EAGAIN instead of waiting.
    if ((flags & O_NONBLOCK) != 0) (void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    if (free_slots_.empty()) {
        try {
            if (free_slots_.capacity() == slots_.size()) // closing allocates nothing
                free_slots_.reserve(std::max<std::size_t>(16, 2 * slots_.size()));
            auto& fresh = slots_.emplace_back();
            fresh.index = static_cast<std::uint32_t>(slots_.size() - 1);
            fresh.generation = first_generation_;
            free_slots_.push_back(fresh.index);
        } catch (...) {
            ::close(fd);
            return std::unexpected(to_error(-ENOMEM));
        }
    }
    auto& made = slots_[free_slots_.back()];
    free_slots_.pop_back();
    made.fd = fd;
    made.is_open = true;
    return descriptor{made.index, made.generation};
}

auto io_uring_driver::open_stream(address_family family) noexcept -> io_result<descriptor> {
    auto const fd = posix::open_stream(family, posix::wait_mode::blocking);
    if (fd < 0) return std::unexpected(to_error(fd));
    return attach(native_handle(fd));
}

auto io_uring_driver::control(descriptor target, socket_command& command) noexcept -> io_result<void> {
    auto const* const on = find(target);
    auto const result = on == nullptr || on->is_closing ? -EBADF : posix::control(on->fd, command);
    if (result < 0) return std::unexpected(to_error(result));
    return {};
}

auto io_uring_driver::lend(std::span<std::byte> memory, std::uint32_t buffer_bytes) noexcept
    -> io_result<std::uint16_t> {
    auto const count = buffer_bytes == 0 ? 0 : memory.size() / buffer_bytes;
    if (count == 0 || count > pool_buffers_max || pools_.size() > UINT16_MAX ||
        buffer_bytes > std::numeric_limits<std::int32_t>::max())
        return std::unexpected(to_error(-EINVAL));
    auto const number = static_cast<std::uint16_t>(pools_.size());
    try {
        pool fresh;
        fresh.memory = memory;
        fresh.buffer_bytes = buffer_bytes;
        fresh.count = static_cast<std::uint32_t>(count);
        fresh.is_taken.resize(count);
        fresh.free.reserve(count);
        pools_.push_back(std::move(fresh));
    } catch (...) {
        return std::unexpected(to_error(-ENOMEM));
    }
    auto& made = pools_.back();
    if (powers_.buffer_rings) register_pool(made, number);
    (void)offer_more(made);
    return number;
}

/// The kernel goes round through all that it was offered, so that each is touched and none stays in a cache:
/// it is offered twice as many only when there were not enough. False: it has them all.
auto io_uring_driver::offer_more(struct pool& of) noexcept -> bool {
    constexpr std::uint32_t at_first = 64;
    auto const goal = of.ring == nullptr ? of.count : std::min(of.count, std::max(at_first, 2 * of.offered));
    if (of.offered == goal) return false;
    for (; of.offered < goal; ++of.offered) put_buffer(of, static_cast<std::uint16_t>(of.offered));
    return true;
}

/// Where the kernel has no memory for it (it counts against RLIMIT_MEMLOCK), the pool stays without a ring.
void io_uring_driver::register_pool(pool& made, std::uint16_t number) noexcept {
    auto const entries = std::bit_ceil(made.count);
    auto const bytes = entries * sizeof(io_uring_buf);
    void* const ring = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ring == MAP_FAILED) return;
    io_uring_buf_reg asked{};
    asked.ring_addr = reinterpret_cast<std::uint64_t>(ring);
    asked.ring_entries = entries;
    asked.bgid = number;
    if (ring_.call_register(IORING_REGISTER_PBUF_RING, &asked, 1) < 0) {
        munmap(ring, bytes);
        return;
    }
    made.ring = static_cast<io_uring_buf*>(ring);
    made.ring_entries = entries;
}

auto io_uring_driver::find(descriptor target) noexcept -> slot* {
    if (target.index >= slots_.size()) return nullptr;
    auto& candidate = slots_[target.index];
    return candidate.is_open && candidate.generation == target.generation ? &candidate : nullptr;
}

auto io_uring_driver::poll(std::span<event> out, time_point until) noexcept -> std::size_t {
    return turn(out, until, false);
}

void io_uring_driver::go_home() noexcept {
    auto const here = this_thread_number();
    if (home_ != 0) {
        check(home_ == here,
              "driver law 11 (home): only wake() may be called by another thread than the worker's");
        return;
    }
    home_ = here;
    if (auto const result = ring_.enable(); result < 0) ring_failed("io_uring_register", result);
    if (powers_.registered_ring_fd) ring_.register_own_descriptor();
}

auto io_uring_driver::turn(std::span<event> out, time_point until, bool until_empty) noexcept -> std::size_t {
    go_home();
    for (;;) {
        flush_backlog();
        auto count = take_ended(out);
        auto const can_be_woken = wake_fd_ < 0 || wake_is_armed_;
        auto const is_idle = can_be_woken && count == 0 && backlog_first_ == nullptr &&
                             closing_first_ == nobody && ring_.completion() == nullptr &&
                             !(until_empty && in_flight_ == 0);
        auto const at = is_idle && until != never ? now() : time_point::min();
        auto const waits = is_idle && at < until && wake_.fall_asleep();
        if (waits || ring_.unsubmitted() != 0 || ring_.has_deferred())
            enter(waits, until == never ? duration::max() : saturating_difference(until, at));
        if (waits) wake_.rise();
        auto const is_woken = wake_.take();
        count += reap(out.subspan(count));
        count += take_ended(out.subspan(count));
        if (count != 0 || is_woken || (until_empty && in_flight_ == 0)) return count;
        if (until != never && now() >= until) return 0;
    }
}

void io_uring_driver::enter(bool waits, duration at_most) noexcept {
    auto const result = ring_.enter(waits, at_most);
    // EBUSY: completions first; EAGAIN: no memory for a request now; the entries stay for the next turn.
    if (result < 0 && result != -EINTR && result != -EBUSY && result != -EAGAIN)
        ring_failed("io_uring_enter", result);
}

/// A system call only when the worker sleeps. The message or the count may arrive in a later `poll`; what
/// counts is `wake_`.
void io_uring_driver::wake() noexcept {
    if (!wake_.wake()) return;
    if (wake_fd_ >= 0) {
        std::uint64_t const one = 1;
        while (::write(wake_fd_, &one, sizeof one) < 0 && errno == EINTR) {
        } // fails otherwise only at a count of 2^64 - 1, which has woken long ago
        return;
    }
    io_uring_sqe message{};
    message.opcode = IORING_OP_MSG_RING;
    message.fd = ring_.descriptor_number();
    message.off = of_wake;
    while (syscall(SYS_io_uring_register, -1, kernel::register_send_msg_ring, &message, 1U) < 0) {
        // Without memory for a message, or room for it among the completions, there will be some soon.
        if (errno != ENOMEM && errno != EAGAIN && errno != EOVERFLOW && errno != EINTR)
            ring_failed("io_uring_register", -errno);
        std::this_thread::yield();
    }
}

/// One poll for the ring's life: nothing reads the count, each write is an event.
void io_uring_driver::arm_wake() noexcept {
    if (wake_is_armed_ || wake_fd_ < 0 || ring_.free_entries() == 0) return;
    auto& entry = *ring_.next_entry();
    entry.opcode = IORING_OP_POLL_ADD;
    entry.fd = wake_fd_;
    entry.len = IORING_POLL_ADD_MULTI;
    entry.poll32_events = POLLIN;
    entry.user_data = of_wake;
    wake_is_armed_ = true;
}

auto io_uring_driver::drain(std::span<event> out, time_point deadline) noexcept -> drain_progress {
    for (auto& on : slots_)
        for (auto& line : on.lines)
            for (auto* each = line.first(); each != nullptr;) {
                auto* const behind = each->next;
                ask_to_end(*each, true);
                each = behind;
            }
    drain_progress made;
    if (in_flight_ != 0) made.events = turn(out, deadline, true);
    made.remaining = in_flight_;
    auto const consider = [&made](operation* each) {
        auto const is_older = [&](operation& one) {
            return made.oldest == nullptr ||
                   of(one).sequence < of(const_cast<operation&>(*made.oldest)).sequence;
        };
        for (; each != nullptr; each = each->next)
            if (is_older(*each)) made.oldest = each;
    };
    consider(targetless_.first());
    consider(ended_.first());
    for (auto& on : slots_) {
        for (auto& line : on.lines) consider(line.first());
        if (on.closing_op != nullptr) consider(on.closing_op);
    }
    return made;
}

} // namespace pitsaw::inline v0
