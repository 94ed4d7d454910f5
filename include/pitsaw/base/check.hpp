#pragma once
#include <source_location>

namespace pitsaw::inline v0 {

namespace detail {
#ifdef NDEBUG
inline constexpr bool debug_checks = false;
#else
inline constexpr bool debug_checks = true;
#endif
} // namespace detail

/// Ends the process with `what`, the place, the current async stack and what the worker did last on stderr.
/// Never returns.
[[noreturn]] void check_failed(char const* what, std::source_location where) noexcept;

/// A condition the library or its user promised; stays on in release builds.
///
///     check(!armed(), "a timer is armed once: disarm it before arming it again");
///
/// `what` says what was broken and what to do about it. Threads: any. Errors: a broken promise ends the
/// process, for what would run on is no longer the program that was written.
constexpr void check(bool holds, char const* what,
                     std::source_location where = std::source_location::current()) noexcept {
    if (!holds) [[unlikely]]
        check_failed(what, where);
}

/// As `check`, for conditions whose cost on a hot path has been measured: gone when NDEBUG is defined.
constexpr void
debug_check([[maybe_unused]] bool holds, [[maybe_unused]] char const* what,
            [[maybe_unused]] std::source_location where = std::source_location::current()) noexcept {
    if constexpr (detail::debug_checks) check(holds, what, where);
}

namespace detail {
/// Prints who awaits whom from the task that runs on this thread, nothing where none does. Defined by the
/// task layer, which alone knows the chain; declared here because `check_failed` calls it. To stderr, without
/// a heap.
void print_async_stack_of_this_thread() noexcept;

/// Prints what this thread's worker did last, and writes all that it recorded to a file if the environment
/// names a folder (docs/guide/recorder.md); nothing where there is no worker. Defined by the loop. To stderr,
/// without a heap.
void print_record_of_this_thread() noexcept;
} // namespace detail

} // namespace pitsaw::inline v0
