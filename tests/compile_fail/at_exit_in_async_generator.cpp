// expect: at_exit inside an async_generator
#include <pitsaw/task/async_generator.hpp>
#include <pitsaw/task/at_exit.hpp>
#include <pitsaw/task/task.hpp>

pitsaw::task<> say_goodbye() { co_return; }

pitsaw::async_generator<int> numbers() {
    int const first = 1;
#ifdef PITSAW_COMPILE_FAIL
    co_await pitsaw::at_exit(say_goodbye);
#endif
    co_yield first;
}
