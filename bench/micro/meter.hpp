#pragma once
#include <cstdint>
#include <cstdio>
#include <ctime>

// What the programs of bench/micro share. Each takes the name of a case, does one round of it, and prints
// `METRIC UNIT VALUE` lines.

/// The time this thread has spent on a core: what other programs of the machine take does not count.
inline double cpu_ns() noexcept {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// The compiler must produce `value` and may not guess what became of it.
template <class T> void keep(T const& value) { asm volatile("" : : "r,m"(value) : "memory"); }

/// Deadlines as a server has them: spread over 50 s, in no order.
inline std::uint64_t timeout_ms(std::uint64_t number) noexcept { return 10000 + number * 7919 % 50000; }

inline void print_time(double total_ns, std::uint64_t operations) {
    std::printf("time ns/op %.3f\n", total_ns / static_cast<double>(operations));
}
