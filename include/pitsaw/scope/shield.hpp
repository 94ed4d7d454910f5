#pragma once
#include <pitsaw/task/child.hpp>

#include <coroutine>
#include <type_traits>

namespace pitsaw::inline v0 {

template <class A> class [[nodiscard]] shield_awaiter : boundary {
  public:
    explicit shield_awaiter(A& awaited) : boundary(ended), child_(awaited) {}

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        if (header.env->stop.stop_requested()) return header.stop_here();
        outer_ = &header;
        masked_ = *header.env;
        masked_.stop = {};
        return child_.start(*this, masked_, header);
    }

    decltype(auto) await_resume() { return child_.result().take(); }

  private:
    static std::coroutine_handle<> ended(boundary& edge, promise_header&, ending const how) noexcept {
        auto& self = static_cast<shield_awaiter&>(edge);
        if (how == ending::stopped) return self.outer_->stop_here();
        if (how == ending::value) self.child_.collect();
        return transfer(*self.outer_);
    }

    child<A> child_;
    environment masked_;
    promise_header* outer_ = nullptr;
};

/// Awaits `critical` with the stop masked: once begun it runs to its end.
///
/// ```cpp
/// co_await ps::shield(ledger.commit(entry));
/// ```
/// Lifetime: `critical` lives in the same full-expression. Errors: passed on. Stopping: a boundary. A stop
/// that was requested before keeps it from beginning; one that comes later is seen at the next leaf after it,
/// and the result is delivered. Nothing bounds it in time: put a `with_timeout` inside.
template <awaitable A> [[nodiscard]] auto shield(A&& critical [[clang::lifetimebound]]) {
    return shield_awaiter<std::remove_cvref_t<A>>(critical);
}

} // namespace pitsaw::inline v0
