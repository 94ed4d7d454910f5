#include <pitsaw/stop/inplace_stop_token.hpp>

// The table of the protocol stands in the header, beside the fields. The structure follows that of
// unifex::inplace_stop_source (facebookexperimental/libunifex), but what runs is named in the source rather
// than in the callback, so that nothing of a callback is touched once it has been called.

namespace pitsaw::inline v0 {

auto inplace_stop_source::request_stop(stop_reason why) noexcept -> bool {
    check(why != stop_reason::none, "a stop has a reason: pass one that is not none");
    state const before = lock();
    if (before >> reason_shift != 0) {
        unlock(before);
        return false;
    }
    // The reason is published by the unlock below, which comes in any case.
    state const requested = before | static_cast<state>(why) << reason_shift;
    auto const self = detail::this_thread_id();
    while (detail::stop_callback_base* const callback = first_) {
        first_ = callback->next_;
        if (first_ != nullptr) first_->link_ = &first_;
        callback->link_ = nullptr;
        callback->runner_ = self;
        // Release, with the acquires in remove: who waits there for an earlier callback to end may find this
        // one in its place, and has to see what the earlier one did.
        running_.store(callback, std::memory_order_release);
        unlock(requested);
        callback->run_(*callback);
        // `callback` is gone if it destroyed itself: remove has left a mark then. Otherwise it needs this
        // source no more, which may end first. Release, with the acquires in detach and remove: what it did.
        if (running_.load(std::memory_order_relaxed) == callback)
            callback->source_.store(nullptr, std::memory_order_release);
        running_.store(nullptr, std::memory_order_release);
        running_.notify_all();
        lock();
    }
    unlock(requested);
    return true;
}

auto inplace_stop_source::try_add(detail::stop_callback_base& added) noexcept -> bool {
    state const current = lock();
    bool const may_wait = current >> reason_shift == 0;
    if (may_wait) {
        added.next_ = first_;
        added.link_ = &first_;
        if (first_ != nullptr) first_->link_ = &added.next_;
        first_ = &added;
    }
    unlock(current);
    return may_wait;
}

void inplace_stop_source::remove(detail::stop_callback_base& leaving) noexcept {
    state const current = lock();
    if (leaving.link_ != nullptr) {
        *leaving.link_ = leaving.next_;
        if (leaving.next_ != nullptr) leaving.next_->link_ = leaving.link_;
        unlock(current);
        return;
    }
    // Acquire, with the release after a callback in request_stop: if it has run, all that it did is seen
    // here.
    bool const is_running = running_.load(std::memory_order_acquire) == &leaving;
    bool const is_self = is_running && leaving.runner_ == detail::this_thread_id();
    // Release: as in request_stop, for who waits for an earlier callback and finds the mark.
    if (is_self) running_.store(destroyed_itself(), std::memory_order_release);
    unlock(current);
    // No deadline: the memory that the callback uses goes when this returns. Acquire: as above.
    if (is_running && !is_self) running_.wait(&leaving, std::memory_order_acquire);
}

void inplace_stop_source::release_each() noexcept {
    state const current = lock();
    detail::stop_callback_base* callback = first_;
    first_ = nullptr;
    while (callback != nullptr) {
        detail::stop_callback_base* const next = callback->next_;
        callback->link_ = nullptr;
        callback->source_.store(nullptr,
                                std::memory_order_relaxed); // its owner runs after us, on this thread
        callback = next;
    }
    unlock(current);
}

// What stands in running_ for a callback that has destroyed itself: no callback has this address.
auto inplace_stop_source::destroyed_itself() noexcept -> detail::stop_callback_base* {
    return reinterpret_cast<detail::stop_callback_base*>(this);
}

// Held for a few instructions, never while a callback runs; a holder that is preempted is what the pause is
// for.
auto inplace_stop_source::lock() noexcept -> state {
    for (unsigned attempts = 0;; ++attempts) {
        // Relaxed: only a guess for the exchange.
        state current = state_.load(std::memory_order_relaxed);
        // Acquire, with the release in unlock: the list and the links. Relaxed on failure: nothing was read.
        if ((current & locked) == 0 &&
            state_.compare_exchange_weak(current, current | locked, std::memory_order_acquire,
                                         std::memory_order_relaxed)) {
            return current;
        }
        detail::pause_thread(attempts);
    }
}

// While locked nobody else changes the state, so a store will do. Release, with the acquire in lock, for the
// list; and with the acquire in reason, for what preceded the request.
void inplace_stop_source::unlock(state current) noexcept { state_.store(current, std::memory_order_release); }

} // namespace pitsaw::inline v0
