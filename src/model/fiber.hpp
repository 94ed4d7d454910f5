#pragma once
#include <cstddef>
#include <memory>
#include <vector>

namespace pitsaw::inline v0::model {

/// A stack that runs and is left, within one thread of the system. `src/model/fiber.cpp` has what all
/// machines share (the sanitizer's and the exceptions' book-keeping), `switch_*.cpp` the change of stacks
/// itself.
///
/// Lifetime: the engine's, which uses it again for each run. Threads: one.
class fiber {
  public:
    static constexpr std::size_t stack_bytes = 256 * 1024;

    fiber() = default;
    fiber(fiber&&) = delete;
    ~fiber();

    /// The next switch to it calls `run`, which does not return.
    void begin(void (*run)());

    /// Leaves this one, which is the running one, for `next`; returns when somebody switches back.
    void switch_to(fiber& next, bool is_last = false) noexcept;

    /// What its frames own is to stay: it was left amid its work for good.
    void abandon() noexcept;

  private:
    void arrived() noexcept;
    static void enter();

    std::byte* stack_ = nullptr; // none: the thread's own
    void* position_ = nullptr;   // switch_*.cpp: where it goes on
    void (*run_)() = nullptr;
    void* sanitizer_stack_ = nullptr;
    void const* bottom_ = nullptr; // of the thread's own stack, where the sanitizer tells
    std::size_t size_ = 0;
    void* caught_ = nullptr; // the exceptions that are being handled on it
    unsigned uncaught_ = 0;
};

/// switch_*.cpp: makes `stack` begin with a call of `enter`; the result is its position.
[[nodiscard]] auto prepare_stack(std::byte* stack, std::size_t bytes, void (*enter)()) noexcept -> void*;
/// switch_*.cpp: goes on at `to` and leaves in `from` where to come back.
void switch_stack(void** from, void* to) noexcept;

} // namespace pitsaw::inline v0::model
