#pragma once
#include <pitsaw/base/intrusive_list.hpp>
#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/scope/with_executor.hpp>
#include <pitsaw/task/promise_header.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

class strand;

/// Waits for a strand to be free, on its worker.
class [[nodiscard]] strand_turn : waiter, public intrusive_list_node {
  public:
    explicit strand_turn(strand& of) noexcept : waiter(withdrawn), of_(of) {}

    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;
    void await_resume() const noexcept {}

  private:
    friend class strand;

    static void withdrawn(waiter& self) noexcept;

    strand& of_;
    promise_header* header_ = nullptr; ///< set when it has to wait
};

/// Runs one task at a time, whichever workers they come from: for state that several workers change.
///
/// ```cpp
/// ps::strand books(executor);                      // they are kept on this worker
/// co_await books.run(enter, std::move(entry));     // from any worker of the runtime
/// ```
/// All tasks of a strand run on one worker, so what they touch needs no lock and stays in one cache. The next
/// begins when the one before has ended, in the order in which they reach that worker: those of one worker
/// that were begun one after the other keep their order. **Across an await the strand is kept**: while a task
/// of it waits, other tasks of its worker go on, but no other of the strand. So a task that runs another on
/// the same strand waits for itself for ever, and what waits long holds up the rest; who wants others in
/// between has them, with `with_executor` alone, at each await.
///
/// Lifetime: outlives what runs on it, a checked error otherwise. Immovable. Threads: `run` from any worker
/// of its runtime. Errors, stopping: as `with_executor`; one that waits for its turn gives it up.
class strand {
  public:
    explicit strand(executor_ref on) noexcept : on_(on) {}
    strand(strand&&) = delete;
    ~strand();

    /// Runs `work(args...)` on the strand's worker, alone, and gives what its task gives.
    template <class F, class... Args>
        requires task_call<F, Args...>
    [[nodiscard]] auto run(F work, Args... args) {
        return with_executor(on_, alone<F, Args...>, this, std::move(work), std::move(args)...);
    }

    [[nodiscard]] executor_ref get_executor() const noexcept { return on_; }

  private:
    friend class strand_turn;

    class held {
      public:
        explicit held(strand& by) noexcept : by_(by) {}
        held(held&&) = delete;
        ~held() { by_.leave(); }

      private:
        strand& by_;
    };

    template <class F, class... Args>
    static auto alone(strand* self, F work, Args... args) -> std::invoke_result_t<F&, Args...> {
        co_await strand_turn(*self);
        held const turn(*self);
        co_return co_await work(std::move(args)...);
    }

    void leave() noexcept;

    executor_ref on_;
    // Its worker only:
    intrusive_list<strand_turn> waiting_;
    bool is_taken_ = false;
};

} // namespace pitsaw::inline v0
