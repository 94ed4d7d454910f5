#pragma once
#include <pitsaw/task/await_transform.hpp>
#include <pitsaw/task/boundary.hpp>
#include <pitsaw/task/result_slot.hpp>
#include <pitsaw/task/task.hpp>

#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// What a combinator accepts: a task, one of our operations, or a foreign awaitable; by rvalue, for it is
/// awaited once.
template <class A>
concept awaitable = !std::is_lvalue_reference_v<A> &&
                    (is_task<std::remove_cvref_t<A>> || startable<std::remove_cvref_t<A>> ||
                     requires(A&& a) { standard_awaiter(std::forward<A>(a)).await_ready(); });

/// What a scope holds of an awaitable: of a task the handle, of a leaf a header of its own; never a copy.
///
/// Lifetime: the awaitable must outlive it; it does, as a temporary of the same full-expression. Threads: the
/// worker's. The two forms offer the same members.
template <class A> class child {
    static constexpr bool is_foreign = !startable<A>;
    using held = std::conditional_t<is_foreign, foreign_awaiter<A&&>, A&>;

  public:
    using value_type = decltype(std::declval<held&>().await_resume());

    explicit child(A& leaf) noexcept(!is_foreign)
        : leaf_(static_cast<std::conditional_t<is_foreign, A&&, A&>>(leaf)) {}
    child(child&&) = delete;

    /// Starts it below `edge`; returns what runs next.
    [[nodiscard]] std::coroutine_handle<> start(boundary& edge, environment const& in,
                                                promise_header& by) noexcept {
        frame_.header.begin_chain(edge, in, &by);
        if constexpr (is_foreign) {
            try {
                return leaf_.start(frame_.header);
            } catch (...) {
                result_.set_exception(std::current_exception());
                return transfer(frame_.header);
            }
        } else {
            return leaf_.start(frame_.header);
        }
    }

    /// Starts it below `edge`; what runs next waits for its turn in the ready queue.
    void start_queued(boundary& edge, environment const& in, promise_header& by) noexcept {
        auto& worker = *in.executor;
        worker.current = nullptr;
        auto const runs_next = start(edge, in, by);
        // A transfer names whom it resumes; a leaf that suspended named nobody, and has nothing to run unless
        // it is a coroutine of somebody else's, which no queue of ours can hold.
        if (auto* const next = std::exchange(worker.current, nullptr))
            worker.ready.push(*next, resume_as::coroutine, in.level);
        else
            runs_next.resume();
    }

    /// Moves the leaf's result into the slot; for child_ended, when it ended with a value.
    void collect() noexcept {
        if (result_.has_exception()) return; // it failed at its start
        try {
            if constexpr (std::is_void_v<value_type>) {
                leaf_.await_resume();
                result_.set_value();
            } else {
                result_.set_value(leaf_.await_resume());
            }
        } catch (...) {
            result_.set_exception(std::current_exception());
        }
    }

    [[nodiscard]] result_slot<value_type>& result() noexcept { return result_; }

  private:
    held leaf_;
    leaf_frame frame_;
    result_slot<value_type> result_;
};

template <class T> class child<task<T>> {
  public:
    using value_type = T;

    explicit child(task<T>& work) noexcept : frame_(work.startable()) {}
    child(child&&) = delete;

    [[nodiscard]] std::coroutine_handle<> start(boundary& edge, environment const& in,
                                                promise_header& by) noexcept {
        auto& promise = begin(edge, in, by);
        return transfer(promise);
    }

    void start_queued(boundary& edge, environment const& in, promise_header& by) noexcept {
        in.executor->ready.push(begin(edge, in, by), resume_as::coroutine, in.level);
    }

    void collect() noexcept {}

    [[nodiscard]] result_slot<T>& result() noexcept { return frame_.promise().result; }

  private:
    [[nodiscard]] task_promise<T>& begin(boundary& edge, environment const& in, promise_header& by) noexcept {
        auto& promise = frame_.promise();
        check(!promise.is_started(), "a task was given twice to one combinator: it runs once");
        promise.begin_chain(edge, in, &by);
        return promise;
    }

    std::coroutine_handle<task_promise<T>> frame_;
};

template <class A> using child_value = typename child<std::remove_cvref_t<A>>::value_type;

} // namespace pitsaw::inline v0
