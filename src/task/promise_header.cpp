#include <pitsaw/task/promise_header.hpp>

#include <pitsaw/task/at_exit.hpp>

namespace pitsaw::inline v0 {

std::coroutine_handle<> promise_header::unhandled_stopped() noexcept {
    env->executor->post_from_any_thread(*this, resume_as::stopped);
    return std::noop_coroutine();
}

std::coroutine_handle<> promise_header::climb() noexcept {
    for (auto* header = this;; header = header->parent) {
        if (header->cleanups != nullptr) return header->run_cleanups(ending::stopped);
        if (header->edge->root == header) return header->at_boundary(ending::stopped);
    }
}

} // namespace pitsaw::inline v0
