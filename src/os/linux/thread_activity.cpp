#include "os/linux/thread_activity.hpp"

#include "os/posix/owned_fd.hpp"

#include <array>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

namespace pitsaw::inline v0 {

namespace {

// Linux's name of the processor clock of a thread, by its number: CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED in
// include/linux/posix-timers.h, which pthread_getcpuclockid(3) computes likewise.
clockid_t processor_clock(std::int32_t const number) noexcept {
    return static_cast<clockid_t>(~static_cast<std::uint32_t>(number) << 3 | 6);
}

} // namespace

auto number_of_this_task() noexcept -> std::int32_t { return ::gettid(); }

auto activity_of_thread(std::int32_t const number) noexcept -> thread_activity {
    thread_activity now;
    timespec spent = {};
    if (::clock_gettime(processor_clock(number), &spent) == 0)
        now.processor_ns = std::int64_t{spent.tv_sec} * 1'000'000'000 + spent.tv_nsec;
    std::array<char, 64> path;
    std::snprintf(path.data(), path.size(), "/proc/self/task/%d/stat", number);
    owned_fd const file(::open(path.data(), O_RDONLY | O_CLOEXEC));
    std::array<char, 256> text{};
    if (::read(file.get(), text.data(), text.size() - 1) <= 0) return now;
    // The state stands behind the name, which may have any character in it, parentheses too.
    auto const* const after_name = std::strrchr(text.data(), ')');
    if (after_name != nullptr && after_name[1] == ' ') now.is_runnable = after_name[2] == 'R';
    return now;
}

} // namespace pitsaw::inline v0
