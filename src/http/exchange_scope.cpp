#include "http/exchange_scope.hpp"

#include <pitsaw/io/driver.hpp>
#include <pitsaw/io/event.hpp>
#include <pitsaw/io/result.hpp>

#include <algorithm>
#include <system_error>

namespace pitsaw::inline v0::http {

std::coroutine_handle<> exchange_scope::start(promise_header& header) noexcept {
    outer = &header;
    env = *header.env;
    env.stop = source.get_token(); // what stops the connection does not stop the exchange yet
    header.edge->waiting = this;
    auto const now = on().now();
    watch_at_ = deadline = saturating_add(now, limits_.watch_after);
    if (header.env->stop.stop_requested())
        drain_until(saturating_add(now, limits_.drain_timeout));
    else
        on().timers.arm(*this);
    return child_.start(*this, env, header);
}

std::optional<next_step> exchange_scope::await_resume() {
    if (how_ == ending::stopped) return std::nullopt;
    return child_.result().take();
}

void exchange_scope::drain_until(time_point const at) noexcept {
    is_draining_ = true;
    drain_at_ = at;
    on().timers.disarm(*this);
    deadline = has_watched_ ? drain_at_ : std::min(watch_at_, drain_at_);
    on().timers.arm(*this);
}

void exchange_scope::stop(stop_reason const why) noexcept {
    source.request_stop(why);
    ask_to_stop();
}

void exchange_scope::asked(waiter& self) noexcept {
    auto& scope = static_cast<exchange_scope&>(static_cast<stop_scope&>(self));
    if (scope.has_ended_) return;
    if (scope.is_draining_) return scope.stop(stop_reason::shutdown); // asked again: nobody waits any more
    scope.drain_until(saturating_add(scope.on().now(), scope.limits_.drain_timeout));
}

void exchange_scope::expired(timer_node& self) noexcept {
    auto& scope = static_cast<exchange_scope&>(self);
    auto const due = scope.deadline;
    if (due >= scope.watch_at_ && !scope.has_watched_) {
        scope.has_watched_ = scope.is_watching_ = true;
        ++scope.on().operations;
        scope.on().io->submit(scope.watch_);
    }
    if (due >= scope.drain_at_) return scope.stop(stop_reason::shutdown);
    if (scope.drain_at_ == never) return;
    scope.deadline = scope.drain_at_;
    scope.on().timers.arm(scope);
}

void exchange_scope::seen(operation& op, event const& done) noexcept {
    auto& scope = static_cast<watch_operation&>(op).scope;
    scope.is_watching_ = false;
    --scope.on().operations;
    if (scope.has_ended_) {
        if (scope.is_delivered())
            scope.outer->complete_here();
        else
            scope.outer->stop_here();
        return;
    }
    bool const is_cancelled = done.result < 0 && to_error(done.result) == std::errc::operation_canceled;
    if (is_cancelled) return; // somebody closed the connection, who knows about it
    scope.is_peer_gone_ = true;
    scope.stop(stop_reason::peer_gone);
}

std::coroutine_handle<> exchange_scope::ended(boundary& edge, promise_header&, ending const how) noexcept {
    auto& self = static_cast<exchange_scope&>(edge);
    self.how_ = how;
    self.has_ended_ = true;
    self.on().timers.disarm(self);
    if (self.is_watching_) {
        self.on().io->cancel(self.watch_);
        return std::noop_coroutine();
    }
    return self.is_delivered() ? self.close() : self.close_stopped();
}

} // namespace pitsaw::inline v0::http
