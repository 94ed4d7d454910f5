#include "tiny_task.hpp"

#include <tuple>

// R5: an aggregate or an array built from the results of co_await.
pitsaw::task<> aggregate_of_results() {
    aggregate a{co_await make_tracked(1), co_await make_tracked(2)}; // lint: R5
    (void)a;
}
pitsaw::task<> array_of_results() {
    tracked list[2] = {co_await make_tracked(1), co_await make_tracked(2)}; // lint: R5
    (void)list;
}
pitsaw::task<> designated_result() {
    aggregate a{.a = co_await make_tracked(1), .b = 2}; // lint: R5
    (void)a;
}
pitsaw::task<> on_the_heap() {
    std::unique_ptr<aggregate> p(new aggregate{co_await make_tracked(1), 2}); // lint: R5
    (void)p;
}

// Fine.
pitsaw::task<> tuple_of_results() {
    std::tuple t(co_await make_tracked(1), co_await make_tracked(2));
    (void)t;
}
pitsaw::task<> one_scalar_in_braces() {
    int n{co_await five()};
    (void)n;
}
pitsaw::task<> constructor_in_braces() {
    options_with_constructor o{"a", co_await five()};
    (void)o;
}
struct callbacks {
    pitsaw::task<> (*run)();
};
pitsaw::task<> await_inside_a_closure_only() {
    callbacks c{.run = []() -> pitsaw::task<> { co_await nothing(); }};
    co_await c.run();
}
