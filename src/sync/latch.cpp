#include <pitsaw/sync/latch.hpp>

#include <mutex>

namespace pitsaw::inline v0 {

void latch::take_off(std::uint32_t const by, wake_list& woken) noexcept {
    check(by <= left_, "a latch is counted down below zero: it expects as many as its constructor says");
    left_ = left_ - by;
    if (left_ == 0) grant_all(woken);
}

void latch::count_down(std::uint32_t const by) noexcept {
    wake_list woken;
    std::scoped_lock const held(guard);
    take_off(by, woken);
}

bool latch::try_wait() const noexcept {
    std::scoped_lock const held(guard);
    return left_ == 0;
}

std::coroutine_handle<> latch::wait_awaiter::start(promise_header& header) noexcept {
    if (header.env->stop.stop_requested()) {
        of_.count_down(by_);
        return header.stop_here();
    }
    wake_list woken;
    return take_or_wait(header, of_, [&] {
        of_.take_off(by_, woken);
        return of_.left_ == 0;
    });
}

} // namespace pitsaw::inline v0
