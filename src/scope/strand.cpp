#include <pitsaw/scope/strand.hpp>

#include <pitsaw/base/check.hpp>

namespace pitsaw::inline v0 {

strand::~strand() { check(!is_taken_, "a strand was destroyed while a task runs on it"); }

void strand::leave() noexcept {
    auto* const next = waiting_.pop_front();
    if (next == nullptr)
        is_taken_ = false;
    else
        next->header_->complete_here(); // the turn is its own from here on
}

std::coroutine_handle<> strand_turn::start(promise_header& header) noexcept {
    if (header.env->stop.stop_requested()) return header.stop_here();
    if (!of_.is_taken_) {
        of_.is_taken_ = true;
        return transfer(header);
    }
    header_ = &header;
    of_.waiting_.push_back(*this);
    return header.suspend_at(*this);
}

void strand_turn::withdrawn(waiter& self) noexcept {
    auto& turn = static_cast<strand_turn&>(self);
    intrusive_list<strand_turn>::unlink(turn);
    turn.header_->stop_here();
}

} // namespace pitsaw::inline v0
