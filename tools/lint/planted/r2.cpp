#include "tiny_task.hpp"

#include <array>

// R2: an aggregate prvalue or a closure with captures of its own, in one full-expression with a co_await.
pitsaw::task<> aggregate_by_name() {
    co_await take(aggregate{tracked(1), tracked(2)}); // lint: R2
}
pitsaw::task<> aggregate_by_braces() {
    co_await take({tracked(1), tracked(2)}); // lint: R2
}
pitsaw::task<> designated() {
    int n = co_await take({.a = tracked(1), .b = tracked(2)}); // lint: R2
    (void)n;
}
pitsaw::task<> on_a_later_line() {
    co_await take( //
        aggregate{ // lint: R2
                  tracked(1), tracked(2)});
}
pitsaw::task<int> array_argument(std::array<tracked, 2> a);
pitsaw::task<> std_array() {
    co_await array_argument(std::array<tracked, 2>{tracked(1), tracked(2)}); // lint: R2
}
pitsaw::task<> closure_that_owns(tracked x) {
    co_await call([x] { return x.value; }); // lint: R2
}
pitsaw::task<> closure_that_moved_in() {
    co_await call([p = std::make_unique<int>(1)] { return *p; }); // lint: R2
}
int plain(aggregate const&, int);
pitsaw::task<> beside_the_await() {
    int n = plain(aggregate{tracked(1), tracked(2)}, co_await five()); // lint: R2
    (void)n;
}
pitsaw::task<> in_a_condition() {
    int z = 5;
    if (co_await take({tracked(1), tracked(2)}) == z) co_return; // lint: R2
}
pitsaw::task<int> closure_in_co_return(tracked x) {
    co_return co_await call([x] { return x.value; }); // lint: R2
}

// Fine.
pitsaw::task<> named_first() {
    aggregate a{tracked(1), tracked(2)};
    co_await take(std::move(a));
}
pitsaw::task<> trivial() { co_await take_trivial({.a = 3, .b = 4}); }
pitsaw::task<> has_a_constructor() { co_await take_options({"abc", 2}); }
pitsaw::task<> closure_of_references(tracked& x, int k) {
    co_await call([&x, k] { return x.value + k; });
}
pitsaw::task<> captureless() {
    co_await call([] { return 1; });
}
pitsaw::task<> closure_named_first(tracked x) {
    auto f = [x] { return x.value; };
    co_await call(std::move(f));
}
aggregate make_plain();
pitsaw::task<> result_of_a_call() { co_await take(make_plain()); }
pitsaw::task<> two_full_expressions() {
    plain(aggregate{tracked(1), tracked(2)}, 3);
    co_await nothing();
}
void await_inside_a_closure_only() {
    tracked x;
    auto start = [](auto f, aggregate const&) { return f(); };
    auto t =
        start([x]() -> pitsaw::task<int> { co_return co_await five(); }, aggregate{tracked(1), tracked(2)});
    (void)t;
}
pitsaw::task<> aggregate_inside_a_closure_only() {
    co_await call([] { return plain(aggregate{tracked(1), tracked(2)}, 3); });
}
