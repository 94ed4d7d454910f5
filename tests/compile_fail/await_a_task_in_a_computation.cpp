// expect: a computation awaits computations
#include <pitsaw/compute/compute.hpp>
#include <pitsaw/task/task.hpp>

pitsaw::task<int> waits() { co_return 1; }
pitsaw::computation<int> computes() { co_return 1; }

pitsaw::computation<int> sum() {
    int total = co_await computes();
#ifdef PITSAW_COMPILE_FAIL
    total += co_await waits();
#endif
    co_return total;
}
