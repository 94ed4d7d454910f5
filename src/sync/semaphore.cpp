#include <pitsaw/sync/semaphore.hpp>

#include <mutex>

namespace pitsaw::inline v0 {

std::optional<semaphore_permits> semaphore::try_acquire(std::size_t const count) noexcept {
    std::scoped_lock const held(guard);
    if (!empty() || !take(count)) return std::nullopt;
    return semaphore_permits(*this, count);
}

void semaphore::release(std::size_t const count) noexcept {
    wake_list woken;
    std::scoped_lock const held(guard);
    available_ = available_ + count;
    let_in(woken);
}

std::size_t semaphore::available() const noexcept {
    std::scoped_lock const held(guard);
    return available_;
}

bool semaphore::take(std::size_t const count) noexcept {
    if (available_ < count) return false;
    available_ = available_ - count;
    return true;
}

void semaphore::let_in(wake_list& woken) noexcept {
    while (!empty() && take(static_cast<acquire_awaiter&>(front()).count_)) grant(woken);
}

void acquire_awaiter::withdrawn(queued_waiter& leaving, wake_list& woken) noexcept {
    static_cast<acquire_awaiter&>(leaving).of_.let_in(woken);
}

std::coroutine_handle<> acquire_awaiter::start(promise_header& header) noexcept {
    return wait_unless(header, of_, [this] { return of_.empty() && of_.take(count_); });
}

} // namespace pitsaw::inline v0
