#include "tiny_task.hpp"

#include <initializer_list>
#include <string>

// R3: a std::initializer_list in one full-expression with a co_await.
pitsaw::task<> vector_from_braces() {
    co_await take_vector({tracked(1), tracked(2)}); // lint: R3
}
pitsaw::task<> vector_by_name() {
    co_await take_vector(std::vector<tracked>{1, 2, 3}); // lint: R3
}
pitsaw::task<> elements_are_awaited() {
    std::vector<int> v{co_await five(), co_await five()}; // lint: R3
    (void)v;
}
pitsaw::task<> objects_are_awaited() {
    std::vector<tracked> v{co_await make_tracked(1), co_await make_tracked(2)}; // lint: R3
    (void)v;
}
int sum(std::initializer_list<tracked>, int);
pitsaw::task<> beside_the_await() {
    int n = sum({tracked(1), tracked(2)}, co_await five()); // lint: R3
    (void)n;
}
pitsaw::task<int> list_argument(std::initializer_list<std::string>);
pitsaw::task<> list_itself() {
    co_await list_argument({"a", "b"}); // lint: R3
}

// Fine.
pitsaw::task<> named_first() {
    std::vector<tracked> v{1, 2, 3};
    co_await take_vector(std::move(v));
}
pitsaw::task<> in_the_range_of_a_loop() {
    for (auto& t : std::vector<tracked>{1, 2}) {
        (void)t;
        co_await nothing();
    }
}
pitsaw::task<> inside_a_closure_only() {
    co_await call([] { return int(std::vector<tracked>{1, 2}.size()); });
}
