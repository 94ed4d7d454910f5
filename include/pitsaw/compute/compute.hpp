#pragma once
#include <pitsaw/compute/computation.hpp>
#include <pitsaw/executor/compute_lane.hpp>
#include <pitsaw/executor/continuation.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <coroutine>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// The part of `compute` that does not know the result.
class compute_leaf : waiter, compute_root, protected fork_point {
  public:
    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;

  protected:
    explicit compute_leaf(child_maker child) noexcept
        : waiter(asked), fork_point(child, 1), return_{returned, nothing_to_destroy, {}, this} {}
    ~compute_leaf() = default;

  private:
    /// A hand-made coroutine that goes to the task's worker.
    struct return_frame {
        void (*resume)(void*) noexcept;
        void (*destroy)(void*) noexcept;
        continuation node;
        compute_leaf* leaf;
    };

    void ended() noexcept override;
    static void asked(waiter& self) noexcept;
    static void returned(void* frame) noexcept;
    static void nothing_to_destroy(void*) noexcept {}

    promise_header* header_ = nullptr;
    return_frame return_;
};

/// Waits for a computation.
template <class T> class [[nodiscard]] compute_awaiter final : public compute_leaf {
  public:
    using result_type = T;

    explicit compute_awaiter(computation<T>& begun) noexcept : compute_leaf(child), child_(begun.release()) {
        child_.leave_result_in(result_);
    }
    ~compute_awaiter() {
        if (!has_begun(0)) child_.handle().destroy();
    }

    T await_resume() {
        rethrow_failure();
        return result_.take();
    }

  private:
    static fork_child* child(fork_point& self, std::uint32_t) noexcept {
        return &static_cast<compute_awaiter&>(self).child_;
    }

    computation_promise<T>& child_; ///< destroys itself when it has begun
    [[no_unique_address]] computed<T> result_;
};

/// Runs a computation on the workers, and comes back to the task's own with its result.
///
/// ```cpp
/// int result = co_await ps::compute(fib(32));
/// ```
/// It begins on the task's worker, in turns of some 100 µs between which the worker sees to its other
/// tasks; with `scheduling::stealing` any worker with nothing to do takes a part of it. Computations that
/// are begun on one worker run one after another, unless another takes one.
///
/// Lifetime: awaited in place; what the computation refers to in the task's frame stays. Threads: the
/// computation's are any worker's; the task stays on its own. Errors: what the computation throws.
/// Stopping: it ends at its next awaits, when the parts that run have got there; one that has ended by then
/// delivers its result. Priority: the task's.
template <class T> [[nodiscard]] compute_awaiter<T> compute(computation<T> begun) {
    return compute_awaiter<T>(begun);
}

} // namespace pitsaw::inline v0
