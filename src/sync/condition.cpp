#include <pitsaw/sync/condition.hpp>

#include <mutex>
#include <utility>

namespace pitsaw::inline v0 {

std::coroutine_handle<> condition::wait_awaiter::start(promise_header& header) noexcept {
    check(std::exchange(held_.of_, nullptr) == &of_.mutex_,
          "a condition is awaited with its own mutex held: lock that first");
    bool const is_stopped = header.env->stop.stop_requested();
    if (is_stopped) {
        of_.mutex_.unlock();
        return header.stop_here();
    }
    wake_list woken;
    return take_or_wait(header, of_.waiting_, [&] {
        of_.mutex_.hand_over(woken);
        return false;
    });
}

// Its notification is the next one's. With the mutex it had not been granted anything.
void condition::wait_awaiter::withdrawn(queued_waiter& leaving, wake_list& woken) noexcept {
    auto& left = static_cast<wait_awaiter&>(leaving);
    if (left.is_notified_) left.of_.notify_first(woken);
}

void condition::notify_first(wake_list& woken) noexcept {
    if (waiting_.empty()) return;
    static_cast<wait_awaiter&>(waiting_.front()).is_notified_ = true;
    if (mutex_.take())
        waiting_.grant(woken);
    else
        waiting_.pass_on(mutex_);
}

void condition::notify_one() noexcept {
    wake_list woken;
    std::scoped_lock const held(mutex_.guard);
    notify_first(woken);
}

void condition::notify_all() noexcept {
    wake_list woken;
    std::scoped_lock const held(mutex_.guard);
    while (!waiting_.empty()) notify_first(woken);
}

} // namespace pitsaw::inline v0
