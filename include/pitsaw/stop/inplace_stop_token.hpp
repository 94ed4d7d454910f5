#pragma once
#include <pitsaw/base/atomic.hpp>
#include <pitsaw/base/check.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

class inplace_stop_token;
template <class Callback> class inplace_stop_callback;
namespace detail {
class stop_callback_base;
} // namespace detail

/// Why a stop was requested; readable wherever the stop arrives.
enum class stop_reason : std::uint8_t {
    none,
    requested,
    timeout,
    shutdown,
    sibling_failed,
    sibling_won,
    peer_gone
};

/// Where a stop is requested, once, for all who hold a token of it. C++26's `std::inplace_stop_source`
/// ([stopsource.inplace]), which also carries a reason.
///
///     inplace_stop_source source;
///     inplace_stop_callback const on_stop(source.get_token(), [&] { socket.shut_down(); });
///     source.request_stop(stop_reason::timeout);       // runs the callback, here and now
///     assert(source.get_token().reason() == stop_reason::timeout);
///
/// Lifetime: outlives its callbacks and each `request_stop` (both checked); tokens may dangle if they are not
/// used. A callback must therefore not destroy the source that runs it. An owner whose callbacks may complete
/// it keeps a count of who still uses it, which a `request_stop` of its own holds too. Immovable; nothing is
/// allocated. Threads: any, for every member but the destructor. Errors: none. 24 bytes.
class inplace_stop_source {
  public:
    constexpr inplace_stop_source() noexcept = default;
    inplace_stop_source(inplace_stop_source&&) = delete;
    ~inplace_stop_source() {
        check(first_ == nullptr, "a stop source is destroyed before its callbacks: destroy them first");
        check(running_.load(std::memory_order_relaxed) == nullptr,
              "a stop source is destroyed while its request_stop runs callbacks: let that return first");
    }

    [[nodiscard]] constexpr auto get_token() const noexcept -> inplace_stop_token;
    [[nodiscard]] static constexpr auto stop_possible() noexcept -> bool { return true; }
    [[nodiscard]] auto stop_requested() const noexcept -> bool { return reason() != stop_reason::none; }

    /// The reason that the first request gave, `none` before that.
    [[nodiscard]] auto reason() const noexcept -> stop_reason {
        // Acquire, with the release of the lock in request_stop: who sees the stop sees what preceded it.
        return static_cast<stop_reason>(state_.load(std::memory_order_acquire) >> reason_shift);
    }

    /// Requests the stop, and runs the callbacks one after the other before it returns; in an order that is
    /// not specified, without a lock, with the freedom to destroy each other and themselves. False, at once,
    /// if a stop was requested before; the callbacks of that request may still be running then. `why` is not
    /// `none`.
    auto request_stop(stop_reason why = stop_reason::requested) noexcept -> bool;

    /// Lets go of the callbacks that have not run: they will not, and may be destroyed after this source. For
    /// an owner whose source ends before the frames that hold callbacks, when no request can come any more.
    /// Callbacks of other threads must have gone by then: only those of the calling one may be left.
    void release_callbacks() noexcept {
        if (first_ != nullptr) [[unlikely]]
            release_each();
    }

  private:
    friend class detail::stop_callback_base;
    using state = std::uint32_t;

    // The protocol of state_, first_ and running_; all its transitions are in
    // src/stop/inplace_stop_token.cpp.
    //
    //   bit     name     set                                  cleared
    //   0       locked   by who is about to look at or        by the same, a few instructions later
    //                    change first_ or a callback's links
    //   1 to 3  reason   with `locked`, by the first          never
    //                    request_stop; not 0 = requested
    //
    //   first_    the callbacks that wait, linked through themselves; guarded by `locked`. None is added
    //             once a reason is set: it runs in its constructor instead.
    //   running_  the callback that request_stop has taken out and runs; set with `locked` held, reset
    //             without it. A destructor that finds its callback here, on another thread, waits for this
    //             to change.
    static constexpr state locked = 1;
    static constexpr unsigned reason_shift = 1;

    void release_each() noexcept;
    [[nodiscard]] auto destroyed_itself() noexcept -> detail::stop_callback_base*;
    [[nodiscard]] auto try_add(detail::stop_callback_base& added) noexcept -> bool;
    void remove(detail::stop_callback_base& leaving) noexcept;
    auto lock() noexcept -> state;
    void unlock(state current) noexcept;

    detail::atomic<state> state_ = 0;                               // any thread
    detail::guarded<detail::stop_callback_base*> first_ = nullptr;  // whoever holds `locked`
    detail::atomic<detail::stop_callback_base*> running_ = nullptr; // request_stop; any thread waits for it
};
static_assert(sizeof(inplace_stop_source) <= 24);

/// Where a stop can be noticed: C++26's `std::inplace_stop_token` ([stoptoken.inplace]), which also tells the
/// reason.
///
///     while (!stop.stop_requested()) work();
///
/// Default-constructed it belongs to no source and is never stopped. Lifetime: a value, one pointer; used
/// only while its source lives. Threads: any. Errors: none.
class inplace_stop_token {
  public:
    template <class Callback> using callback_type = inplace_stop_callback<Callback>;

    constexpr inplace_stop_token() noexcept = default;

    /// One load; the answer stays true once it is.
    [[nodiscard]] auto stop_requested() const noexcept -> bool {
        return source_ != nullptr && source_->stop_requested();
    }
    [[nodiscard]] constexpr auto stop_possible() const noexcept -> bool { return source_ != nullptr; }
    [[nodiscard]] auto reason() const noexcept -> stop_reason {
        return source_ == nullptr ? stop_reason::none : source_->reason();
    }

    constexpr void swap(inplace_stop_token& other) noexcept { std::swap(source_, other.source_); }
    /// Equal: of the same source, or both of none.
    friend constexpr auto operator==(inplace_stop_token const&, inplace_stop_token const&) noexcept
        -> bool = default;

  private:
    friend class inplace_stop_source;
    friend class detail::stop_callback_base;
    constexpr explicit inplace_stop_token(inplace_stop_source* source) noexcept : source_(source) {}

    inplace_stop_source* source_ = nullptr; // set once
};
static_assert(sizeof(inplace_stop_token) == sizeof(void*) &&
              std::is_trivially_copyable_v<inplace_stop_token>);

constexpr auto inplace_stop_source::get_token() const noexcept -> inplace_stop_token {
    return inplace_stop_token(const_cast<inplace_stop_source*>(this));
}

namespace detail {

/// What a stop source knows of a callback.
class stop_callback_base {
  public:
    stop_callback_base(stop_callback_base&&) = delete;

  protected:
    using run_function = void (*)(stop_callback_base&) noexcept;

    stop_callback_base(inplace_stop_token token, run_function run) noexcept
        : source_(token.source_), run_(run) {}
    ~stop_callback_base() = default;

    /// From here on it may run, now if the stop was requested before.
    void attach() noexcept {
        auto* const source = source_.load(std::memory_order_relaxed); // nobody else knows this yet
        if (source == nullptr || source->try_add(*this)) return;
        source_.store(nullptr, std::memory_order_relaxed);
        run_(*this);
    }
    /// From here on it neither runs nor will.
    void detach() noexcept {
        // Acquire, with the release after a callback in request_stop: what it did is seen here.
        if (auto* const source = source_.load(std::memory_order_acquire)) source->remove(*this);
    }

  private:
    friend class pitsaw::inplace_stop_source;

    atomic<inplace_stop_source*> source_; // null from when there is nothing to remove it from: it has run
    run_function run_;                    // set once
    guarded<stop_callback_base*> next_ = nullptr; // these three: whoever holds the source's lock
    guarded<guarded<stop_callback_base*>*> link_ =
        nullptr;                  // what points to this in the source's list; null when not in it
    guarded<thread_id> runner_{}; // who runs it, means something while the source's running_ is this
};
static_assert(sizeof(stop_callback_base) <= 48);

} // namespace detail

/// Runs `Callback` once when a stop is requested, or in the constructor if it was: C++26's
/// `std::inplace_stop_callback` ([stopcallback.inplace]).
///
///     inplace_stop_callback const on_stop(token, [&] { queue.close(); });
///
/// It runs on the thread that requests the stop. When the destructor returns, the callback neither runs nor
/// will run; except where that very callback destroys it: then the destructor does not wait for itself.
///
/// Lifetime: within that of its source; one that has run, and has not been destroyed by that, needs it no
/// more. Immovable. Threads: any may construct and destroy it. The destructor waits, without limit, for a
/// callback that runs on another thread: so it must not run under a lock which that callback takes, lest both
/// wait for ever. Errors: a callback that throws ends the process. 40 bytes and those of the callback.
template <class Callback> class inplace_stop_callback : detail::stop_callback_base {
  public:
    static_assert(std::invocable<Callback> && std::destructible<Callback>);
    using callback_type = Callback;

    template <class Initializer>
        requires std::constructible_from<Callback, Initializer>
    explicit inplace_stop_callback(inplace_stop_token token, Initializer&& callback) noexcept(
        std::is_nothrow_constructible_v<Callback, Initializer>)
        : stop_callback_base(token, &run), callback_(std::forward<Initializer>(callback)) {
        attach();
    }
    ~inplace_stop_callback() { detach(); }

  private:
    static void run(stop_callback_base& self) noexcept {
        std::forward<Callback>(static_cast<inplace_stop_callback&>(self).callback_)();
    }

    Callback callback_;
};

template <class Callback>
inplace_stop_callback(inplace_stop_token, Callback) -> inplace_stop_callback<Callback>;

} // namespace pitsaw::inline v0
