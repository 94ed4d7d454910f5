#pragma once
#include <pitsaw/task/promise_header.hpp>

#include <coroutine>

namespace pitsaw::inline v0 {

/// A boundary of one child inside a chain: the outer chain's stop slot points here and passes a stop on.
///
/// `as_outcome`, `or_return`, `with`, an asynchronous generator. Lifetime: in the awaiter. Threads: the
/// worker's.
struct inner_boundary : boundary, waiter {
    explicit inner_boundary(on_child_ended ended) noexcept : boundary(ended), waiter(pass_on) {}

    /// Puts this into the outer chain's stop slot.
    void enter(promise_header& outer) noexcept {
        outer_ = &outer;
        outer.edge->waiting = this;
    }

    /// Leaves the outer chain's slot; the outer coroutine goes on.
    [[nodiscard]] std::coroutine_handle<> leave() noexcept {
        outer_->edge->waiting = nullptr;
        return transfer(*outer_);
    }

    /// Leaves the outer chain's slot; the outer coroutine stops too.
    [[nodiscard]] std::coroutine_handle<> leave_stopped() noexcept { return outer_->stop_here(); }

    [[nodiscard]] promise_header& outer() const noexcept { return *outer_; }

    /// The leaf below a stop slot in which boundaries like this one may stand; null: none is suspended.
    [[nodiscard]] static waiter* leaf_below(waiter* in_slot) noexcept {
        while (in_slot != nullptr && in_slot->ask == pass_on)
            in_slot = static_cast<inner_boundary*>(in_slot)->waiting;
        return in_slot;
    }

  private:
    static void pass_on(waiter& self) noexcept { static_cast<inner_boundary&>(self).ask_to_stop(); }

    promise_header* outer_ = nullptr; ///< set at the start
};

/// A hand-made coroutine frame: a leaf that a combinator awaits directly has a header in here and no
/// coroutine. Resuming it means "the leaf is done": the boundary is told, and what it returns runs next.
struct leaf_frame {
    void (*resume)(void*);  ///< where the ABI wants it; not noexcept, or Clang makes no tail call
    void (*destroy)(void*); ///< likewise; nothing to do
    promise_header header;

    leaf_frame() noexcept;
    leaf_frame(leaf_frame&&) = delete;
};
static_assert(sizeof(leaf_frame) == continuation::frame_prefix + sizeof(promise_header));

} // namespace pitsaw::inline v0
