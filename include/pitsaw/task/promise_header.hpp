#pragma once
#include <pitsaw/executor/environment.hpp>

#include <concepts>
#include <coroutine>
#include <cstdint>
#include <source_location>
#include <system_error>

namespace pitsaw::inline v0 {

struct boundary;
struct cleanup;
struct promise_header;

/// How a task ends. `stopped` is the third way, beside a value and an exception (docs/guide/stopping.md).
enum class ending : std::uint8_t { value, exception, stopped };

/// A suspended leaf as its chain's stop slot sees it.
///
/// `ask` is called by the worker when a stop reaches the chain. It completes nothing at once: it
/// withdraws or cancels, and whatever comes of it goes through the ready queue or the driver. So a scope may
/// walk over its children while it asks them.
struct waiter {
    void (*ask)(waiter&) noexcept; ///< set once

    explicit waiter(void (*asked)(waiter&) noexcept) noexcept : ask(asked) {}
    waiter(waiter&&) = delete;
};

/// Where a chain of awaits begins, seen from the scope that waits for it.
///
/// Between two boundaries exactly one leaf is suspended, so one pointer is enough to reach it: the stop slot.
/// Lifetime: in the awaiter (or node) of the scope. Threads: the worker's only.
struct boundary {
    using on_child_ended = std::coroutine_handle<> (*)(boundary&, promise_header& root, ending) noexcept;

    promise_header* root = nullptr;    ///< the chain's first header: set once, before the start
    waiter* waiting = nullptr;         ///< the stop slot: set and cleared by the leaf
    on_child_ended child_ended;        ///< set once; returns what runs next
    std::uint32_t number = 0;          ///< the chain's, from when it is first asked for on
    std::uint16_t swallowed_stops = 0; ///< by `as_outcome`, in a row, modulo its range
    bool is_race = false; ///< set once: the scope may end this child for another's sake, or a clock's

    explicit boundary(on_child_ended ended) noexcept : child_ended(ended) {}
    boundary(boundary&&) = delete;

    /// Passes a stop on to the leaf, if one waits.
    void ask_to_stop() noexcept {
        if (waiting != nullptr) waiting->ask(*waiting);
    }
};

/// The first base of each promise: how a coroutine finds its environment, its parent and its end. 48 bytes.
///
/// Threads: the worker's only, once started. A header also stands for a leaf that a combinator awaits without
/// a coroutine of its own (`leaf_frame`).
struct promise_header : continuation {
    environment const* env = nullptr; ///< copied from the parent when awaited; null: not started
    promise_header* parent = nullptr; ///< the async stack: a plain list
    std::source_location awaiting;    ///< where the running await stands in this coroutine
    cleanup* cleanups = nullptr;      ///< at_exit, innermost first
    boundary* edge = nullptr;         ///< the scope's side of this chain, copied when awaited

    promise_header() = default;
    ~promise_header() {
        if (cleanups != nullptr) [[unlikely]]
            drop_cleanups();
    }

    [[nodiscard]] bool is_started() const noexcept { return env != nullptr; }

    /// Makes this the child of `by` in the same chain.
    void join_chain(promise_header& by) noexcept {
        env = by.env;
        parent = &by;
        edge = by.edge;
    }

    /// Makes this the first of a new chain that ends at `at`.
    void begin_chain(boundary& at, environment const& in, promise_header* by) noexcept {
        env = &in;
        parent = by;
        edge = &at;
        at.root = this;
    }

    /// The coroutine's body is over with a value or an exception: clean-ups, then the boundary or the parent.
    [[nodiscard]] std::coroutine_handle<> ended(ending how) noexcept;

    /// A leaf that this coroutine awaits stops: the coroutine is never resumed. Posts the walk to the
    /// boundary and returns nothing to run. Also what P2300's senders call (`set_stopped`).
    std::coroutine_handle<> unhandled_stopped() noexcept;

    // A leaf of ours calls one of these three, on its worker.

    /// It waits: `leaf` stands in the stop slot from here on. The last thing that a start does.
    std::coroutine_handle<> suspend_at(waiter& leaf) noexcept;

    /// A suspended leaf has its result: this coroutine goes on when its turn comes.
    void complete_here() noexcept;

    /// The same where the result ends this coroutine, which its own result says already: it is never resumed.
    /// Through the queue, since the await above may end its own coroutine from within this call, and so on:
    /// an error must not need stack for each frame that it passes.
    void end_here() noexcept;

    /// The same for what another thread completed, and posted as `resume_as::completed`: its turn has come.
    void completed_elsewhere() noexcept;

    /// It stops, suspended or not yet begun: this coroutine is never resumed.
    std::coroutine_handle<> stop_here() noexcept;

    /// Walks up to the nearest clean-up or boundary. The loop does this for `resume_as::stopped`.
    [[nodiscard]] std::coroutine_handle<> climb() noexcept;

    /// Begins the innermost clean-up; the ending `how` goes on when none is left.
    [[nodiscard]] std::coroutine_handle<> run_cleanups(ending how) noexcept;

    /// This is the first of its chain, and has ended: the scope goes on.
    [[nodiscard]] std::coroutine_handle<> at_boundary(ending how) noexcept;
    /// The same where the worker records it: of its own, so that others pay for a comparison alone.
    [[nodiscard]] std::coroutine_handle<> record_and_go_on(ending how) noexcept;

    /// Destroys clean-ups that were never run, since the frame is destroyed without an ending.
    void drop_cleanups() noexcept;
};
static_assert(sizeof(promise_header) == 48);

inline std::coroutine_handle<> promise_header::suspend_at(waiter& leaf) noexcept {
    edge->waiting = &leaf;
    env->executor->note_suspension(*this);
    return std::noop_coroutine();
}

inline void promise_header::complete_here() noexcept {
    edge->waiting = nullptr;
    env->executor->ready.push(*this, resume_as::coroutine, env->level);
    env->executor->note_completion(*this);
}

inline void promise_header::end_here() noexcept {
    edge->waiting = nullptr;
    env->executor->ready.push(*this, resume_as::ended, env->level);
    env->executor->note_completion(*this);
}

inline void promise_header::completed_elsewhere() noexcept {
    edge->waiting = nullptr;
    env->executor->note_completion(*this);
}

inline std::coroutine_handle<> promise_header::stop_here() noexcept {
    edge->waiting = nullptr;
    env->executor->ready.push(*this, resume_as::stopped, env->level);
    return std::noop_coroutine();
}

/// Gives the coroutine of a header an error as its result, and ends it: what a leaf under `or_return` calls.
using error_ending = void (*)(promise_header& of, std::error_code error) noexcept;

/// The number of a chain, which `this_task::id` gives; from when it is first asked for on.
[[nodiscard]] std::uint32_t number_of(boundary& chain) noexcept;

/// A promise that carries a header as its first base.
template <class Promise>
concept environment_promise = std::derived_from<Promise, promise_header>;

/// The budget is spent: `to` goes on when its turn comes. Returns nothing to run.
[[nodiscard, gnu::cold]] std::coroutine_handle<> give_way(promise_header& to, executor& worker) noexcept;

/// Passes control to `to`: symmetric transfer, or the ready queue when the budget is spent.
[[nodiscard]] inline std::coroutine_handle<> transfer(promise_header& to, executor& worker) noexcept {
    worker.current = &to;
    if (worker.hops.spend()) [[likely]]
        return to.handle();
    return give_way(to, worker);
}
[[nodiscard]] inline std::coroutine_handle<> transfer(promise_header& to) noexcept {
    return transfer(to, *to.env->executor);
}

inline std::coroutine_handle<> promise_header::at_boundary(ending const how) noexcept {
    if (env->executor->recorder != nullptr) return record_and_go_on(how);
    return edge->child_ended(*edge, *this, how);
}

inline std::coroutine_handle<> promise_header::ended(ending const how) noexcept {
    if (cleanups != nullptr) [[unlikely]]
        return run_cleanups(how);
    if (edge->root == this) return at_boundary(how);
    return transfer(*parent, *env->executor); // within a chain there is one environment
}

} // namespace pitsaw::inline v0
