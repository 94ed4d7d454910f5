// Another library's coroutine awaits a task of ours, and a task of ours awaits another library's awaitable.
#include <pitsaw/pitsaw.hpp>

#include <coroutine>
#include <cstdio>
#include <exception>

using namespace std::chrono_literals;
namespace ps = pitsaw;

namespace other {

// Starts at once, and nobody can await it: the plainest coroutine there is.
struct fire_and_forget {
    struct promise_type {
        fire_and_forget get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

// A value that comes later. It knows nothing of pitsaw.
class promised {
  public:
    bool await_ready() const noexcept { return is_set_; }
    void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
    int await_resume() const noexcept { return value_; }
    void set(int value) {
        value_ = value;
        is_set_ = true;
        if (waiting_) waiting_.resume();
    }

  private:
    int value_ = 0;
    bool is_set_ = false;
    std::coroutine_handle<> waiting_;
};

} // namespace other

ps::task<int> multiply(int a, int b) {
    co_await ps::sleep(1s);
    co_return a* b;
}

other::fire_and_forget compute(ps::environment const& env, other::promised& answer) {
    int const product = co_await ps::in(env, multiply(6, 7)); // runs on env's worker
    answer.set(product);
}

ps::task<> work() {
    other::promised answer;
    compute(co_await ps::this_task::get_environment(), answer);
    int const value = co_await answer; // comes back to our worker, whatever thread sets it
    std::printf("the answer is %d\n", value);
}

int main() { return ps::run(work()); }

// prints:
// the answer is 42
