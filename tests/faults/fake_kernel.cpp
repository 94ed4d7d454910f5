#include "faults/fake_kernel.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>

namespace pitsaw::faults {
namespace {

fake_kernel* current_one = nullptr;

enum : std::uint32_t { sq_head = 0, sq_tail = 4, sq_flags = 8, cq_head = 64, cq_tail = 68, cqes = 128 };

auto fresh_page() -> void* {
    return ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

auto failure(int error) noexcept -> long {
    errno = error;
    return -1;
}

} // namespace

fake_kernel::fake_kernel(std::uint32_t first) : first_(first) { current_one = this; }

fake_kernel::~fake_kernel() {
    current_one = nullptr;
    for (auto* const each : rings_) delete each;
}

auto fake_kernel::current() noexcept -> fake_kernel* { return current_one; }

auto fake_kernel::find(int fd) noexcept -> ring* {
    for (auto at = rings_.rbegin(); at != rings_.rend(); ++at) // the last of a number: the others are closed
        if ((*at)->fd == fd) return *at;
    return nullptr;
}

auto fake_kernel::answer(long number, long const (&given)[6]) -> std::optional<long> {
    if (number == SYS_io_uring_setup) return set_up(*reinterpret_cast<io_uring_params*>(given[1]));
    auto* const on = find(static_cast<int>(given[0]));
    if (number == SYS_io_uring_enter && on != nullptr)
        return enter(*on, static_cast<std::uint32_t>(given[1]));
    if (number != SYS_io_uring_register) return {};
    return static_cast<unsigned>(given[1]) == IORING_REGISTER_ENABLE_RINGS ? 0 : failure(EINVAL);
}

auto fake_kernel::set_up(io_uring_params& parameters) -> long {
    auto* const made = rings_.emplace_back(new ring{});
    made->memory = static_cast<std::byte*>(fresh_page());
    made->entries = static_cast<io_uring_sqe*>(fresh_page());
    made->fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    made->number(sq_head) = made->number(sq_tail) = first_;
    made->number(cq_head) = made->number(cq_tail) = first_;
    parameters.sq_entries = submissions;
    parameters.cq_entries = completions;
    parameters.features = UINT32_MAX;
    parameters.sq_off = {};
    parameters.sq_off.head = sq_head;
    parameters.sq_off.tail = sq_tail;
    parameters.sq_off.flags = sq_flags;
    parameters.cq_off = {};
    parameters.cq_off.head = cq_head;
    parameters.cq_off.tail = cq_tail;
    parameters.cq_off.cqes = cqes;
    return made->fd;
}

auto fake_kernel::map(int fd, std::int64_t offset) -> void* {
    auto* const on = fd < 0 ? nullptr : find(fd);
    if (on == nullptr) return nullptr;
    return offset == static_cast<std::int64_t>(IORING_OFF_SQES) ? static_cast<void*>(on->entries)
                                                                : static_cast<void*>(on->memory);
}

auto fake_kernel::enter(ring& on, std::uint32_t count) -> long {
    for (std::uint32_t left = count; left != 0; --left) {
        auto const& entry = on.entries[on.number(sq_head)++ & (submissions - 1)];
        if (entry.opcode == IORING_OP_NOP)
            complete(on, entry.user_data, 0, 0);
        else
            kept.push_back(entry);
    }
    return static_cast<long>(count);
}

void fake_kernel::complete(ring& on, std::uint64_t user_data, std::int32_t result, std::uint32_t flags) {
    auto& each = reinterpret_cast<io_uring_cqe*>(on.memory + cqes)[on.number(cq_tail) & (completions - 1)];
    each.user_data = user_data;
    each.res = result;
    each.flags = flags;
    ++on.number(cq_tail);
}

void fake_kernel::complete(std::uint64_t user_data, std::int32_t result, std::uint32_t flags) {
    complete(*rings_.front(), user_data, result, flags);
}

} // namespace pitsaw::faults
