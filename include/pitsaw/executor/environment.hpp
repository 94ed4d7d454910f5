#pragma once
#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/stop/inplace_stop_token.hpp>

#include <memory_resource>

namespace pitsaw::inline v0 {

/// What a coroutine inherits from the scope it runs in: where it runs, when it should stop, where scopes take
/// memory from, and one pointer of the user's.
///
/// ```cpp
/// ps::environment const& here = co_await ps::this_task::get_environment();
/// if (here.stop.stop_requested()) ...      // seldom needed: every leaf looks by itself
/// ```
/// Lifetime: owned by a scope's awaiter and immutable; children point to it, nothing is counted. Threads:
/// read by any child, written before the first one starts. Size: 32 bytes.
struct environment {
    executor_ref executor;
    inplace_stop_token stop;
    std::pmr::memory_resource* memory = nullptr; ///< for scopes' nodes; null: the frame recycler
    void* local = nullptr;                       ///< the user's, inherited
};
static_assert(sizeof(environment) == 32);

} // namespace pitsaw::inline v0
