// expect: a task or operation is awaited once: write co_await std::move\(it\)
#include <pitsaw/task/task.hpp>
#include <pitsaw/time/sleep.hpp>

#include <chrono>
#include <utility>

pitsaw::task<> await_it() {
    auto nap = pitsaw::sleep(std::chrono::seconds(1));
#ifdef PITSAW_COMPILE_FAIL
    co_await nap;
#else
    co_await std::move(nap);
#endif
}
