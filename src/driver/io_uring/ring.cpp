#include "driver/io_uring/ring.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define PITSAW_THREAD_SANITIZER
#endif
#endif
#ifdef PITSAW_THREAD_SANITIZER
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace pitsaw::inline v0 {
namespace {

// The sanitizer sees no hand-over through shared memory of the kernel. `enter` releases, `completion`
// acquires.
#ifdef PITSAW_THREAD_SANITIZER
void hand_to_kernel(void* ring) noexcept { __tsan_release(ring); }
void take_from_kernel(void* ring) noexcept { __tsan_acquire(ring); }
#else
void hand_to_kernel(void*) noexcept {}
void take_from_kernel(void*) noexcept {}
#endif

auto load_acquire(std::uint32_t* from) noexcept -> std::uint32_t {
    return std::atomic_ref(*from).load(std::memory_order_acquire); // with the kernel's smp_store_release
}
void store_release(std::uint32_t* to, std::uint32_t value) noexcept {
    std::atomic_ref(*to).store(value, std::memory_order_release); // with the kernel's smp_load_acquire
}

} // namespace

io_uring::~io_uring() { close(); }

void io_uring::close() noexcept {
    if (registered_ >= 0) {
        io_uring_rsrc_update update{};
        update.offset = static_cast<std::uint32_t>(registered_);
        (void)call_register(IORING_UNREGISTER_RING_FDS, &update,
                            1); // of another thread's table: nothing happens
    }
    if (entries_ != nullptr) munmap(entries_, parameters_.sq_entries * sizeof(io_uring_sqe));
    if (rings_ != nullptr) munmap(rings_, rings_bytes_);
    if (fd_ >= 0) ::close(fd_);
    registered_ = fd_ = -1;
    entries_ = nullptr;
    rings_ = nullptr;
}

auto io_uring::set_up(std::uint32_t submissions, std::uint32_t completions, std::uint32_t flags) noexcept
    -> int {
    parameters_ = {};
    // R_DISABLED: the thread that enables the ring, not the one that opens it, is its single issuer.
    parameters_.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
                        IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE | IORING_SETUP_R_DISABLED | flags;
    parameters_.cq_entries = completions;
    auto const made = static_cast<int>(syscall(SYS_io_uring_setup, submissions, &parameters_));
    return made < 0 ? -errno : made;
}

/// Needs Linux 6.1 (DEFER_TASKRUN); an older one answers EINVAL.
auto io_uring::open(std::uint32_t submissions, std::uint32_t completions) noexcept -> int {
    auto made = set_up(submissions, completions, kernel::setup_no_sqarray);
    if (made == -EINVAL) made = set_up(submissions, completions, 0); // before Linux 6.6
    if (made < 0) return made;
    fd_ = made;
    constexpr std::uint32_t needed =
        IORING_FEAT_NODROP | IORING_FEAT_EXT_ARG | IORING_FEAT_SUBMIT_STABLE | IORING_FEAT_SINGLE_MMAP;
    auto const result = (parameters_.features & needed) == needed ? map() : -EOPNOTSUPP;
    if (result < 0) close(); // may be opened again
    return result;
}

auto io_uring::map() noexcept -> int {
    auto const& submission = parameters_.sq_off;
    auto const& completion = parameters_.cq_off;
    auto const has_array = (parameters_.flags & kernel::setup_no_sqarray) == 0;
    rings_bytes_ = std::max<std::size_t>(submission.array +
                                             (has_array ? parameters_.sq_entries * sizeof(std::uint32_t) : 0),
                                         completion.cqes + parameters_.cq_entries * sizeof(io_uring_cqe));
    auto const map_at = [&](std::size_t bytes, std::uint64_t offset) {
        return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_,
                    static_cast<off_t>(offset));
    };
    void* const rings = map_at(rings_bytes_, IORING_OFF_SQ_RING);
    if (rings == MAP_FAILED) return -errno;
    rings_ = rings;
    void* const entries = map_at(parameters_.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES);
    if (entries == MAP_FAILED) return -errno;
    entries_ = static_cast<io_uring_sqe*>(entries);
    auto* const base = static_cast<std::byte*>(rings);
    auto const number = [base](std::uint32_t offset) {
        return reinterpret_cast<std::uint32_t*>(base + offset);
    };
    submission_head_ = number(submission.head);
    submission_tail_ = number(submission.tail);
    submission_flags_ = number(submission.flags);
    completion_head_ = number(completion.head);
    completion_tail_ = number(completion.tail);
    tail_ = submitted_ = *submission_tail_;
    completions_ = reinterpret_cast<io_uring_cqe*>(base + completion.cqes);
    if (has_array)
        for (std::uint32_t i = 0; i < parameters_.sq_entries; ++i) number(submission.array)[i] = i;
    return 0;
}

auto io_uring::call_register(unsigned what, void* argument, unsigned count) noexcept -> int {
    auto const result = static_cast<int>(syscall(SYS_io_uring_register, fd_, what, argument, count));
    return result < 0 ? -errno : result;
}

auto io_uring::enable() noexcept -> int { return call_register(IORING_REGISTER_ENABLE_RINGS, nullptr, 0); }

void io_uring::register_own_descriptor() noexcept {
    io_uring_rsrc_update update{};
    update.offset = UINT32_MAX; // any free index; a thread has 16
    update.data = static_cast<std::uint64_t>(fd_);
    if (call_register(IORING_REGISTER_RING_FDS, &update, 1) == 1)
        registered_ = static_cast<int>(update.offset);
}

auto io_uring::free_entries() const noexcept -> std::uint32_t {
    return parameters_.sq_entries - (tail_ - load_acquire(submission_head_));
}

auto io_uring::next_entry() noexcept -> io_uring_sqe* {
    if (free_entries() == 0) return nullptr;
    auto* const entry = &entries_[tail_++ & (parameters_.sq_entries - 1)];
    std::memset(entry, 0, sizeof *entry);
    return entry;
}

auto io_uring::enter(bool waits, duration at_most) noexcept -> int {
    __kernel_timespec time{};
    io_uring_getevents_arg argument{};
    argument.sigmask_sz = _NSIG / 8;
    if (waits && at_most != duration::max()) {
        time.tv_sec = at_most.count() / 1'000'000'000;
        time.tv_nsec = at_most.count() % 1'000'000'000;
        argument.ts = reinterpret_cast<std::uint64_t>(&time);
    }
    auto flags = unsigned{IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG};
    if (registered_ >= 0) flags |= kernel::enter_registered_ring;
    store_release(submission_tail_, tail_);
    hand_to_kernel(this);
    ++enters_;
    auto const result = syscall(SYS_io_uring_enter, registered_ >= 0 ? registered_ : fd_, tail_ - submitted_,
                                waits ? 1U : 0U, flags, &argument, sizeof argument);
    if (result >= 0) {
        submitted_ += static_cast<std::uint32_t>(result);
        return 0;
    }
    return errno == ETIME ? 0 : -errno;
}

auto io_uring::has_deferred() const noexcept -> bool {
    auto const flags =
        std::atomic_ref(*submission_flags_).load(std::memory_order_relaxed); // a hint; enter decides
    return (flags & (IORING_SQ_CQ_OVERFLOW | IORING_SQ_TASKRUN)) != 0;
}

auto io_uring::completion() noexcept -> io_uring_cqe const* {
    auto const head = *completion_head_; // only this thread writes it
    if (head == load_acquire(completion_tail_)) return nullptr;
    take_from_kernel(this);
    return &completions_[head & (parameters_.cq_entries - 1)];
}

void io_uring::pop_completion() noexcept { store_release(completion_head_, *completion_head_ + 1); }

} // namespace pitsaw::inline v0
