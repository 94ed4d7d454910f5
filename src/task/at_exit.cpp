#include <pitsaw/task/at_exit.hpp>

namespace pitsaw::inline v0 {

std::coroutine_handle<> promise_header::run_cleanups(ending const how) noexcept {
    return cleanups->begin(how);
}

void promise_header::drop_cleanups() noexcept {
    while (auto* const first = cleanups) {
        cleanups = first->next;
        first->handle().destroy();
    }
}

std::coroutine_handle<> cleanup::begin(ending const how) noexcept {
    owner_ending = how;
    return scope.begin(*this, *owner, limit);
}

std::coroutine_handle<> cleanup::finished(boundary&, promise_header& root, ending const how) noexcept {
    auto& self = static_cast<cleanup&>(root);
    self.scope.finish(how, std::move(self.failure));
    auto& owner = *self.owner;
    auto const goes_on = self.owner_ending;
    owner.cleanups = self.next;
    owner.env->executor->current = &owner; // the frame that goes now is nobody's stack any more
    self.handle().destroy();
    return goes_on == ending::stopped ? owner.climb() : owner.ended(goes_on);
}

} // namespace pitsaw::inline v0
