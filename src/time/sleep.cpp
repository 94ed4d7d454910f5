#include <pitsaw/time/sleep.hpp>

namespace pitsaw::inline v0 {

std::coroutine_handle<> sleep_awaiter::start(promise_header& header) noexcept {
    auto& env = *header.env;
    if (env.stop.stop_requested()) return header.stop_here();
    auto& worker = *env.executor;
    bool const is_until_a_moment = span_ == until_a_moment;
    if (!is_until_a_moment && span_ <= duration::zero()) return transfer(header); // whatever the time is
    auto const now = worker.now();
    if (!is_until_a_moment) deadline = saturating_add(now, span_);
    if (deadline <= now) return transfer(header);
    header_ = &header;
    worker.timers.arm(*this);
    return header.suspend_at(*this);
}

void sleep_awaiter::withdrawn(waiter& self) noexcept {
    auto& sleep = static_cast<sleep_awaiter&>(self);
    auto& header = *sleep.header_;
    header.env->executor->timers.disarm(sleep);
    header.stop_here();
}

void sleep_awaiter::expired(timer_node& self) noexcept {
    static_cast<sleep_awaiter&>(self).header_->complete_here();
}

} // namespace pitsaw::inline v0
