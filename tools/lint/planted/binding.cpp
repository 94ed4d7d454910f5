#include "tiny_task.hpp"

// binding: GCC 15 and 16 leak the hidden object of a structured binding that is taken by value straight from
// a co_await when the frame is destroyed while it is suspended.
pitsaw::task<> pair_by_value() {
    auto [a, b] = co_await make_pair_of_two(); // lint: binding
    (void)a, (void)b;
    co_await nothing();
}
pitsaw::task<> aggregate_by_const_value() {
    auto const [a, b] = co_await make_aggregate(); // lint: binding
    (void)a, (void)b;
}
pitsaw::task<> in_braces() {
    auto [a, b]{co_await make_aggregate()}; // lint: binding R5
    (void)a, (void)b;
}
pitsaw::task<> through_a_constructor() {
    auto [a, b] = std::pair(co_await make_pair_of_two()); // lint: binding
    (void)a, (void)b;
}
pitsaw::task<> in_a_nested_coroutine() {
    auto l = []() -> pitsaw::task<> {
        auto [a, b] = co_await make_aggregate(); // lint: binding
        (void)a, (void)b;
    };
    co_await l();
}

// Fine.
pitsaw::task<> named_first() {
    auto both = co_await make_pair_of_two();
    auto& [a, b] = both;
    (void)a, (void)b;
}
pitsaw::task<> reference_to_the_temporary() {
    auto&& [a, b] = co_await make_pair_of_two();
    (void)a, (void)b;
}
pitsaw::task<> no_await() {
    auto [a, b] = std::pair(1, 2);
    (void)a, (void)b;
    co_await nothing();
}
