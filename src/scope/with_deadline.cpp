#include <pitsaw/scope/with_deadline.hpp>

namespace pitsaw::inline v0 {

void deadline_scope::open_and_arm(promise_header& header) noexcept {
    open(header);
    auto const now = on().now();
    if (span != duration::min()) deadline = saturating_add(now, span);
    if (deadline <= now)
        has_expired = source.request_stop(stop_reason::timeout); // nobody to ask yet
    else
        on().timers.arm(*this);
}

std::coroutine_handle<> deadline_scope::finish(ending const how) noexcept {
    on().timers.disarm(*this);
    is_timed_out = how == ending::stopped && has_expired;
    return how == ending::stopped && !is_timed_out ? close_stopped() : close();
}

void deadline_scope::asked(waiter& self) noexcept {
    auto& scope = static_cast<deadline_scope&>(static_cast<stop_scope&>(self));
    scope.source.request_stop(scope.outer->env->stop.reason());
    scope.ask_to_stop();
}

void deadline_scope::expired(timer_node& self) noexcept {
    auto& scope = static_cast<deadline_scope&>(self);
    scope.has_expired = scope.source.request_stop(stop_reason::timeout);
    scope.ask_to_stop();
}

} // namespace pitsaw::inline v0
