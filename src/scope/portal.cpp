#include <pitsaw/scope/portal.hpp>

namespace pitsaw::inline v0 {

portal task_group::open_portal() { return portal(*this); }

portal::portal(task_group& of) : group_(&of), closing_(std::make_unique<close_message>(of)) {
    of.require_running();
    ++of.pending_;
    ++of.on().foreign;
}

void portal::close() noexcept {
    if (auto* const of = std::exchange(group_, nullptr))
        of->on().post_in_order(closing_.release()->node, resume_as::callback,
                               of->env.level); // behind what was spawned through it
}

void portal::post(portal_message& message) const noexcept {
    group_->on().post_from_any_thread(message.node, resume_as::callback, group_->env.level);
}

void portal::note_failure(task_group& of, std::exception_ptr failure) noexcept {
    of.note_failure(std::move(failure), {}, false);
}

void portal::close_message::run(void* const frame) {
    std::unique_ptr<close_message> const self(
        static_cast<close_message*>(static_cast<portal_message*>(frame)));
    auto& of = self->group;
    --of.on().foreign;
    of.leave().resume();
}

} // namespace pitsaw::inline v0
