#pragma once
#include <array>
#include <cstdint>

namespace pitsaw::inline v0 {

/// The processors that a thread may run on: a bit for each, of as many as Linux can be built for.
struct cpu_mask {
    std::array<std::uint64_t, 128> bits{};
};

/// Of the calling thread. Errors: `-errno` in the result. Source: sched_setaffinity(2).
[[nodiscard]] int get_cpu_mask(cpu_mask& into) noexcept;
[[nodiscard]] int set_cpu_mask(cpu_mask const& to) noexcept;

/// The mask of one processor; of none if there can be none of that number.
[[nodiscard]] cpu_mask mask_of_cpu(std::uint32_t number) noexcept;

/// While it lives, the calling thread runs on one processor; it goes where it was allowed before afterwards.
/// Errors: in `result`, as above; then nothing has changed.
class pinned_thread {
  public:
    explicit pinned_thread(std::uint32_t cpu) noexcept;
    pinned_thread(pinned_thread&&) = delete;
    ~pinned_thread();

    [[nodiscard]] int result() const noexcept { return result_; }

  private:
    cpu_mask before_;
    int result_;
};

} // namespace pitsaw::inline v0
