#include <pitsaw/task/promise_header.hpp>

#include <pitsaw/task/at_exit.hpp>

namespace pitsaw::inline v0 {

std::coroutine_handle<> promise_header::unhandled_stopped() noexcept {
    env->executor->post_from_any_thread(*this, resume_as::stopped, env->level);
    return std::noop_coroutine();
}

std::coroutine_handle<> give_way(promise_header& to, executor& worker) noexcept {
    return worker.park(to, to.env->level, to.env->is_unconstrained);
}

std::coroutine_handle<> promise_header::climb() noexcept {
    for (auto* header = this;; header = header->parent) {
        if (header->cleanups != nullptr) return header->run_cleanups(ending::stopped);
        if (header->edge->root == header) return header->at_boundary(ending::stopped);
    }
}

} // namespace pitsaw::inline v0
