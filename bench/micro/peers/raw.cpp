// The floor: a hand-written lazy task with symmetric transfer, frames from a free list, a ready queue in a
// ring. It has no stop, no exceptions, no environment and no bound on its stack.
#include "../meter.hpp"

#include <array>
#include <atomic>
#include <coroutine>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace {

struct free_frame {
    free_frame* next;
};
free_frame* free_frames = nullptr;
constexpr std::size_t frame_bytes = 256;

struct task {
    struct promise_type {
        std::coroutine_handle<> continuation;
        std::uint64_t value = 0;

        struct final_awaiter {
            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
                return ended.promise().continuation;
            }
            void await_resume() noexcept {}
        };

        task get_return_object() { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        final_awaiter final_suspend() noexcept { return {}; }
        void return_value(std::uint64_t result) { value = result; }
        void unhandled_exception() { std::abort(); }

        static void* operator new(std::size_t const size) {
            if (size > frame_bytes) std::abort();
            if (free_frames != nullptr) return std::exchange(free_frames, free_frames->next);
            return std::malloc(frame_bytes);
        }
        static void operator delete(void* const frame) {
            free_frames = ::new (frame) free_frame{free_frames};
        }
    };

    explicit task(std::coroutine_handle<promise_type> made) : frame(made) {}
    task(task&& other) noexcept : frame(std::exchange(other.frame, {})) {}
    ~task() {
        if (frame) frame.destroy();
    }

    bool await_ready() { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) {
        frame.promise().continuation = parent;
        return frame;
    }
    std::uint64_t await_resume() { return frame.promise().value; }

    std::coroutine_handle<promise_type> frame;
};

struct ready_ring {
    std::array<std::coroutine_handle<>, 64> entries;
    unsigned head = 0;
    unsigned tail = 0;

    void push(std::coroutine_handle<> last) { entries[tail++ % 64] = last; }
    void run() {
        while (head != tail) entries[head++ % 64].resume();
    }
} ready;

struct yield {
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> waiting) { ready.push(waiting); }
    void await_resume() {}
};

[[gnu::noinline]] task hidden_child(std::uint64_t x) { co_return x; }

task nested(std::uint64_t const count) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        sum += co_await hidden_child(i);
        keep(sum);
    }
    co_return sum;
}

task yielding(std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; ++i) co_await yield{};
    co_return 0;
}

void start(task& work) {
    work.frame.promise().continuation = std::noop_coroutine();
    ready.push(work.frame);
}

void run_nested(std::uint64_t const count) {
    auto work = nested(count);
    start(work);
    ready.run();
}

void run_yield(std::uint64_t const count) {
    auto one = yielding(count / 2);
    auto other = yielding(count / 2);
    start(one);
    start(other);
    ready.run();
}

/// The floor of a lock that another thread may want: an exchange to take it, and one to give it back, since
/// somebody may have come to wait.
void run_mutex(std::uint64_t const count) {
    static std::atomic<bool> is_locked = false;
    for (std::uint64_t i = 0; i < count; ++i) {
        keep(is_locked.exchange(true, std::memory_order_acquire));
        keep(is_locked.exchange(false, std::memory_order_acq_rel));
    }
}

} // namespace

int main(int, char** arguments) {
    std::string_view const name = arguments[1];
    auto* const run = name == "nested_hidden" ? run_nested
                      : name == "yield"       ? run_yield
                      : name == "mutex"       ? run_mutex
                                              : nullptr;
    if (run == nullptr) return 2;
    constexpr std::uint64_t count = 20'000'000;
    run(count / 100);
    double const begun = cpu_ns();
    run(count);
    print_time(cpu_ns() - begun, count);
}
