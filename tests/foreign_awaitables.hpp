#pragma once
#include <coroutine>
#include <exception>
#include <thread>
#include <utility>

namespace pitsaw::testing {

/// Another library's lazy coroutine, which knows nothing of ours: started by symmetric transfer, as most are.
class foreign_coroutine {
  public:
    struct promise_type {
        std::coroutine_handle<> waiting;
        int value = 0;
        std::exception_ptr failure;

        struct back {
            bool await_ready() const noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) const noexcept {
                return self.promise().waiting;
            }
            void await_resume() const noexcept {}
        };

        foreign_coroutine get_return_object() {
            return foreign_coroutine(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        back final_suspend() const noexcept { return {}; }
        void return_value(int given) noexcept { value = given; }
        void unhandled_exception() noexcept { failure = std::current_exception(); }
    };

    foreign_coroutine(foreign_coroutine&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
    ~foreign_coroutine() {
        if (frame_) frame_.destroy();
    }

    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) noexcept {
        frame_.promise().waiting = waiting;
        return frame_;
    }
    int await_resume() {
        if (frame_.promise().failure) std::rethrow_exception(frame_.promise().failure);
        return frame_.promise().value;
    }

  private:
    explicit foreign_coroutine(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

    std::coroutine_handle<promise_type> frame_;
};

/// An awaitable that another thread completes.
struct foreign_thread {
    std::jthread thread;
    int value = 0;

    explicit foreign_thread(int gives) : value(gives) {}

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
        thread = std::jthread([waiting] { waiting.resume(); });
    }
    int await_resume() const noexcept { return value; }
};

/// An awaitable whose value is there at once, by each of the two ways to say so.
struct foreign_ready {
    bool is_ready = true;

    bool await_ready() const noexcept { return is_ready; }
    bool await_suspend(std::coroutine_handle<>) const noexcept { return false; }
    int await_resume() const noexcept { return 3; }
};

/// Ends as a sender that was stopped does.
struct foreign_stopped {
    bool await_ready() const noexcept { return false; }
    template <class Promise> void await_suspend(std::coroutine_handle<Promise> waiting) const noexcept {
        waiting.promise().unhandled_stopped().resume();
    }
    int await_resume() const noexcept { return 0; }
};

} // namespace pitsaw::testing
