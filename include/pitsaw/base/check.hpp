#pragma once
#include <source_location>

namespace pitsaw::inline v0 {

/// Ends the process with `what`, the place and the current async stack on stderr. Never returns.
[[noreturn]] void check_failed(char const* what, std::source_location where) noexcept;

/// A condition the library or its user promised; stays on in release builds.
///
/// `what` says what was broken and what to do about it. Threads: any.
inline void check(bool holds, char const* what,
                  std::source_location where = std::source_location::current()) noexcept {
    if (!holds) [[unlikely]] check_failed(what, where);
}

/// As `check`, for conditions whose cost on a hot path has been measured: gone when NDEBUG is defined.
inline void debug_check([[maybe_unused]] bool holds, [[maybe_unused]] char const* what,
                        [[maybe_unused]] std::source_location where = std::source_location::current()) noexcept {
#ifndef NDEBUG
    check(holds, what, where);
#endif
}

} // namespace pitsaw::inline v0
