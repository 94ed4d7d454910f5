#include "tiny_task.hpp"

// R4: a conditional expression of class type with a co_await inside.
pitsaw::task<> awaits_one_side(bool b) {
    tracked r = b ? co_await make_tracked(3) : tracked(2); // lint: R4
    (void)r;
}
pitsaw::task<> awaits_the_other_side(bool b) {
    std::string s = b ? std::string("aa") : (co_await five(), std::string("bb")); // lint: R4
    (void)s;
}
pitsaw::task<> awaits_the_condition() {
    tracked r = co_await yes() ? tracked(1) : tracked(2); // lint: R4
    (void)r;
}

// Fine.
pitsaw::task<> of_scalars(bool b) {
    int r = b ? co_await five() : 1;
    (void)r;
}
pitsaw::task<> decides_before_it_awaits(bool b) {
    auto t = b ? make_tracked(1) : make_tracked(2);
    co_await std::move(t);
}
pitsaw::task<> await_inside_a_closure_only(bool b) {
    auto l = []() -> pitsaw::task<> { co_await nothing(); };
    auto t = b ? l() : []() -> pitsaw::task<> { co_await nothing(); }();
    co_await std::move(t);
}
