// expect: (no matching member function|no matching function)
#include <pitsaw/sync/condition.hpp>

pitsaw::task<> wait_for_orders(pitsaw::condition& has_orders, pitsaw::mutex_guard& held) {
#ifdef PITSAW_COMPILE_FAIL
    auto const says_nothing = [] {};
    co_await has_orders.wait(held, says_nothing);
#else
    auto const says_yes = [] { return true; };
    co_await has_orders.wait(held, says_yes);
#endif
}
