#pragma once
#include <pitsaw/scope/away_call.hpp>
#include <pitsaw/task/result_slot.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// A task as something to call once.
template <class T> struct given_task {
    using assumed_transferable = void; ///< what the task was made with cannot be seen

    task<T> work;
    [[nodiscard]] task<T> operator()() noexcept { return std::move(work); }
};

template <class F, class... Args> class [[nodiscard]] with_executor_awaiter final : away_call<F, Args...> {
    using call = away_call<F, Args...>;
    using value_type = typename call::value_type;
    static_assert(transferable<value_type>,
                  "the result comes back, so it is not bound to the other worker: see pitsaw::transferable");

  public:
    with_executor_awaiter(executor_ref on, F&& work, Args&&... args)
        : call(std::in_place, std::move(work), std::move(args)...), on_(on) {}

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        outer_ = &header;
        this->depart(*on_, *header.env, header); // its end cannot be here before this worker looks
        return header.suspend_at(*this);
    }

    value_type await_resume() { return result_.take(); }

  private:
    void keep(result_slot<value_type>& result) noexcept override {
        if (result.has_exception())
            result_.set_exception(result.exception());
        else if constexpr (std::is_void_v<value_type>)
            result_.set_value();
        else if (result.has_value())
            result_.set_value_or_exception(result.take());
    }

    std::coroutine_handle<> returned(ending const how) noexcept override {
        if (how == ending::stopped) return outer_->stop_here();
        outer_->complete_here();
        return std::noop_coroutine();
    }

    executor_ref on_;
    promise_header* outer_ = nullptr;
    result_slot<value_type> result_; ///< written there
};

/// Runs `work(args...)` on `on`, another worker of the same runtime or the own one, and comes back.
///
/// ```cpp
/// auto digest = co_await ps::with_executor(other, digest_of, std::move(file));
/// ```
/// Lifetime: the callable and its arguments are moved there and destroyed there, with the task, before this
/// continues; so they may refer to what the caller keeps, which nobody else may touch meanwhile. Threads:
/// everything below `work` is the other worker's, also what its scopes spawn and its streams; the result
/// comes back. `transferable` says what may cross. Memory of `with_memory` stays behind. Errors: passed on,
/// as well as what calling `work` throws; an executor of another runtime is a checked error. Stopping: a
/// boundary of one child: it delivers what completed, else the coroutine stops. A stop goes there and needs
/// what a message needs.
template <class F, class... Args>
    requires task_call<F, Args...>
[[nodiscard]] auto with_executor(executor_ref const on, F work, Args... args) {
    return with_executor_awaiter<F, Args...>(on, std::move(work), std::move(args)...);
}

/// The same with a task that is made already. What it was made with cannot be seen any more.
template <class T> [[nodiscard]] auto with_executor(executor_ref const on, task<T> work) {
    return with_executor_awaiter<given_task<T>>(on, given_task<T>{std::move(work)});
}

} // namespace pitsaw::inline v0
