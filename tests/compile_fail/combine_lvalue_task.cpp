// expect: no matching function for call to .as_outcome
#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/task.hpp>

#include <utility>

pitsaw::task<> await_it(pitsaw::task<> work) {
#ifdef PITSAW_COMPILE_FAIL
    (void)co_await pitsaw::as_outcome(work);
#else
    (void)co_await pitsaw::as_outcome(std::move(work));
#endif
}
