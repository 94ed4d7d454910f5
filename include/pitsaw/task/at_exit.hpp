#pragma once
#include <pitsaw/task/await_transform.hpp>
#include <pitsaw/task/frame_memory.hpp>
#include <pitsaw/task/masked_scope.hpp>
#include <pitsaw/task/promise_header.hpp>
#include <pitsaw/task/result_slot.hpp>

#include <coroutine>
#include <exception>
#include <source_location>
#include <system_error>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

class cleanup_registration;

/// One registered clean-up: the part of its coroutine's promise that needs no type.
struct cleanup : promise_header {
    cleanup* next = nullptr;         ///< the one registered before
    promise_header* owner = nullptr; ///< whose ending it waits for
    ending owner_ending{};           ///< what goes on afterwards
    duration limit = cleanup_time_max;
    std::exception_ptr failure;
    masked_scope scope{finished};

    /// Runs it; returns what runs next.
    [[nodiscard]] std::coroutine_handle<> begin(ending how) noexcept;

  private:
    static std::coroutine_handle<> finished(boundary&, promise_header& root, ending how) noexcept;
};

class cleanup_promise : public cleanup, public recycled_frame {
  public:
    struct final_awaiter {
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        [[nodiscard]] std::coroutine_handle<>
        await_suspend(std::coroutine_handle<cleanup_promise> const finished) const noexcept {
            return finished.promise().ended(ending::value);
        }
        void await_resume() const noexcept {}
    };

    [[nodiscard]] cleanup_registration get_return_object() noexcept;
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] final_awaiter final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { failure = std::current_exception(); }

    template <class A>
    [[nodiscard]] auto await_transform(A&& work,
                                       std::source_location where = std::source_location::current()) {
        awaiting = where;
        return awaiter_for(*this, std::forward<A>(work));
    }
};

/// What `at_exit` returns: awaiting it registers the clean-up with the awaiting coroutine. Never awaited, the
/// clean-up never runs.
class [[nodiscard]] cleanup_registration {
  public:
    using promise_type = cleanup_promise;

    explicit cleanup_registration(cleanup_promise& work) noexcept : work_(&work) {}
    cleanup_registration(cleanup_registration&& other) noexcept
        : work_(std::exchange(other.work_, nullptr)) {}
    ~cleanup_registration() {
        if (work_ != nullptr) work_->handle().destroy();
    }

    [[nodiscard]] cleanup_registration within(duration const limit) && noexcept {
        work_->limit = limit;
        return std::move(*this);
    }

    [[nodiscard]] std::suspend_never await_in(promise_header& owner) && noexcept {
        auto* const work = std::exchange(work_, nullptr);
        work->owner = &owner;
        work->next = owner.cleanups;
        owner.cleanups = work;
        return {};
    }

  private:
    cleanup_promise* work_;
};

inline cleanup_registration cleanup_promise::get_return_object() noexcept {
    return cleanup_registration(*this);
}

/// Whether F carries nothing: a function, or a lambda without captures.
template <class F>
concept captureless = std::is_empty_v<F> || std::is_function_v<std::remove_pointer_t<F>>;

/// The clean-up's own coroutine: its frame owns the function and the arguments.
template <class F, class... Args> cleanup_registration at_exit_frame(F work, Args... args) {
    using result = decltype(work(std::move(args)...).operator co_await().await_resume());
    if constexpr (is_expected<result>) {
        auto ended = co_await work(std::move(args)...);
        if (!ended.has_value()) throw std::system_error(ended.error(), "a clean-up failed");
    } else {
        co_await work(std::move(args)...);
    }
}

/// Registers an asynchronous clean-up with the coroutine that awaits this: it runs at each of its endings,
/// the innermost first, with the stop masked.
///
/// ```cpp
/// co_await ps::at_exit([](std::shared_ptr<ledger> book) -> ps::task<> { co_await book->flush(); }, book);
/// co_await ps::at_exit(close_link, id).within(200ms);
/// ```
/// Lifetime: owns its arguments, and `work` captures nothing, for on a normal ending the coroutine's locals
/// are gone by then (on a stop they still exist). Threads: runs on the coroutine's worker. Errors: what it
/// throws or returns as an error goes to `on_lost_error`; the coroutine's ending stays. std::bad_alloc at
/// registration. Stopping: masked; it has `cleanup_time_max` (or `within`) from its own start, then it is
/// stopped. Waiting in it for a lock that a frame below still holds is a deadlock until that limit.
template <class F, class... Args> [[nodiscard]] cleanup_registration at_exit(F work, Args... args) {
    static_assert(captureless<F>,
                  "at_exit takes a function or a lambda without captures, and what it uses as "
                  "arguments: captured references would dangle when the clean-up runs");
    return at_exit_frame(std::move(work), std::move(args)...);
}

} // namespace pitsaw::inline v0
