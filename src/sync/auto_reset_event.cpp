#include <pitsaw/sync/auto_reset_event.hpp>

#include <mutex>

namespace pitsaw::inline v0 {

void auto_reset_event::set() noexcept {
    wake_list woken;
    std::scoped_lock const held(guard);
    if (empty())
        is_set_ = true;
    else
        grant(woken);
}

bool auto_reset_event::take() noexcept {
    bool const was_set = is_set_;
    is_set_ = false;
    return was_set;
}

bool auto_reset_event::try_wait() noexcept {
    std::scoped_lock const held(guard);
    return take();
}

std::coroutine_handle<> auto_reset_event::wait_awaiter::start(promise_header& header) noexcept {
    return wait_unless(header, of_, [this] { return of_.take(); });
}

} // namespace pitsaw::inline v0
