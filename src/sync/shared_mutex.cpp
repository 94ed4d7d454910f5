#include <pitsaw/sync/shared_mutex.hpp>

#include <mutex>

namespace pitsaw::inline v0 {

bool shared_mutex::take(bool const is_shared) noexcept {
    if (is_shared ? readers_ == writing : readers_ != 0) return false;
    readers_ = is_shared ? readers_ + 1 : writing;
    return true;
}

void shared_mutex::let_in(wake_list& woken) noexcept {
    while (!empty() && take(static_cast<lock_awaiter&>(front()).is_shared_)) grant(woken);
}

shared_mutex_guard shared_mutex::try_take(bool const is_shared) noexcept {
    std::scoped_lock const held(guard);
    if (!empty() || !take(is_shared)) return {};
    return {*this, is_shared};
}

void shared_mutex::unlock() noexcept {
    wake_list woken;
    std::scoped_lock const held(guard);
    readers_ = readers_ == writing ? 0 : readers_ - 1;
    let_in(woken);
}

std::coroutine_handle<> shared_mutex::lock_awaiter::start(promise_header& header) noexcept {
    return wait_unless(header, of_, [this] { return of_.empty() && of_.take(is_shared_); });
}

void shared_mutex::lock_awaiter::withdrawn(queued_waiter& leaving, wake_list& woken) noexcept {
    static_cast<lock_awaiter&>(leaving).of_.let_in(woken);
}

} // namespace pitsaw::inline v0
