#include <pitsaw/compute/compute.hpp>

#include <pitsaw/base/check.hpp>

namespace pitsaw::inline v0 {

std::coroutine_handle<> compute_leaf::start(promise_header& header) noexcept {
    auto const& env = *header.env;
    if (env.stop.stop_requested()) return header.stop_here();
    auto& home = *env.executor;
    check(home.computes != nullptr, "compute on an executor that is no worker of a runtime");
    header_ = &header;
    set_entrance(*this, env.level);
    enter(*this);
    ++home.foreign;
    auto const runs_next = header.suspend_at(*this);
    home.computes->begin(*this);
    return runs_next;
}

void compute_leaf::asked(waiter& self) noexcept {
    auto& leaf = static_cast<compute_leaf&>(self);
    leaf.ask_to_stop();
    auto& home = *leaf.header_->env->executor;
    if (!home.computes->withdraw(leaf)) return; // its parts will find out
    --home.foreign;
    leaf.header_->stop_here();
}

void compute_leaf::ended() noexcept {
    auto const& env = *header_->env;
    env.executor->post_from_any_thread(return_.node, resume_as::callback, env.level);
}

void compute_leaf::returned(void* const frame) noexcept {
    auto& leaf = *static_cast<return_frame*>(frame)->leaf;
    --leaf.header_->env->executor->foreign;
    if (leaf.is_failing() && leaf.failure() == nullptr)
        leaf.header_->stop_here();
    else
        leaf.header_->complete_here();
}

} // namespace pitsaw::inline v0
