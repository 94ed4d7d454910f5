#pragma once
#include <pitsaw/task/child.hpp>
#include <pitsaw/task/outcome.hpp>

#include <coroutine>
#include <type_traits>

namespace pitsaw::inline v0 {

/// Counts a stop that `as_outcome` made data in the chain of `header`; the 1,000th in a row is logged.
void note_swallowed_stop(promise_header& header) noexcept;

template <class A> class [[nodiscard]] as_outcome_awaiter : inner_boundary {
    using value_type = child_value<A>;

  public:
    explicit as_outcome_awaiter(A& awaited) : inner_boundary(ended), child_(awaited) {}

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        enter(header);
        return child_.start(*this, *header.env, header);
    }

    outcome<value_type> await_resume() {
        auto& result = child_.result();
        if (ending_ == ending::stopped) return outcome<value_type>::stopped(outer().env->stop.reason());
        if (result.has_exception()) return outcome<value_type>::failed(result.exception());
        if constexpr (std::is_void_v<value_type>)
            return outcome<value_type>::completed(std::monostate());
        else
            return outcome<value_type>::completed(result.take());
    }

  private:
    static std::coroutine_handle<> ended(boundary& edge, promise_header&, ending const how) noexcept {
        auto& self = static_cast<as_outcome_awaiter&>(edge);
        self.ending_ = how;
        if (how == ending::stopped)
            note_swallowed_stop(self.outer());
        else
            self.outer().edge->swallowed_stops = 0;
        if (how == ending::value) self.child_.collect();
        return self.leave();
    }

    child<A> child_;
    ending ending_ = ending::value;
};

/// Awaits `awaited` and gives its ending as data, a stop too: the one way to go on after a stop.
///
/// ```cpp
/// auto end = co_await ps::as_outcome(job());
/// if (end.is_stopped()) note("stopped: still here to say so");
/// ```
/// Lifetime: `awaited` lives in the same full-expression; no frame is added. Errors: none thrown by the
/// await. Stopping: a boundary. The stop stays requested: the next leaf stops too, so a loop around this
/// spins until it looks at the outcome (a chain that swallows 1,000 in a row is named in the log).
template <awaitable A> [[nodiscard]] auto as_outcome(A&& awaited [[clang::lifetimebound]]) {
    return as_outcome_awaiter<std::remove_cvref_t<A>>(awaited);
}

} // namespace pitsaw::inline v0
