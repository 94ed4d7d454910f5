#include <pitsaw/sync/manual_reset_event.hpp>

#include <mutex>

namespace pitsaw::inline v0 {

void manual_reset_event::set() noexcept {
    wake_list woken;
    std::scoped_lock const held(guard);
    is_set_ = true;
    grant_all(woken);
}

void manual_reset_event::reset() noexcept {
    std::scoped_lock const held(guard);
    is_set_ = false;
}

// With the lock: who sees that it is set may destroy it, and whoever set it has let go of it by then.
bool manual_reset_event::is_set() const noexcept {
    std::scoped_lock const held(guard);
    return is_set_;
}

std::coroutine_handle<> manual_reset_event::wait_awaiter::start(promise_header& header) noexcept {
    return wait_unless(header, of_, [this]() -> bool { return of_.is_set_; });
}

} // namespace pitsaw::inline v0
