#pragma once
#include <pitsaw/stop/inplace_stop_token.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <coroutine>

namespace pitsaw::inline v0 {

/// A scope that can stop its children by itself: its own stop source and environment, and its place in the
/// outer chain's stop slot.
///
/// Lifetime: in the scope's awaiter. Threads: the worker's.
struct stop_scope : waiter {
    explicit stop_scope(void (*asked)(waiter&) noexcept) noexcept : waiter(asked) {}

    // The frames of the children may outlive the scope, to the end of the full-expression, with callbacks in
    // them.
    ~stop_scope() { source.release_callbacks(); }

    /// Takes over `header`'s environment with a stop source of its own, stopped if the outer one is.
    void open(promise_header& header) noexcept {
        outer = &header;
        env = *header.env;
        if (auto const& above = header.env->stop; above.stop_requested()) [[unlikely]]
            source.request_stop(above.reason());
        env.stop = source.get_token();
        header.edge->waiting = this;
    }

    /// The scope has ended; the outer coroutine goes on.
    [[nodiscard]] std::coroutine_handle<> close() noexcept {
        outer->edge->waiting = nullptr;
        return transfer(*outer);
    }

    /// The scope has ended; the outer coroutine stops.
    [[nodiscard]] std::coroutine_handle<> close_stopped() noexcept { return outer->stop_here(); }

    [[nodiscard]] executor& on() const noexcept { return *env.executor; }

    inplace_stop_source source;
    environment env;                 ///< the children's
    promise_header* outer = nullptr; ///< who waits for the scope
};

} // namespace pitsaw::inline v0
