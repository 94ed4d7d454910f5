// expect: a task or operation is awaited once: write co_await std::move\(it\)
#include <pitsaw/task/task.hpp>

#include <utility>

pitsaw::task<> await_it(pitsaw::task<> work) {
#ifdef PITSAW_COMPILE_FAIL
    co_await work;
#else
    co_await std::move(work);
#endif
}
