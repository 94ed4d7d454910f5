#pragma once
#include <atomic>
#include <thread>

/// What the library's atomic protocols are made of. Everywhere but in the tests of `pitsaw::model` these are
/// the standard's own, at no cost; there another file of this name comes first in the include path and puts
/// the checked ones in their place, so that what is checked is what is shipped. The names exist for that
/// alone.
namespace pitsaw::inline v0::detail {

template <class T> using atomic = std::atomic<T>;

/// A plain variable that a protocol hands from thread to thread: the model reports a race on it.
template <class T> using guarded = T;

using thread_id = std::thread::id;
[[nodiscard]] inline auto this_thread_id() noexcept -> thread_id { return std::this_thread::get_id(); }

/// Between two looks at what another thread is about to change: it may have to run first.
inline void yield_thread() noexcept { std::this_thread::yield(); }

/// The same where it changes within a few instructions; `looks` counts how often it has not.
inline void pause_thread(unsigned looks) noexcept {
    if (looks > 64) yield_thread();
}

/// One value for each thread, null at its start; `Tag` tells it from others.
template <class T, class Tag> [[nodiscard]] auto per_thread() noexcept -> T*& {
    static thread_local constinit T* value = nullptr;
    return value;
}

} // namespace pitsaw::inline v0::detail
