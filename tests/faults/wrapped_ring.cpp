#include "driver/io_uring/kernel.hpp"
#include "faults/fake_kernel.hpp"
#include "faults/fault_plan.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <vector>

/// The calls of io_uring, and the entries in its submission queue: one that has to fail is submitted as a
/// nop, and the result of its completion is then what it failed with. So the operation itself did not happen.
namespace {

using pitsaw::faults::error_at;
using pitsaw::faults::place;

struct spied_ring {
    int fd = -1;
    int registered = -1; // its index in the thread's table
    io_uring_params parameters{};
    std::byte* rings = nullptr;
    io_uring_sqe* entries = nullptr;
    std::vector<std::pair<std::uint64_t, int>> failing; // user_data, error

    [[nodiscard]] auto number(std::uint32_t offset) const -> std::uint32_t& {
        return *reinterpret_cast<std::uint32_t*>(rings + offset);
    }
};

bool has_sent_messages = false; // since a ring was made: the kernel knows how

// Plain memory: operator new is counted here.
constinit spied_ring* spied[64] = {};

auto find(int fd, bool is_index) -> spied_ring* {
    for (auto* const each : spied)
        if (each != nullptr && (is_index ? each->registered : each->fd) == fd) return each;
    return nullptr;
}

void remember(int fd, io_uring_params const& parameters) {
    auto* place_for = find(fd, false); // the number of one that was closed
    if (place_for == nullptr) {
        auto* const free = std::ranges::find(spied, nullptr);
        place_for = *(free == std::end(spied) ? spied : free) = new spied_ring;
    }
    *place_for = spied_ring{};
    place_for->fd = fd;
    place_for->parameters = parameters;
}

auto place_of(io_uring_sqe const& entry) -> place {
    switch (entry.opcode) {
    case IORING_OP_RECV:
        return place::entry_receive;
    case IORING_OP_SEND:
    case IORING_OP_SENDMSG:
        return place::entry_send;
    case IORING_OP_ACCEPT:
        return place::entry_accept;
    case IORING_OP_CONNECT:
        return place::entry_connect;
    case IORING_OP_POLL_ADD:
        return place::entry_poll;
    default:
        return place::none;
    }
}

void spoil_entries(spied_ring& ring, unsigned count) {
    auto const tail = ring.number(ring.parameters.sq_off.tail);
    for (auto at = tail - count; at != tail; ++at) {
        auto& entry = ring.entries[at & (ring.parameters.sq_entries - 1)];
        if (place_of(entry) == place::none) continue;
        auto const error = error_at(place_of(entry));
        if (error == 0) continue;
        auto const user_data = entry.user_data;
        entry = {};
        entry.opcode = IORING_OP_NOP;
        entry.user_data = user_data;
        ring.failing.emplace_back(user_data, error);
    }
}

void spoil_results(spied_ring& ring) {
    if (ring.failing.empty()) return;
    auto* const done = reinterpret_cast<io_uring_cqe*>(ring.rings + ring.parameters.cq_off.cqes);
    for (auto at = ring.number(ring.parameters.cq_off.head); at != ring.number(ring.parameters.cq_off.tail);
         ++at) {
        auto& each = done[at & (ring.parameters.cq_entries - 1)];
        auto const found =
            std::ranges::find(ring.failing, each.user_data, &std::pair<std::uint64_t, int>::first);
        if (found == ring.failing.end() || each.res != 0) continue;
        each.res = -found->second;
        ring.failing.erase(found);
    }
}

auto failure(int error) -> long {
    errno = error;
    return -1;
}

} // namespace

extern "C" {

long __real_syscall(long number, ...);

static auto setup(long entries, io_uring_params* parameters) -> long {
    if (auto const error = error_at(place::ring_setup)) return failure(error);
    has_sent_messages = false;
    auto const made = __real_syscall(SYS_io_uring_setup, entries, parameters);
    if (made >= 0) remember(static_cast<int>(made), *parameters);
    return made;
}

static auto enter(long fd, long submit, long wait, long flags, long argument, long bytes) -> long {
    auto* const ring = find(static_cast<int>(fd),
                            (static_cast<unsigned>(flags) & pitsaw::kernel::enter_registered_ring) != 0);
    if (auto const error = error_at(place::ring_enter)) return failure(error);
    if (ring != nullptr) spoil_entries(*ring, static_cast<unsigned>(submit));
    auto const result = __real_syscall(SYS_io_uring_enter, fd, submit, wait, flags, argument, bytes);
    auto const error = errno;
    if (ring != nullptr) spoil_results(*ring);
    errno = error;
    return result;
}

static auto call_register(long fd, unsigned what, long argument, long count) -> long {
    // A ring that was made is enabled without conditions (io_register_enable_rings, Linux 6.18), and nothing
    // is lacking to unregister.
    auto const may_fail = what != IORING_REGISTER_ENABLE_RINGS && what != IORING_UNREGISTER_RING_FDS &&
                          what != IORING_UNREGISTER_PBUF_RING;
    auto const is_message = what == pitsaw::kernel::register_send_msg_ring;
    auto const is_known = is_message && has_sent_messages && pitsaw::faults::armed().error == EINVAL;
    if (may_fail && !is_known)
        if (auto const error = error_at(place::ring_register)) return failure(error);
    auto const result = __real_syscall(SYS_io_uring_register, fd, what, argument, count);
    if (is_message && result == 0) has_sent_messages = true;
    if (what == IORING_REGISTER_RING_FDS && result == 1) {
        auto const& update = *reinterpret_cast<io_uring_rsrc_update const*>(argument);
        if (auto* const old = find(static_cast<int>(update.offset), true)) old->registered = -1;
        if (auto* const ring = find(static_cast<int>(update.data), false))
            ring->registered = static_cast<int>(update.offset);
    }
    return result;
}

long __wrap_syscall(long number, ...) {
    va_list rest;
    va_start(rest, number);
    long given[6];
    for (auto& each : given) each = va_arg(rest, long);
    va_end(rest);
    if (auto* const fake = pitsaw::faults::fake_kernel::current())
        if (auto const answer = fake->answer(number, given)) return *answer;
    switch (number) {
    case SYS_io_uring_setup:
        return setup(given[0], reinterpret_cast<io_uring_params*>(given[1]));
    case SYS_io_uring_enter:
        return enter(given[0], given[1], given[2], given[3], given[4], given[5]);
    case SYS_io_uring_register:
        return call_register(given[0], static_cast<unsigned>(given[1]), given[2], given[3]);
    default:
        return __real_syscall(number, given[0], given[1], given[2], given[3], given[4], given[5]);
    }
}

void* __real_mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset);
void* __wrap_mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
    if (auto* const fake = pitsaw::faults::fake_kernel::current())
        if (auto* const memory = fake->map(fd, offset)) return memory;
    if (auto const error = error_at(place::ring_map)) {
        errno = error;
        return MAP_FAILED;
    }
    void* const made = __real_mmap(at, bytes, protection, flags, fd, offset);
    auto* const ring = fd < 0 ? nullptr : find(fd, false);
    if (ring != nullptr && made != MAP_FAILED) {
        if (offset == static_cast<off_t>(IORING_OFF_SQES))
            ring->entries = static_cast<io_uring_sqe*>(made);
        else
            ring->rings = static_cast<std::byte*>(made);
    }
    return made;
}

} // extern "C"
