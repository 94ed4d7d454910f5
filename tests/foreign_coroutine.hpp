#pragma once
#include <atomic>
#include <coroutine>
#include <exception>
#include <thread>

namespace pitsaw::testing {

/// A coroutine of another library: it starts at once, frees itself at its end and knows nothing of pitsaw.
struct foreign_coroutine {
    struct promise_type {
        foreign_coroutine get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

/// An event of another library: awaited by one coroutine, set once, by any thread, which resumes that
/// coroutine.
class foreign_event {
  public:
    foreign_event() = default;
    foreign_event(foreign_event&&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return state_.load(std::memory_order_acquire) == this; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> const waiting) noexcept {
        void* expected = nullptr;
        return state_.compare_exchange_strong(expected, waiting.address());
    }
    void await_resume() const noexcept {}

    void set() noexcept {
        void* const before = state_.exchange(this);
        if (before != nullptr && before != this) std::coroutine_handle<>::from_address(before).resume();
    }

  private:
    std::atomic<void*> state_ = nullptr; ///< any thread: nothing, who waits, or this when it is set
};

/// A thread that resumes what it is handed, one coroutine at a time.
class resuming_thread {
  public:
    resuming_thread() : thread_([this] { run(); }) {}
    resuming_thread(resuming_thread&&) = delete;
    ~resuming_thread() {
        hand(this);
        thread_.join();
    }

    /// Awaited, moves a foreign coroutine to this thread; one of ours comes back from it at once.
    class hop {
      public:
        explicit hop(resuming_thread& to) noexcept : to_(to) {}
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> const waiting) const noexcept {
            to_.hand(waiting.address());
        }
        [[nodiscard]] std::thread::id await_resume() const noexcept { return to_.thread_.get_id(); }

      private:
        resuming_thread& to_;
    };

    [[nodiscard]] hop resume_me() noexcept { return hop(*this); }
    [[nodiscard]] std::thread::id id() const noexcept { return thread_.get_id(); }

  private:
    void hand(void* const what) noexcept {
        slot_.store(what, std::memory_order_release); // pairs with the exchange in run()
        slot_.notify_one();
    }
    void run() noexcept {
        for (;;) {
            slot_.wait(nullptr, std::memory_order_relaxed);
            void* const taken = slot_.exchange(nullptr, std::memory_order_acquire);
            if (taken == this) return;
            std::coroutine_handle<>::from_address(taken).resume();
        }
    }

    std::atomic<void*> slot_ = nullptr; ///< any thread fills it, ours empties it
    std::thread thread_;                ///< last: it uses the slot
};

} // namespace pitsaw::testing
