#pragma once
#include <pitsaw/base/atomic.hpp>
#include <pitsaw/executor/continuation.hpp>
#include <pitsaw/scope/task_group.hpp>
#include <pitsaw/task/as_outcome.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// Where `portal::call` waits: shared by the calling thread and the child, whichever is last.
template <class T> class call_result {
  public:
    /// On the worker, once.
    void set(outcome<T> result) noexcept {
        try {
            result_.emplace(std::move(result));
        } catch (...) { // a move of the value threw
            result_.emplace(outcome<T>::failed(std::current_exception()));
        }
        // Release, with the acquire in wait: the result.
        is_there_.store(true, std::memory_order_release);
        is_there_.notify_one();
    }

    /// On the calling thread.
    [[nodiscard]] outcome<T> wait() {
        is_there_.wait(false, std::memory_order_acquire);
        return std::move(*result_);
    }

  private:
    std::optional<outcome<T>> result_; ///< the worker's until is_there_, the caller's from then on
    detail::atomic<bool> is_there_ = false;
};

/// A message to a group's worker: a hand-made frame that runs there once and frees itself.
struct portal_message {
    void (*resume)(void*);
    void (*destroy)(void*) = nothing;
    continuation node;

    explicit portal_message(void (*run)(void*)) noexcept : resume(run) {}
    portal_message(portal_message&&) = delete;

    static void nothing(void*) {}
};

/// Spawns into a task group from other threads.
///
/// ```cpp
/// std::jthread([to = group.open_portal()]() mutable { to.spawn(handle, read_line()); });
/// ps::outcome<int> sum = to.call(add, 1, 2);          // blocks this thread, not the worker
/// ```
/// Lifetime: move-only. The group does not end before every portal to it is closed (destroyed), stopped or
/// not: a thread that keeps one watches `get_stop_token()`. Threads: opened on the worker; `spawn` and `call`
/// from any number of threads at a time, closed by one after that. Errors: std::bad_alloc; a child's own are
/// the group's. Stopping: what is spawned after the group was stopped ends at its first leaf.
class portal {
  public:
    portal(portal&& other) noexcept
        : group_(std::exchange(other.group_, nullptr)), closing_(std::move(other.closing_)) {}
    portal& operator=(portal&& other) noexcept {
        portal old(std::move(*this));
        group_ = std::exchange(other.group_, nullptr);
        closing_ = std::move(other.closing_);
        return *this;
    }
    ~portal() { close(); }

    /// Spawns `work(args...)`; both are owned by the group until the child has ended. If the worker has no
    /// memory for the child, or the group is bounded and full, that is the group's failure, by its policy.
    /// Where that must not be, let what is spawned be one task that awaits `room()` and spawns the rest.
    template <class F, class... Args>
        requires std::invocable<F&, Args...>
    void spawn(F work, Args... args) const {
        require_open();
        auto message =
            std::make_unique<spawn_message<F, Args...>>(*group_, std::move(work), std::move(args)...);
        post(*message.release());
    }

    /// The same, and waits for the ending, which is the caller's alone: the group takes no notice of a
    /// failure, and if the child cannot be made, that is the exception. When it returns, the child's frame
    /// and all it owned are gone, so it may refer to what the caller keeps. On a worker it is a checked
    /// error: co_await there.
    template <class F, class... Args>
        requires std::invocable<F&, Args...>
    [[nodiscard]] auto call(F work, Args... args) const {
        using value_type = typename std::invoke_result_t<F&, Args...>::value_type;
        require_open();
        check(current_executor() == nullptr, "portal::call on a worker would block it: co_await instead");
        auto const result = std::make_shared<call_result<value_type>>();
        auto message = std::make_unique<call_message<value_type, F, Args...>>(
            *group_, result, std::move(work), std::move(args)...);
        post(*message.release());
        return result->wait();
    }

    /// What the group's children see. Valid while the portal is open.
    [[nodiscard]] inplace_stop_token get_stop_token() const noexcept { return group_->get_stop_token(); }

    /// As the destructor.
    void close() noexcept;

  private:
    friend class task_group;

    template <class F, class... Args> struct spawn_message : portal_message {
        spawn_message(task_group& of, F&& callable, Args&&... owned)
            : portal_message(run), group(of), work(std::move(callable)), args(std::move(owned)...) {}

        static void run(void* const frame) {
            std::unique_ptr<spawn_message> const self(
                static_cast<spawn_message*>(static_cast<portal_message*>(frame)));
            try {
                std::apply(
                    [&](Args&... owned) { self->group.spawn(std::move(self->work), std::move(owned)...); },
                    self->args);
            } catch (...) {
                portal::note_failure(self->group, std::current_exception());
            }
        }

        task_group& group;
        F work;
        std::tuple<Args...> args;
    };

    template <class T, class F, class... Args> struct call_message : portal_message {
        call_message(task_group& of, std::shared_ptr<call_result<T>> to, F&& callable, Args&&... owned)
            : portal_message(run), group(of), result(std::move(to)), work(std::move(callable)),
              args(std::move(owned)...) {}

        static void run(void* const frame) {
            std::unique_ptr<call_message> self(
                static_cast<call_message*>(static_cast<portal_message*>(frame)));
            auto const result = self->result;
            std::exception_ptr refusal;
            try {
                std::apply(
                    [&](Args&... owned) {
                        self->group.spawn(call_into<T, F, Args...>, result, std::move(self->work),
                                          std::move(owned)...);
                    },
                    self->args);
            } catch (...) {
                refusal = std::current_exception();
            }
            // The caller goes on from `set`: what it lent and what it catches is let go of before.
            self.reset();
            if (refusal != nullptr) result->set(outcome<T>::failed(std::move(refusal)));
        }

        task_group& group;
        std::shared_ptr<call_result<T>> result;
        F work;
        std::tuple<Args...> args;
    };

    struct close_message : portal_message {
        explicit close_message(task_group& of) noexcept : portal_message(run), group(of) {}
        static void run(void* frame);
        task_group& group;
    };

    /// Owns what was called and its arguments, so that they are gone with this frame.
    template <class T, class F, class... Args> static task<T> owned_call(F work, Args... args) {
        co_return co_await work(std::move(args)...);
    }

    template <class T, class F, class... Args>
    static task<> call_into(std::shared_ptr<call_result<T>> result, F work, Args... args) {
        std::optional<outcome<T>> end;
        try {
            auto called = owned_call<T, F, Args...>(std::move(work), std::move(args)...);
            end.emplace(co_await as_outcome(std::move(called)));
        } catch (...) {
            end.emplace(outcome<T>::failed(std::current_exception()));
        }
        result->set(std::move(*end)); // the caller goes on: the call's frame has gone above
    }

    explicit portal(task_group& of);

    void require_open() const noexcept { check(group_ != nullptr, "a closed portal was used"); }
    void post(portal_message& message) const noexcept;
    static void note_failure(task_group& of, std::exception_ptr failure) noexcept;

    task_group* group_;                      ///< null: closed
    std::unique_ptr<close_message> closing_; ///< made at the opening, so that closing needs no memory
};

} // namespace pitsaw::inline v0
