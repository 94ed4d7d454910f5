#include <pitsaw/scope/fan_scope.hpp>

namespace pitsaw::inline v0 {

void fan_scope::begin(promise_header& header, std::span<fan_branch> const branches) noexcept {
    open(header);
    branches_ = branches;
    for (auto& branch : branches_) {
        branch.owner = this;
        branch.is_race = !delivers_undecided_;
    }
    pending_ = static_cast<std::uint32_t>(branches_.size()) + 1;
}

std::coroutine_handle<> fan_scope::branch_ended(fan_branch& branch, ending const how, bool const decides,
                                                stop_reason const why) noexcept {
    any_stopped_ |= how == ending::stopped;
    if (decides && decided_by_ == nobody) {
        decided_by_ = static_cast<std::uint32_t>(&branch - branches_.data());
        stop_branches(why);
    } else if (how == ending::stopped && delivers_undecided_ && !source.stop_requested()) {
        stop_branches(stop_reason::sibling_failed); // nobody asked, and nothing can be delivered any more
    }
    return leave();
}

std::coroutine_handle<> fan_scope::leave() noexcept {
    if (--pending_ != 0) return std::noop_coroutine();
    bool const delivers = decided_by_ != nobody || (delivers_undecided_ && !any_stopped_);
    return delivers ? close() : close_stopped();
}

void fan_scope::stop_branches(stop_reason const why) noexcept {
    source.request_stop(why);
    // Asking ends nobody at once, so the branches stay where they are.
    for (auto& branch : branches_) branch.ask_to_stop();
}

void fan_scope::asked(waiter& self) noexcept {
    auto& fan = static_cast<fan_scope&>(self);
    fan.stop_branches(fan.outer->env->stop.reason());
}

} // namespace pitsaw::inline v0
