// expect: deleted
#include <pitsaw/task/generator.hpp>

#include <coroutine>

pitsaw::generator<int> numbers() {
    int const first = 1;
#ifdef PITSAW_COMPILE_FAIL
    co_await std::suspend_never();
#endif
    co_yield first;
}
