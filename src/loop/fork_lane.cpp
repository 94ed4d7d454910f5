#include "loop/fork_lane.hpp"

#include "loop/stealing.hpp"

#include <pitsaw/base/check.hpp>

#include <algorithm>
#include <utility>

namespace pitsaw::inline v0 {

void fork_lane::share(stealing& with) noexcept {
    shared_ = &with;
    room_ = size_max;
}

void fork_lane::opened() noexcept { shared_->wake_one(); }

void fork_lane::begin(compute_root& computation) noexcept {
    if (!is_running()) return go_on_with(computation.entrance());
    waiting_.push(computation);
    if (shared_ != nullptr) shared_->wake_one();
}

void fork_lane::go_on_with(fork_point& at) noexcept {
    debug_check(!is_running(), "a lane runs one part of a computation at a time");
    root_ = &at.root();
    stolen_ = &at;
    worker_.ready.push(turn_.node, resume_as::callback, root_->level());
}

void fork_lane::turn(void* const frame) { static_cast<turn_frame*>(frame)->lane->take_turn(); }

void fork_lane::take_turn() {
    ++turns_;
    hops_left_ = hops_;
    auto const level = root_->level(); // what has ended here may be ended as a whole, elsewhere
    do {
        next_of_turn().resume();
    } while (next_ != nullptr && hops_left_ > 0);
    if (next_ != nullptr) {
        worker_.ready.push(turn_.node, resume_as::callback, level);
        (void)worker_.hops.spend(budget::hops_max); // the loop looks at the clock
        return;
    }
    root_ = nullptr;
    if (auto* const waiting = take_waiting()) go_on_with(waiting->entrance());
}

std::coroutine_handle<> fork_lane::next_of_turn() noexcept {
    if (auto* const at = std::exchange(stolen_, nullptr)) {
        if (root_->is_stopping()) at->fail();
        return at->go_on(*this);
    }
    auto& next = *std::exchange(next_, nullptr);
    if (!root_->is_stopping()) [[likely]]
        return next.handle();
    // It does not go on, nor does what waits for it.
    auto& waits_for_it = *next.at;
    bool const was_open = next.is_open;
    next.handle().destroy();
    waits_for_it.fail();
    --hops_left_;
    return waits_for_it.child_ended(*this, was_open);
}

void fork_lane::polled(duration const since) noexcept {
    if (turns_ == 0) return;
    auto const each = since / turns_;
    turns_ = 0;
    if (each > turn_max)
        hops_ = std::max(hops_ / 2, 2);
    else if (each < turn_min)
        hops_ = std::min(hops_ * 2, hops_max);
}

} // namespace pitsaw::inline v0
