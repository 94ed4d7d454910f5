#pragma once
#include <cstddef>

namespace pitsaw::inline v0 {

/// The running thread, for who is to wait for its end; empty at first.
///
/// ```
/// thread_end mine = thread_end::of_this_thread();   // given to another thread, which calls
/// mine.wait();
/// ```
/// Lifetime: whoever has it waits once. Threads: any but its own.
class thread_end {
  public:
    thread_end() = default;
    [[nodiscard]] static thread_end of_this_thread() noexcept;

    /// Until the thread is gone; nothing where it is empty.
    void wait() const noexcept;

  private:
    unsigned long thread_ = 0; // a pthread_t
    bool is_one_ = false;
};

/// Starts a thread that blocks every signal and calls `run(with)`; someone must wait for its `thread_end`.
/// `stack_bytes` of 0 are the system's default. Errors: `-errno` as the result, and there is no thread.
[[nodiscard]] int start_thread(void (*run)(void*) noexcept, void* with, std::size_t stack_bytes) noexcept;

} // namespace pitsaw::inline v0
