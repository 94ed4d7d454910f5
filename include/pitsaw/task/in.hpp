#pragma once
#include <pitsaw/executor/environment.hpp>
#include <pitsaw/executor/remote_ask.hpp>
#include <pitsaw/stop/inplace_stop_token.hpp>
#include <pitsaw/task/child.hpp>

#include <coroutine>
#include <exception>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// The part of `in` that needs no type: a root chain of a worker that a foreign coroutine waits for.
class foreign_root : public boundary {
  public:
    foreign_root(on_child_ended ended, environment const& env) noexcept
        : boundary(ended), env_(env), stop_from_afar_(stop_arrived, this) {
        check(static_cast<bool>(env.executor),
              "in(env, x): the environment has no executor; copy one from a task");
    }

  protected:
    /// Queues `first` on its worker, from any thread. From then on the worker may end it at any moment.
    void begin(promise_header& first, std::coroutine_handle<> foreign) noexcept;

    /// The chain has ended; returns the foreign coroutine, or nothing while a stop is still on its way.
    [[nodiscard]] std::coroutine_handle<> end() noexcept;

    environment env_;

  private:
    struct on_stop {
        foreign_root* self;
        void operator()() const noexcept { self->ask_from_any_thread(); }
    };

    void ask_from_any_thread() noexcept;
    static void stop_arrived(void* self, bool is_closed) noexcept;

    std::coroutine_handle<> foreign_; ///< set once, at the start
    remote_ask stop_from_afar_;
    std::optional<inplace_stop_callback<on_stop>> callback_;
};

template <class A> class [[nodiscard]] in_awaiter : foreign_root {
    using value_type = child_value<A>;

  public:
    in_awaiter(environment const& env, A& awaited) : foreign_root(ended, env), child_(awaited) {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }

    void await_suspend(std::coroutine_handle<> const foreign) noexcept {
        starter_.header.env = &env_;
        begin(starter_.header, foreign); // from here on the awaiter is the worker's
    }

    value_type await_resume() {
        if (ending_ == ending::stopped) {
            auto const stopped = std::make_error_code(std::errc::operation_canceled);
            if constexpr (is_expected<value_type>)
                return std::unexpected(stopped);
            else
                throw std::system_error(stopped, "a task awaited through in() was stopped");
        }
        return child_.result().take();
    }

  private:
    // A frame that runs on the worker and starts the child there: a leaf must start on its worker.
    struct starter {
        void (*resume)(void*) = run;
        void (*destroy)(void*) = run_nothing;
        promise_header header{};
        in_awaiter* self;

        explicit starter(in_awaiter* of) noexcept : self(of) {}
        static void run(void* frame) {
            auto& me = *static_cast<starter*>(frame)->self;
            me.child_.start(me, me.env_, static_cast<starter*>(frame)->header).resume();
        }
        static void run_nothing(void*) {}
    };

    static std::coroutine_handle<> ended(boundary& edge, promise_header&, ending const how) noexcept {
        auto& self = static_cast<in_awaiter&>(static_cast<foreign_root&>(edge));
        self.ending_ = how;
        if (how == ending::value) self.child_.collect();
        return self.end();
    }

    child<A> child_;
    starter starter_{this};
    ending ending_ = ending::value;
};

/// Awaits ours in a foreign coroutine: `awaited` runs on `env`'s worker, whatever thread the foreign
/// coroutine is on, and that coroutine is then resumed there.
///
/// ```cpp
/// // in a coroutine of another library; env was copied from a task of ours
/// auto reply = co_await ps::in(env, fetch(client, url));
/// ```
/// Lifetime: the runtime and the scope whose environment it is must outlive the await; `awaited` lives in the
/// same full-expression. Threads: any. Errors: passed on. Stopping: a boundary: a stop of `env` reaches
/// `awaited`; if that stops, the foreign coroutine, which knows no such ending, gets `operation_canceled`: in
/// the `io_result`, else thrown as std::system_error.
template <awaitable A> [[nodiscard]] auto in(environment const& env, A&& awaited [[clang::lifetimebound]]) {
    return in_awaiter<std::remove_cvref_t<A>>(env, awaited);
}

} // namespace pitsaw::inline v0
