#include <pitsaw/task/foreign_awaitable.hpp>

namespace pitsaw::inline v0 {

namespace {

foreign_return& of_frame(void* const frame) noexcept { return *static_cast<foreign_return*>(frame); }

// Second resume, by our worker.
void go_on(void* const frame) noexcept {
    auto& self = of_frame(frame);
    self.expect_no_more();
    auto const& env = *self.header->env;
    env.executor->ready.push(*self.header, self.proxy.is_stopped ? resume_as::stopped : resume_as::coroutine,
                             env.level);
}

// First resume, by whichever thread completed the foreign side. After the post the frame is our worker's
// again.
void hand_over(void* const frame) noexcept {
    auto& self = of_frame(frame);
    self.resume = go_on;
    auto const& env = *self.header->env;
    env.executor->post_from_any_thread(self.proxy, resume_as::callback, env.level);
}

void nothing_to_undo(void*) noexcept {}

} // namespace

foreign_return::foreign_return() noexcept : resume(hand_over), destroy(nothing_to_undo) {}

std::coroutine_handle<> foreign_return::promise::unhandled_stopped() noexcept {
    is_stopped = true;
    hand_over(handle().address());
    return std::noop_coroutine();
}

} // namespace pitsaw::inline v0
