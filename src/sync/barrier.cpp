#include <pitsaw/sync/barrier.hpp>

#include <mutex>

namespace pitsaw::inline v0 {

barrier::barrier(std::uint32_t const expected) noexcept : expected_(expected), left_(expected) {
    check(expected != 0, "a barrier expects at least one");
}

bool barrier::arrive(wake_list& woken) noexcept {
    check(left_ != 0, "more tasks arrive at a barrier than it expects");
    left_ = left_ - 1;
    if (left_ != 0) return false;
    left_ = static_cast<std::uint32_t>(expected_);
    grant_all(woken);
    return true;
}

void barrier::arrive_and_drop() noexcept {
    wake_list woken;
    std::scoped_lock const held(guard);
    check(left_ != 0, "more tasks arrive at a barrier than it expects");
    expected_ = expected_ - 1;
    (void)arrive(woken);
}

// Who gives up had arrived, and is not expected in the next phase.
void barrier::wait_awaiter::withdrawn(queued_waiter& leaving, wake_list&) noexcept {
    auto& left = static_cast<wait_awaiter&>(leaving).of_;
    left.expected_ = left.expected_ - 1;
}

std::coroutine_handle<> barrier::wait_awaiter::start(promise_header& header) noexcept {
    if (header.env->stop.stop_requested()) {
        of_.arrive_and_drop();
        return header.stop_here();
    }
    wake_list woken;
    return take_or_wait(header, of_, [&] { return of_.arrive(woken); });
}

} // namespace pitsaw::inline v0
