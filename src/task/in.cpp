#include <pitsaw/task/in.hpp>

namespace pitsaw::inline v0 {

void foreign_root::begin(promise_header& first, std::coroutine_handle<> const foreign) noexcept {
    foreign_ = foreign;
    callback_.emplace(env_.stop, on_stop{this});
    env_.executor->post_from_any_thread(first, resume_as::callback, env_.level);
}

std::coroutine_handle<> foreign_root::end() noexcept {
    callback_.reset();
    env_.executor->current = nullptr;
    if (stop_from_afar_.close()) return foreign_;
    ++env_.executor->foreign;
    return std::noop_coroutine();
}

void foreign_root::ask_from_any_thread() noexcept {
    auto& worker = *env_.executor;
    if (current_executor() == &worker)
        ask_to_stop();
    else if (stop_from_afar_.begin())
        stop_from_afar_.send(worker);
}

void foreign_root::stop_arrived(void* const self, bool const is_closed) noexcept {
    auto& root = *static_cast<foreign_root*>(self);
    if (!is_closed) return root.ask_to_stop();
    --root.env_.executor->foreign;
    root.foreign_.resume();
}

} // namespace pitsaw::inline v0
