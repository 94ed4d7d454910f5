#pragma once
#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/executor/stop_on_signals.hpp>
#include <pitsaw/task/child.hpp>
#include <pitsaw/task/outcome.hpp>

#include <concepts>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <expected>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// The boundary between a chain that nobody awaits and who runs its worker.
///
/// Lifetime: made, started and destroyed while the worker that it runs on is the thread's current one.
template <class T> class root_chain : boundary {
  public:
    explicit root_chain(task<T>&& work) : boundary(ended), work_(std::move(work)), child_(work_) {}

    /// `in` outlives this.
    void start(environment const& in) noexcept {
        env_ = &in;
        child_.start_queued(*this, in, nothing_above_);
    }
    [[nodiscard]] bool const& is_done() const noexcept { return is_done_; }
    /// Where a stop enters.
    [[nodiscard]] boundary& edge() noexcept { return *this; }

    /// Once, after the end.
    [[nodiscard]] outcome<T> take() {
        auto& result = child_.result();
        if (ending_ == ending::stopped) return outcome<T>::stopped(env_->stop.reason());
        if (result.has_exception()) return outcome<T>::failed(result.exception());
        if constexpr (std::is_void_v<T>)
            return outcome<T>::completed(std::monostate());
        else
            return outcome<T>::completed(result.take());
    }

  private:
    static std::coroutine_handle<> ended(boundary& edge, promise_header&, ending const how) noexcept {
        auto& self = static_cast<root_chain&>(edge);
        self.ending_ = how;
        self.is_done_ = true;
        return std::noop_coroutine();
    }

    environment const* env_ = nullptr;
    promise_header nothing_above_;
    task<T> work_;
    child<task<T>> child_;
    ending ending_ = ending::value;
    bool is_done_ = false;
};

/// Runs `work` on `on` and blocks this thread until it has ended.
///
/// ```cpp
/// auto end = ps::sync_wait(rt, work());
/// if (end.has_value()) use(end.value());
/// ```
/// Lifetime: `work` and what it refers to need only live until this returns; its frame is destroyed before
/// that, on its worker. It takes a task and nothing else for that: the parts of a scope or leaf would be the
/// caller's temporaries, and end after the worker. Threads: any that runs no worker; called by a task it is a
/// checked error. Errors: std::bad_alloc; what `work` throws is in the outcome. Stopping: a
/// boundary: `runtime::request_stop` reaches `work`, and the outcome says so.
template <awaitable A> [[nodiscard]] auto sync_wait(runtime& on, A&& work) {
    static_assert(is_task<A>, "sync_wait and run take a task: co_await the scope or leaf in one");
    root_run run(on); // outlives the frame
    root_chain<typename A::value_type> chain(std::move(work));
    chain.start(run.env());
    run.drive(chain.edge(), chain.is_done());
    return chain.take();
}

/// Whether a value must not outlive the runtime that it was made on; its type says so with a member type.
template <class T> inline constexpr bool is_bound_to_runtime = requires { typename T::bound_to_runtime; };
template <class T, class E>
inline constexpr bool is_bound_to_runtime<std::expected<T, E>> = is_bound_to_runtime<T>;

/// The same on a runtime of its own, which nobody else can wake: a deadlock is a checked error.
template <awaitable A> [[nodiscard]] auto sync_wait(A&& work) {
    static_assert(!is_bound_to_runtime<typename A::value_type>,
                  "what this gives would outlive its runtime, which ends here: use sync_wait(runtime, work)");
    runtime_options options;
    options.is_closed_world = true;
    runtime own(std::move(options));
    return sync_wait(own, std::move(work));
}

/// Prints why a program ends with 1.
void print_failure(std::exception_ptr failure) noexcept;
void print_failure(std::error_code failure) noexcept;

/// Runs `work` as a program's main task: what `main` returns.
///
/// 0 for a value, an `io_result` without error, or a stop; an int is itself; 1 for an error or exception,
/// which is printed.
///
/// ```cpp
/// int main() { return ps::run(serve()); }      // Ctrl-C stops, drains, returns 0
/// int main() { return ps::run(serve(), {.workers = 4}); }
/// ```
/// Lifetime, threads: as the `sync_wait` that makes a runtime of its own. Errors: printed, those of the
/// runtime and of `stop_on_signals` too. Stopping: SIGINT and SIGTERM stop `work` with
/// `stop_reason::shutdown`, its clean-ups run, and the result is 0; a second signal ends the process at once,
/// see `stop_on_signals`. A signal ends a program and wakes no task, so a wait that nothing else can end is
/// still the checked error that says "deadlock".
template <awaitable A> [[nodiscard]] int run(A&& work, runtime_options options = {}) {
    auto end = [&work, &options] {
        try {
            options.is_closed_world = true;
            runtime own(std::move(options));
            stop_on_signals const signals(own);
            return sync_wait(own, std::move(work));
        } catch (...) { // there is no driver for a runtime, or no thread for the signals
            return decltype(sync_wait(std::move(work)))::failed(std::current_exception());
        }
    }();
    if (end.is_stopped()) return 0;
    if (end.has_exception()) {
        print_failure(end.exception());
        return 1;
    }
    using value_type = std::remove_cvref_t<decltype(end.value())>;
    if constexpr (is_expected<value_type>) {
        if (!end.value().has_value()) {
            print_failure(end.value().error());
            return 1;
        }
    } else if constexpr (std::same_as<value_type, int>) {
        return end.value();
    }
    return 0;
}

} // namespace pitsaw::inline v0
