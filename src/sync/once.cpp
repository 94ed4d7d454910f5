#include <pitsaw/sync/once.hpp>

#include <mutex>

namespace pitsaw::inline v0 {

std::coroutine_handle<> once::turn_awaiter::start(promise_header& header) noexcept {
    return wait_unless(header, of_, [this] {
        auto const now = of_.state_.load(std::memory_order_relaxed); // guard is held
        is_mine_ = now == idle;
        if (now == idle) of_.state_.store(running, std::memory_order_relaxed);
        return now != running;
    });
}

void once::finish() noexcept {
    wake_list woken;
    std::scoped_lock const held(guard);
    state_.store(done, std::memory_order_release); // with the acquire in is_done
    grant_all(woken);
}

void once::give_up() noexcept {
    wake_list woken;
    std::scoped_lock const held(guard);
    if (empty()) {
        state_.store(idle, std::memory_order_relaxed); // guard is held
        return;
    }
    static_cast<turn_awaiter&>(front()).is_mine_ = true;
    grant(woken);
}

} // namespace pitsaw::inline v0
