// expect: ignoring return(ed)? value
#include <pitsaw/task/task.hpp>

#include <utility>

pitsaw::task<> work() { co_return; }

void call_it() {
#ifdef PITSAW_COMPILE_FAIL
    work();
#else
    auto const kept = work();
#endif
}
