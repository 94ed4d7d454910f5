// expect: at_exit takes a function or a lambda without captures
#include <pitsaw/task/at_exit.hpp>
#include <pitsaw/task/task.hpp>

pitsaw::task<> close_it(int* count) {
    ++*count;
    co_return;
}

pitsaw::task<> register_it() {
    int count = 0;
#ifdef PITSAW_COMPILE_FAIL
    auto work = [&count] { return close_it(&count); };
    co_await pitsaw::at_exit(work);
#else
    co_await pitsaw::at_exit(close_it, &count);
#endif
}
