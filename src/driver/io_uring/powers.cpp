#include "driver/io_uring/powers.hpp"

#include "driver/io_uring/ring.hpp"

#include <cerrno>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pitsaw::inline v0 {
namespace {

/// Submits what there is and waits for its completion. Lack of memory and signals pass.
auto submit_and_wait(io_uring& ring) noexcept -> int {
    constexpr int tries_max = 1'000;
    for (int tries = 1;; ++tries) {
        auto const result = ring.enter(true, duration::max());
        auto const passes = result == -EINTR || result == -EAGAIN || result == -EBUSY;
        if (!passes || tries == tries_max) return result;
    }
}

/// A kernel that knows the option finds that -1 is no file; one that does not, that the entry is invalid.
auto knows(io_uring& ring, std::uint8_t code, std::uint16_t option, std::uint8_t flags) noexcept -> bool {
    auto* const entry = ring.next_entry();
    if (entry == nullptr) return false;
    entry->opcode = code;
    entry->fd = -1;
    entry->ioprio = option;
    entry->flags = flags;
    if (submit_and_wait(ring) < 0) return false;
    auto const* const done = ring.completion();
    if (done == nullptr) return false;
    auto const result = done->res;
    ring.pop_completion();
    return result == -EBADF;
}

auto has_buffer_rings(io_uring& ring) noexcept -> bool {
    constexpr std::size_t bytes = 4096;
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    io_uring_buf_reg asked{};
    asked.ring_addr = reinterpret_cast<std::uint64_t>(memory);
    asked.ring_entries = 8;
    auto const has = ring.call_register(IORING_REGISTER_PBUF_RING, &asked, 1) == 0;
    if (has) (void)ring.call_register(IORING_UNREGISTER_PBUF_RING, &asked, 1);
    munmap(memory, bytes);
    return has;
}

auto has_message_wake(io_uring& ring) noexcept -> bool {
    io_uring_sqe entry{};
    entry.opcode = IORING_OP_MSG_RING;
    entry.fd = ring.descriptor_number();
    if (syscall(SYS_io_uring_register, -1, kernel::register_send_msg_ring, &entry, 1U) != 0) return false;
    if (submit_and_wait(ring) < 0 || ring.completion() == nullptr) return false;
    ring.pop_completion();
    return true;
}

/// Enables the ring and has it do something: 0, or why it does not work.
auto try_out(io_uring& ring) noexcept -> int {
    if (auto const result = ring.enable(); result < 0) return result;
    ring.next_entry()->opcode = IORING_OP_NOP;
    if (auto const result = submit_and_wait(ring); result < 0) return result;
    if (ring.completion() == nullptr) return -EIO;
    ring.pop_completion();
    return 0;
}

} // namespace

auto probe_io_uring_powers() noexcept -> io_result<io_uring_powers> {
    io_uring_powers found{false, false, false, false, false};
    io_uring ring;
    if (ring.open(4, 8) < 0) return found;
    if (auto const result = try_out(ring); result < 0) return std::unexpected(to_error(result));
    ring.register_own_descriptor();
    found.registered_ring_fd = ring.has_registered_descriptor();
    found.buffer_rings = has_buffer_rings(ring);
    found.multishot_accept = knows(ring, IORING_OP_ACCEPT, IORING_ACCEPT_MULTISHOT, 0);
    found.multishot_receive =
        found.buffer_rings && knows(ring, IORING_OP_RECV, IORING_RECV_MULTISHOT, IOSQE_BUFFER_SELECT);
    found.message_wake = has_message_wake(ring);
    return found;
}

} // namespace pitsaw::inline v0
