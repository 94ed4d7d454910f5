#include "tiny_task.hpp"

#include <mutex>
#include <shared_mutex>

// guard: a lock of the standard library is held while the coroutine is suspended. Another worker may resume
// it, and whoever else wants the lock meanwhile blocks a worker, perhaps the one that would resume it.
std::mutex m, n;
std::shared_mutex s;
std::recursive_mutex r;

pitsaw::task<> lock_guard() {
    std::lock_guard<std::mutex> g(m); // lint: guard
    co_await nothing();
}
pitsaw::task<> lock_guard_deduced() {
    std::lock_guard g(m); // lint: guard
    co_await nothing();
}
pitsaw::task<> unique_lock() {
    std::unique_lock g(m); // lint: guard
    co_await nothing();
}
pitsaw::task<> scoped_lock_of_two() {
    std::scoped_lock g(m, n); // lint: guard
    co_await nothing();
}
pitsaw::task<> shared_lock() {
    std::shared_lock g(s); // lint: guard
    co_await nothing();
}
pitsaw::task<> recursive() {
    std::lock_guard const g(r); // lint: guard
    co_await nothing();
}
pitsaw::task<> auto_from_a_prvalue() {
    auto g = std::unique_lock{m}; // lint: guard
    co_await nothing();
}
std::unique_lock<std::mutex> locked();
pitsaw::task<> auto_from_a_call() {
    auto g = locked(); // lint: guard
    co_await nothing();
}
pitsaw::task<> extended_by_a_reference() {
    auto&& g = locked(); // lint: guard
    (void)g;
    co_await nothing();
}
pitsaw::task<> behind_an_alias() {
    using guard = std::lock_guard<std::mutex>;
    guard g(m); // lint: guard
    co_await nothing();
}
struct derived : std::unique_lock<std::mutex> {
    using unique_lock::unique_lock;
};
pitsaw::task<> derived_from_one() {
    derived g(m); // lint: guard
    co_await nothing();
}
struct holder {
    int before;
    std::unique_lock<std::mutex> lock;
};
pitsaw::task<> member_of_a_local() {
    holder h{1, locked()}; // lint: guard
    co_await nothing();
}
pitsaw::task<> in_an_optional() {
    std::optional<std::unique_lock<std::mutex>> g(locked()); // lint: guard
    co_await nothing();
}
pitsaw::task<> in_a_nested_block(bool b) {
    if (b) {
        std::lock_guard g(m); // lint: guard
        while (b) co_await nothing();
    }
}
pitsaw::task<> in_the_initialiser_of_an_if(bool b) {
    if (std::lock_guard g(m); b) co_await nothing(); // lint: guard
}
pitsaw::task<> in_the_initialiser_of_a_switch(int k) {
    switch (std::lock_guard g(m); k) { // lint: guard
    case 1:
        co_await nothing();
    default:
        break;
    }
}
pitsaw::task<> in_the_body_of_a_loop() {
    for (int i = 0; i < 3; ++i) {
        std::lock_guard g(m); // lint: guard
        int const k = co_await five();
        (void)k;
    }
}
pitsaw::task<> in_a_try_block() {
    try {
        std::lock_guard g(m); // lint: guard
        co_await nothing();
    } catch (...) {
    }
}
pitsaw::task<int> in_the_returned_expression() {
    std::lock_guard g(m); // lint: guard
    co_return co_await five();
}
pitsaw::task<> by_value_parameter(std::unique_lock<std::mutex> g) { // lint: guard
    co_await nothing();
    g.unlock();
}
pitsaw::task<> inside_a_coroutine_lambda() {
    auto l = []() -> pitsaw::task<> {
        std::lock_guard g(m); // lint: guard
        co_await nothing();
    };
    co_await l();
}
pitsaw::generator<int> across_a_yield() {
    std::lock_guard g(m); // lint: guard
    co_yield 1;
}
int under(std::lock_guard<std::mutex> const&, int);
pitsaw::task<> as_a_temporary() {
    int k = under(std::lock_guard(m), co_await five()); // lint: guard
    (void)k;
}
template <class T> pitsaw::task<> in_a_template(T) {
    std::lock_guard g(m); // lint: guard
    co_await nothing();
}
template pitsaw::task<> in_a_template(int);
struct account {
    std::mutex m;
    pitsaw::task<> in_a_member() {
        std::lock_guard g(m); // lint: guard
        co_await nothing();
    }
};
pitsaw::task<> captured(tracked) {
    auto f = [g = locked()]() -> pitsaw::task<> { co_await nothing(); }; // lint: guard
    co_await f();
}
pitsaw::task<> second_of_two_in_one_declaration() {
    std::unique_lock<std::mutex> a, // lint: guard
        b(m);
    co_await nothing();
}

// Fine.
pitsaw::task<> closed_before() {
    {
        std::lock_guard g(m);
    }
    co_await nothing();
}
pitsaw::task<> opened_after() {
    co_await nothing();
    std::lock_guard g(m);
}
pitsaw::task<> opened_after_in_a_loop() {
    for (;;) {
        co_await nothing();
        std::lock_guard g(m);
    }
}
pitsaw::task<> inside_a_plain_lambda() {
    auto l = [] { std::lock_guard g(m); };
    l();
    co_await nothing();
}
void await_inside_a_lambda_only() {
    std::lock_guard g(m);
    auto l = []() -> pitsaw::task<> { co_await nothing(); };
    (void)l;
}
pitsaw::task<> in_the_other_branch(bool b) {
    if (b) {
        std::lock_guard g(m);
    } else {
        co_await nothing();
    }
}
pitsaw::task<> if_closed_before(bool b) {
    if (std::lock_guard g(m); b) (void)0;
    co_await nothing();
}
pitsaw::task<> temporary_in_another_expression() {
    under(std::lock_guard(m), 1);
    co_await nothing();
}
pitsaw::task<> asynchronous_lock(pitsaw::mutex& lock) {
    auto g = co_await lock.lock();
    co_await nothing();
}
pitsaw::task<> reference_to_a_mutex(std::mutex& which) {
    (void)which;
    co_await nothing();
}
pitsaw::task<std::unique_lock<std::mutex>> lock_later();
pitsaw::task<> result_of_the_await() { auto g = co_await lock_later(); }
