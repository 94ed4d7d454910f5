#include <pitsaw/sync/wait_queue.hpp>

#include <mutex>

namespace pitsaw::inline v0 {

void queued_waiter::resume() noexcept {
    auto& worker = *header_->env->executor;
    if (current_executor() == &worker)
        header_->complete_here();
    else
        worker.post_in_order(*header_, resume_as::completed, header_->env->level);
}

void queued_waiter::asked(waiter& self) noexcept {
    auto& leaving = static_cast<queued_waiter&>(self);
    wake_list woken;
    {
        std::scoped_lock const held(leaving.lock_.guard);
        if (!leaving.is_waiting_) return; // it has been granted, and delivers
        leaving.is_waiting_ = false;
        intrusive_list<queued_waiter>::unlink(leaving);
        if (leaving.after_withdrawal_ != nullptr) leaving.after_withdrawal_(leaving, woken);
    }
    leaving.header_->stop_here();
}

} // namespace pitsaw::inline v0
