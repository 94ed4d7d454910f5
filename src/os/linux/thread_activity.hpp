#pragma once
#include <cstdint>

namespace pitsaw::inline v0 {

/// What the system knows of a thread: how long it has run on a processor, and whether it could run now.
struct thread_activity {
    std::int64_t processor_ns = 0;
    bool is_runnable = true; ///< it runs, or waits for a processor; else it waits for something else
};

/// The calling thread's name for `activity_of_thread`: its number in /proc.
[[nodiscard]] auto number_of_this_task() noexcept -> std::int32_t;

/// Of a thread of this process, as far as the system says. Source: proc_pid_stat(5), clock_getcpuclockid(3).
[[nodiscard]] auto activity_of_thread(std::int32_t number) noexcept -> thread_activity;

} // namespace pitsaw::inline v0
