#include <pitsaw/scope/away_chain.hpp>

#include <pitsaw/base/check.hpp>

namespace pitsaw::inline v0 {

away_chain::away_chain() noexcept : waiter(asked), stop_(stop_arrived, this) {}

void away_chain::depart(executor& to, environment const& of, promise_header& by) noexcept {
    home_ = &*of.executor;
    check(to.workers.data() == home_->workers.data(),
          "an executor of another runtime was given: only its own tasks and a portal reach it");
    above_ = &by;
    env_ = of;
    env_.executor = to;
    env_.memory = nullptr;
    ++home_->foreign;
    traveller_.resume = arrives;
    to.post_from_any_thread(traveller_.node, resume_as::callback);
}

void away_chain::arrives(void* const where) {
    auto& self = static_cast<traveller*>(where)->self;
    auto* const root = self.make();
    if (root == nullptr) {
        self.how_ = ending::exception;
        self.clear(nullptr);
        return self.leave();
    }
    root->begin_chain(self.chain_, self.env_, self.above_);
    transfer(*root).resume();
}

std::coroutine_handle<> away_chain::ended(boundary& edge, promise_header& root, ending const how) noexcept {
    auto& self = static_cast<chain&>(edge).self;
    self.env_.executor->current = nullptr; // the frames that go next are nobody's stack any more
    self.how_ = how;
    self.clear(&root);
    self.leave();
    return std::noop_coroutine();
}

void away_chain::leave() noexcept {
    if (stop_.close()) return go_home();
    ++env_.executor->foreign; // the stop that is on its way here comes home with the end
}

void away_chain::go_home() noexcept {
    traveller_.resume = comes_home;
    home_->post_from_any_thread(traveller_.node, resume_as::callback);
}

void away_chain::comes_home(void* const where) {
    auto& self = static_cast<traveller*>(where)->self;
    --self.home_->foreign;
    self.returned(self.how_).resume();
}

void away_chain::asked(waiter& self) noexcept {
    auto& away = static_cast<away_chain&>(self);
    if (away.stop_.begin()) away.stop_.send(*away.env_.executor);
}

void away_chain::stop_arrived(void* const self, bool const is_closed) noexcept {
    auto& away = *static_cast<away_chain*>(self);
    if (!is_closed) return away.chain_.ask_to_stop();
    --away.env_.executor->foreign;
    away.go_home();
}

} // namespace pitsaw::inline v0
