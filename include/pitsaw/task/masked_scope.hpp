#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/executor/timer_node.hpp>
#include <pitsaw/stop/inplace_stop_token.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <coroutine>

namespace pitsaw::inline v0 {

/// How long a clean-up may take unless it says otherwise.
inline constexpr duration cleanup_time_max = std::chrono::seconds(5);

/// Runs one chain with the outer stop masked and a deadline of its own: the scope of every clean-up.
///
/// At the deadline the chain is stopped with reason `timeout`. Lifetime: immovable, lives until the chain has
/// ended. Threads: the worker's.
struct masked_scope : boundary, timer_node {
    explicit masked_scope(on_child_ended ended) noexcept : boundary(ended), timer_node(expired) {}

    /// Begins `root` for `by`; returns what runs next.
    [[nodiscard]] std::coroutine_handle<> begin(promise_header& root, promise_header& by,
                                                duration limit) noexcept;

    /// The chain has ended with `how` and `failure`; what went wrong goes to `on_lost_error`, for a clean-up
    /// changes nobody's ending.
    void finish(ending how, std::exception_ptr failure) noexcept;

  private:
    static void expired(timer_node& self) noexcept;

    inplace_stop_source source_;
    environment masked_;
};

} // namespace pitsaw::inline v0
