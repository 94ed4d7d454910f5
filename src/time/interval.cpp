#include <pitsaw/time/interval.hpp>

namespace pitsaw::inline v0 {

std::coroutine_handle<> interval::tick_awaiter::start(promise_header& header) noexcept {
    check(of_.awaited_ == nullptr, "interval::tick() while another tick of it is awaited");
    of_.awaited_ = this;
    if (!of_.has_begun_) {
        of_.has_begun_ = true;
        of_.next_ = saturating_add(header.env->executor->now(), of_.period_);
    }
    header_ = &header;
    set_moment(of_.next_);
    return sleep_awaiter::start(header);
}

time_point interval::tick_awaiter::await_resume() const noexcept {
    of_.awaited_ = nullptr;
    return of_.deliver(header_->env->executor->now());
}

time_point interval::deliver(time_point const now) noexcept {
    auto const due = next_;
    switch (policy_) {
    case missed_ticks::burst:
        next_ = saturating_add(due, period_);
        break;
    case missed_ticks::delay:
        next_ = saturating_add(now, period_);
        break;
    case missed_ticks::skip: {
        auto const periods_passed = saturating_difference(now, due).count() / period_.count();
        auto const to_last = static_cast<wide_integer>(periods_passed) * period_.count();
        next_ = saturating_add(saturating_add(due, duration(static_cast<std::int64_t>(to_last))), period_);
        break;
    }
    }
    return due;
}

} // namespace pitsaw::inline v0
