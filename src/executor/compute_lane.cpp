#include <pitsaw/executor/compute_lane.hpp>

#include <utility>

namespace pitsaw::inline v0 {

std::coroutine_handle<> fork_point::all_ended_or_failed(compute_lane& lane) noexcept {
    if (waiting_ == nullptr) {
        root_->ended();
        return std::noop_coroutine();
    }
    waiting_->lane = &lane;
    if (root_->is_stopping()) return lane.postpone(*waiting_); // its turn will find that, and end it
    return lane.transfer(*waiting_);
}

void fork_point::fail(std::exception_ptr what) noexcept {
    if (!has_error_.exchange(true, std::memory_order_relaxed)) error_ = std::move(what);
    fail();
}

std::coroutine_handle<> fork_point::stolen_part_ended(compute_lane& lane) noexcept {
    // acq_rel: the release with whoever finds zero, for what this part has left; the acquire if that is us.
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) return all_ended(lane);
    return std::noop_coroutine();
}

std::coroutine_handle<> fork_point::last_part_ended(compute_lane& lane) noexcept {
    auto const but_stolen = many - steals_;
    if (left_.fetch_sub(but_stolen, std::memory_order_acq_rel) == but_stolen)
        return all_ended(lane); // as above
    return std::noop_coroutine();
}

} // namespace pitsaw::inline v0
