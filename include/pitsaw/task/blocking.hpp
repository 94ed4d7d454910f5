#pragma once
#include <pitsaw/executor/blocking_pool.hpp>
#include <pitsaw/executor/timer_node.hpp>
#include <pitsaw/stop/inplace_stop_token.hpp>
#include <pitsaw/task/promise_header.hpp>
#include <pitsaw/task/result_slot.hpp>

#include <concepts>
#include <coroutine>
#include <exception>
#include <expected>
#include <functional>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// The part of `blocking` that knows neither the function nor its result.
class blocking_leaf : waiter, timer_node, blocking_job {
  public:
    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;

  protected:
    using call = void (*)(blocking_leaf&, inplace_stop_token const& stop) noexcept;

    blocking_leaf(blocking_pool* in, call runs) noexcept
        : waiter(asked), timer_node(time_has_come), blocking_job(run_on_thread, ended_on_thread), pool_(in),
          call_(runs) {}
    ~blocking_leaf() = default;

    [[nodiscard]] std::error_code refused() const noexcept { return refused_; }

  private:
    /// A hand-made coroutine that the thread posts to the task's worker.
    struct return_frame {
        void (*resume)(void*) noexcept = returned;
        void (*destroy)(void*) noexcept = nothing;
        continuation node;
        blocking_leaf* leaf = nullptr;
    };

    static void asked(waiter& self) noexcept;
    static void time_has_come(timer_node& self) noexcept;
    static void run_on_thread(blocking_job& self) noexcept;
    static void ended_on_thread(blocking_job& self, std::error_code refused) noexcept;
    static void returned(void* frame) noexcept;
    static void nothing(void*) noexcept {}

    blocking_pool* pool_; ///< null: that of the worker
    call call_;
    promise_header* header_ = nullptr;
    return_frame return_;
    std::error_code refused_; ///< the thread's until it posts, then the worker's
};

/// Waits for a function that runs on a thread of a `blocking_pool`.
template <class F, class... Args> class [[nodiscard]] blocking_awaiter : public blocking_leaf {
    static constexpr bool takes_stop = std::invocable<F&, inplace_stop_token, Args&...>;

    static auto type_of_result() {
        if constexpr (takes_stop)
            return std::type_identity<std::invoke_result_t<F&, inplace_stop_token, Args&...>>();
        else
            return std::type_identity<std::invoke_result_t<F&, Args&...>>();
    }

  public:
    using result_type = typename decltype(type_of_result())::type;

    blocking_awaiter(blocking_pool* in, F&& function, Args&&... args)
        : blocking_leaf(in, run), function_(std::move(function)), args_(std::move(args)...) {}

    result_type await_resume() {
        if (refused()) [[unlikely]] {
            if constexpr (std::is_constructible_v<result_type, std::unexpected<std::error_code>> &&
                          is_expected<result_type>)
                return result_type(std::unexpected(refused()));
            else
                throw std::system_error(refused(), "blocking");
        }
        return result_.take();
    }

  private:
    static void run(blocking_leaf& leaf, inplace_stop_token const& stop) noexcept {
        auto& self = static_cast<blocking_awaiter&>(leaf);
        try {
            std::apply(
                [&](Args&... args) {
                    auto const invoke = [&]() -> result_type {
                        if constexpr (takes_stop)
                            return std::invoke(self.function_, stop, args...);
                        else
                            return std::invoke(self.function_, args...);
                    };
                    if constexpr (std::is_void_v<result_type>) {
                        invoke();
                        self.result_.set_value();
                    } else {
                        self.result_.set_value(invoke());
                    }
                },
                self.args_);
        } catch (...) {
            self.result_.set_exception(std::current_exception());
        }
    }

    F function_;
    std::tuple<Args...> args_;
    result_slot<result_type> result_; ///< the thread's until it posts, then the worker's
};

/// Calls `function(args...)` on a thread of the runtime's blocking pool, and comes back to the task's
/// worker with what it returned or threw.
///
/// ```cpp
/// auto digest = co_await ps::blocking([&] { return digest_of(path); });
/// auto lines = co_await ps::blocking([](ps::inplace_stop_token stop, std::string name) {
///     return count_lines(name, [&] { return stop.stop_requested(); });
/// }, std::string("big.log"));
/// ```
/// It is for what holds its thread up for more than some 20 µs, for a job and its way back cost 5 to 20
/// (docs/guide/blocking.md).
///
/// Lifetime: the function and its arguments are owned by the awaiter; what they refer to in the awaiting
/// frame stays, for the await ends after the call. They are destroyed on the worker. Threads: the function
/// runs on another thread, where there is no current task. Errors: its exception is rethrown. Where the
/// pool has no thread for it, or refuses since it is full, it is not called: std::system_error, or that
/// error in the result where that is an `io_result`. Stopping: a job that no thread has begun is withdrawn,
/// and was never called. One that runs is waited for to its end, and its result is delivered, stop or not:
/// nothing can take its thread back. A function that takes an `inplace_stop_token` first can look there,
/// and end early. Where time is virtual, there are no threads: the function runs on the worker,
/// `blocking_options::simulated_time` after the await, and takes no time.
template <class F, class... Args>
    requires std::invocable<F&, Args&...> || std::invocable<F&, inplace_stop_token, Args&...>
[[nodiscard]] auto blocking(F function, Args... args) {
    return blocking_awaiter<F, Args...>(nullptr, std::move(function), std::move(args)...);
}

/// The same on a pool of one's own, which outlives the await.
template <class F, class... Args>
    requires std::invocable<F&, Args&...> || std::invocable<F&, inplace_stop_token, Args&...>
[[nodiscard]] auto blocking(blocking_pool& in, F function, Args... args) {
    return blocking_awaiter<F, Args...>(&in, std::move(function), std::move(args)...);
}

} // namespace pitsaw::inline v0
