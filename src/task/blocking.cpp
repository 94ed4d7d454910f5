#include <pitsaw/task/blocking.hpp>

#include <pitsaw/base/check.hpp>

namespace pitsaw::inline v0 {

std::coroutine_handle<> blocking_leaf::start(promise_header& header) noexcept {
    auto const& env = *header.env;
    if (env.stop.stop_requested()) return header.stop_here();
    auto& worker = *env.executor;
    if (pool_ == nullptr) pool_ = worker.blocking;
    check(pool_ != nullptr, "blocking without a pool: this executor has none, so name one");
    header_ = &header;
    if (worker.has_virtual_time) {
        deadline = saturating_add(worker.now(), pool_->options().simulated_time);
        worker.timers.arm(*this);
        return header.suspend_at(*this);
    }
    return_.leaf = this;
    ++worker.foreign;
    auto const runs_next = header.suspend_at(*this);
    pool_->submit(*this); // from here on it is the thread's
    return runs_next;
}

void blocking_leaf::asked(waiter& self) noexcept {
    auto& leaf = static_cast<blocking_leaf&>(self);
    auto& worker = *leaf.header_->env->executor;
    if (worker.has_virtual_time) {
        worker.timers.disarm(leaf);
        leaf.header_->stop_here();
    } else if (leaf.pool_->withdraw(leaf)) {
        --worker.foreign;
        leaf.header_->stop_here();
    }
}

void blocking_leaf::time_has_come(timer_node& self) noexcept {
    auto& leaf = static_cast<blocking_leaf&>(self);
    // As on a thread of a pool, where nobody is the current task.
    auto* const worker = exchange_current_executor(nullptr);
    leaf.call_(leaf, leaf.header_->env->stop);
    exchange_current_executor(worker);
    leaf.header_->complete_here();
}

void blocking_leaf::run_on_thread(blocking_job& self) noexcept {
    auto& leaf = static_cast<blocking_leaf&>(self);
    leaf.call_(leaf, leaf.header_->env->stop);
}

void blocking_leaf::ended_on_thread(blocking_job& self, std::error_code const refused) noexcept {
    auto& leaf = static_cast<blocking_leaf&>(self);
    leaf.refused_ = refused;
    auto const& env = *leaf.header_->env;
    env.executor->post_from_any_thread(leaf.return_.node, resume_as::callback, env.level);
}

void blocking_leaf::returned(void* const frame) noexcept {
    auto& leaf = *static_cast<return_frame*>(frame)->leaf;
    --leaf.header_->env->executor->foreign;
    leaf.header_->complete_here();
}

} // namespace pitsaw::inline v0
