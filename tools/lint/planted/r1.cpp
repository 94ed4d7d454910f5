#include "tiny_task.hpp"

// R1: a body without a declaration at its top level, one of whose statements branches on a co_await.
pitsaw::task<> if_await() {
    if (co_await yes()) co_return; // lint: R1
}
pitsaw::task<> if_compares_await(int k) {
    if (co_await five() == k) co_return; // lint: R1
}
pitsaw::task<> while_await() {
    while (co_await yes()) (void)0; // lint: R1
}
pitsaw::task<> do_await() {
    do (void)0; // lint: R1
    while (co_await yes());
}
pitsaw::task<> for_await() {
    for (; co_await yes();) (void)0; // lint: R1
}
pitsaw::task<> switch_await() {
    switch (co_await five()) { // lint: R1
    case 3:
        break;
    default:
        co_return;
    }
}
pitsaw::task<> assertion_is_no_declaration() {
    static_assert(sizeof(int) >= 2);
    if (co_await yes()) co_return; // lint: R1
}
template <class T> pitsaw::task<> in_a_template(T k) {
    if (co_await five() == k) co_return; // lint: R1
}
template pitsaw::task<> in_a_template(int);
struct functor {
    pitsaw::task<> operator()() {
        if (co_await yes()) co_return; // lint: R1
    }
};

// Fine.
pitsaw::task<> local_first() {
    int z = 0;
    if (co_await five() == z) co_return;
}
pitsaw::task<> alias_first() {
    using number = int;
    if (co_await five() == number(5)) co_return;
}
pitsaw::task<> with_an_initialiser() {
    if (auto r = co_await five(); r == 5) co_return;
}
pitsaw::task<> with_a_condition_variable() {
    if (auto r = co_await five()) (void)r;
}
pitsaw::task<> plain_await() { co_await nothing(); }
pitsaw::task<> branch_inside_a_lambda() {
    auto l = []() -> pitsaw::task<> {
        if (co_await yes()) co_return;
    };
    co_await l();
}
pitsaw::task<> await_in_the_body_only(bool b) {
    if (b) co_await nothing();
}
