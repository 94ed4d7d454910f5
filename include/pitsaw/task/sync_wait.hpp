#pragma once
#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/task/child.hpp>
#include <pitsaw/task/outcome.hpp>

#include <concepts>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// The boundary between a chain and the thread that waits for it.
template <class A> class sync_wait_boundary : boundary {
    using value_type = child_value<A>;
    // A task's frame goes here, on its worker's thread and while that is current; a leaf stays where it is.
    using held = std::conditional_t<is_task<A>, A, A&>;

  public:
    sync_wait_boundary(runtime& on, A& work)
        : boundary(ended), run_(on), work_(static_cast<std::conditional_t<is_task<A>, A&&, A&>>(work)),
          child_(work_) {}

    [[nodiscard]] outcome<value_type> wait() {
        // The caller's environment has no header: the chain begins here.
        child_.start_queued(*this, run_.env(), nothing_above_);
        run_.drive(*this, is_done_);
        auto& result = child_.result();
        if (ending_ == ending::stopped) return outcome<value_type>::stopped(run_.env().stop.reason());
        if (result.has_exception()) return outcome<value_type>::failed(result.exception());
        if constexpr (std::is_void_v<value_type>)
            return outcome<value_type>::completed(std::monostate());
        else
            return outcome<value_type>::completed(result.take());
    }

  private:
    static std::coroutine_handle<> ended(boundary& edge, promise_header&, ending const how) noexcept {
        auto& self = static_cast<sync_wait_boundary&>(edge);
        self.ending_ = how;
        if (how == ending::value) self.child_.collect();
        self.is_done_ = true;
        return std::noop_coroutine();
    }

    root_run run_;
    promise_header nothing_above_;
    held work_;
    child<A> child_;
    ending ending_ = ending::value;
    bool is_done_ = false;
};

/// Runs `work` on `on` and blocks this thread until it has ended.
///
/// ```cpp
/// auto end = ps::sync_wait(rt, work());
/// if (end.has_value()) use(end.value());
/// ```
/// Lifetime: `work` and what it refers to need only live until this returns. Give it a task where destructors
/// need the worker: the locals of one are gone before the loop ends, while the parts of any other awaitable
/// are the caller's temporaries and go when this has returned. Threads: any that runs no worker; called by a
/// task it is a checked error. Errors: std::bad_alloc; what `work` throws is in the outcome. Stopping: a
/// boundary: `runtime::request_stop` reaches `work`, and the outcome says so.
template <awaitable A> [[nodiscard]] auto sync_wait(runtime& on, A&& work) {
    sync_wait_boundary<std::remove_cvref_t<A>> edge(on, work);
    return edge.wait();
}

/// The same on a runtime of its own, which nobody else can wake: a deadlock is a checked error.
template <awaitable A> [[nodiscard]] auto sync_wait(A&& work) {
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
/// int main() { return ps::run(serve()); }
/// ```
template <awaitable A> [[nodiscard]] int run(A&& work) {
    auto end = sync_wait(std::move(work));
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
