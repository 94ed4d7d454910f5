#pragma once
#include "driver/io_uring/kernel.hpp"

#include <pitsaw/base/clock.hpp>

#include <cstddef>
#include <cstdint>

namespace pitsaw::inline v0 {

/// One pair of rings of the kernel: system calls and memory maps, no policy.
///
/// ```
/// io_uring ring;
/// if (ring.open(256, 1024) < 0) ...
/// ring.enable();                                  // from here on this thread's
/// auto& entry = *ring.next_entry();               // zeroed; null: full, enter() makes room
/// ring.enter(true, deadline - now);               // submits all and waits for a completion
/// while (auto const* done = ring.completion()) { use(*done); ring.pop_completion(); }
/// ```
/// It is the one place where the thread sanitizer is told of what passes through the kernel: whatever was
/// written before an `enter` is seen by who takes a completion after it.
///
/// Lifetime: immovable; its destructor closes the ring and returns at once; the kernel ends what is in flight
/// afterwards. Threads: opened, registered with and destroyed by any one; from `enable` on one thread's
/// (IORING_SETUP_SINGLE_ISSUER). Errors: `-errno`, as the kernel gives it. Source: io_uring(7).
class io_uring {
  public:
    io_uring() noexcept = default;
    io_uring(io_uring&&) = delete;
    ~io_uring();

    [[nodiscard]] auto open(std::uint32_t submissions, std::uint32_t completions) noexcept -> int;
    [[nodiscard]] auto enable() noexcept -> int;
    void register_own_descriptor() noexcept; // spares the look-up of the descriptor; none free: goes without
    [[nodiscard]] auto has_registered_descriptor() const noexcept -> bool { return registered_ >= 0; }
    [[nodiscard]] auto call_register(unsigned what, void* argument, unsigned count) noexcept -> int;

    [[nodiscard]] auto next_entry() noexcept -> io_uring_sqe*;
    [[nodiscard]] auto free_entries() const noexcept -> std::uint32_t;
    [[nodiscard]] auto unsubmitted() const noexcept -> std::uint32_t { return tail_ - submitted_; }

    /// Submits every entry and, with `waits`, waits for a completion at most `at_most` (`duration::max()`: as
    /// long as it takes). Returns 0, or an error that leaves the entries where they are.
    [[nodiscard]] auto enter(bool waits, duration at_most) noexcept -> int;
    /// Whether the kernel holds back completions until the next `enter`.
    [[nodiscard]] auto has_deferred() const noexcept -> bool;

    [[nodiscard]] auto completion() noexcept -> io_uring_cqe const*; // null: none
    void pop_completion() noexcept;

    [[nodiscard]] auto descriptor_number() const noexcept -> int { return fd_; }
    [[nodiscard]] auto enters() const noexcept -> std::uint64_t { return enters_; }

  private:
    [[nodiscard]] auto set_up(std::uint32_t submissions, std::uint32_t completions,
                              std::uint32_t flags) noexcept -> int;
    [[nodiscard]] auto map() noexcept -> int;
    void close() noexcept;

    int fd_ = -1;
    int registered_ = -1; // its index in the thread's table of rings
    io_uring_params parameters_{};
    void* rings_ = nullptr;
    std::size_t rings_bytes_ = 0;
    io_uring_sqe* entries_ = nullptr;
    io_uring_cqe* completions_ = nullptr;
    std::uint32_t* submission_head_ = nullptr; // the kernel writes
    std::uint32_t* submission_tail_ = nullptr;
    std::uint32_t* submission_flags_ = nullptr; // the kernel writes
    std::uint32_t* completion_head_ = nullptr;
    std::uint32_t* completion_tail_ = nullptr; // the kernel writes
    std::uint32_t tail_ = 0;
    std::uint32_t submitted_ = 0;
    std::uint64_t enters_ = 0;
};

} // namespace pitsaw::inline v0
