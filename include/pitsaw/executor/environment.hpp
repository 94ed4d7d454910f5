#pragma once
#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/stop/inplace_stop_token.hpp>

#include <memory_resource>
#include <string>

namespace pitsaw::inline v0 {

/// What a coroutine inherits from the scope it runs in: where it runs, when it should stop, where scopes take
/// memory from, one pointer of the user's, its name and its priority.
///
/// ```cpp
/// ps::environment const& here = co_await ps::this_task::get_environment();
/// if (here.stop.stop_requested()) ...      // seldom needed: every leaf looks by itself
/// ```
/// Lifetime: owned by a scope's awaiter and immutable; children point to it, nothing is counted. Threads:
/// read by any child, written before the first one starts. Size: 48 bytes.
struct environment {
    executor_ref executor;
    inplace_stop_token stop;
    std::pmr::memory_resource* memory = nullptr; ///< for scopes' nodes; null: the frame recycler
    void* local = nullptr;                       ///< the user's, inherited
    std::string const* name = nullptr;           ///< `with_name`; null: none
    priority level = priority::normal;           ///< `with_priority`: the ready queue that its tasks wait in
    bool is_unconstrained = false;               ///< `this_task::unconstrained`
};
static_assert(sizeof(environment) == 48);

} // namespace pitsaw::inline v0
