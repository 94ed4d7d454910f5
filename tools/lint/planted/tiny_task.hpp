#pragma once
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// The smallest coroutine types that the lints take for the real ones. The planted files are parsed, never
// run, and must not change whenever the library does.
namespace pitsaw::inline v0 {

template <class T> struct task_promise;

template <class T = void> struct task {
    using promise_type = task_promise<T>;
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    T await_resume() { return T(); }
    ~task() {}
    task() = default;
    task(task&&) noexcept {}
};

struct promise_parts {
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void unhandled_exception() noexcept {}
};
template <class T> struct task_promise : promise_parts {
    task<T> get_return_object() { return {}; }
    void return_value(T) {}
};
template <> struct task_promise<void> : promise_parts {
    task<void> get_return_object() { return {}; }
    void return_void() {}
};

template <class T> struct generator {
    struct promise_type : promise_parts {
        generator get_return_object() { return {}; }
        std::suspend_always yield_value(T) { return {}; }
        void return_void() {}
    };
};

/// An asynchronous lock, which may be held across a co_await.
struct mutex_guard {
    ~mutex_guard() {}
    mutex_guard() = default;
    mutex_guard(mutex_guard&&) noexcept {}
};
struct mutex {
    task<mutex_guard> lock();
};

} // namespace pitsaw::inline v0

/// What the planted code awaits.
struct tracked {
    tracked(int value = 0) : value(value) {}
    tracked(tracked const& other) : value(other.value) {}
    ~tracked() {}
    int value;
};
struct aggregate {
    tracked a, b;
};
struct trivial_options {
    int a = 1, b = 2;
};
struct options_with_constructor {
    options_with_constructor(std::string name = {}, int n = 1) : name(std::move(name)), n(n) {}
    std::string name;
    int n;
};

pitsaw::task<int> five();
pitsaw::task<bool> yes();
pitsaw::task<tracked> make_tracked(int);
pitsaw::task<aggregate> make_aggregate();
pitsaw::task<std::pair<std::unique_ptr<int>, int>> make_pair_of_two();
pitsaw::task<> nothing();
pitsaw::task<int> take(aggregate);
pitsaw::task<int> take_trivial(trivial_options);
pitsaw::task<int> take_options(options_with_constructor);
pitsaw::task<int> take_vector(std::vector<tracked>);
template <class F> pitsaw::task<int> call(F f) { co_return f(); }
int add(int, int);
