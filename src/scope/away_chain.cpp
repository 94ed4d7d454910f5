#include <pitsaw/scope/away_chain.hpp>

#include <pitsaw/base/check.hpp>

namespace pitsaw::inline v0 {

away_chain::away_chain() noexcept : waiter(asked), stop_(stop_arrived, this) {}

void away_chain::take_leave(environment const& of, promise_header& by) noexcept {
    home_ = &*of.executor;
    above_ = &by;
    env_ = of;
    env_.memory = nullptr;
    ++home_->away;
    traveller_.resume = arrives;
}

void away_chain::depart(executor& to, environment const& of, promise_header& by) noexcept {
    take_leave(of, by);
    check(to.workers.data() == home_->workers.data(),
          "an executor of another runtime was given: only its own tasks and a portal reach it");
    env_.executor = to;
    place_.store(reinterpret_cast<std::uintptr_t>(&to), std::memory_order_relaxed); // home alone reads it
    to.post_from_any_thread(traveller_.node, resume_as::callback, env_.level);
}

void away_chain::depart_anywhere(environment const& of, promise_header& by) noexcept {
    take_leave(of, by);
    env_.executor = {};
    home_->offer(traveller_.node);
}

void away_chain::arrives(void* const where) { static_cast<traveller*>(where)->self.arrive(); }

void away_chain::arrive() noexcept {
    if (!env_.executor) {
        auto& here = *current_executor();
        env_.executor = here;
        // acquire: pairs with asked(); the bit of the stop's source, where a stop was first.
        place_.fetch_or(reinterpret_cast<std::uintptr_t>(&here), std::memory_order_acquire);
    }
    if (is_at_home()) --home_->away;
    auto* const root = make();
    if (root != nullptr) {
        root->begin_chain(chain_, env_, above_);
        return transfer(*root).resume();
    }
    how_ = ending::exception;
    clear(nullptr);
    leave().resume();
}

std::coroutine_handle<> away_chain::ended(boundary& edge, promise_header& root, ending const how) noexcept {
    auto& self = static_cast<chain&>(edge).self;
    self.env_.executor->current = nullptr; // the frames that go next are nobody's stack any more
    self.how_ = how;
    self.clear(&root);
    return self.leave();
}

std::coroutine_handle<> away_chain::leave() noexcept {
    if (is_at_home()) return returned(how_);
    if (stop_.close())
        go_home();
    else
        ++env_.executor->away; // the stop that is on its way here comes home with the end
    return std::noop_coroutine();
}

void away_chain::go_home() noexcept {
    traveller_.resume = comes_home;
    home_->post_from_any_thread(traveller_.node, resume_as::callback, env_.level);
}

void away_chain::comes_home(void* const where) {
    auto& self = static_cast<traveller*>(where)->self;
    --self.home_->away;
    self.returned(self.how_).resume();
}

void away_chain::asked(waiter& waiting) noexcept {
    auto& self = static_cast<away_chain&>(waiting);
    // release: pairs with arrive().
    auto const place = self.place_.fetch_or(asked_for, std::memory_order_release) & ~asked_for;
    auto* const there = reinterpret_cast<executor*>(place);
    if (there == nullptr) return; // who takes it sees it
    if (there == self.home_) return self.chain_.ask_to_stop();
    if (self.stop_.begin()) self.stop_.send(*there);
}

void away_chain::stop_arrived(void* const self, bool const is_closed) noexcept {
    auto& away = *static_cast<away_chain*>(self);
    if (!is_closed) return away.chain_.ask_to_stop();
    --away.env_.executor->away;
    away.go_home();
}

} // namespace pitsaw::inline v0
