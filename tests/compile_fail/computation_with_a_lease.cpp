// expect: bound to the worker that made it
#include <pitsaw/compute/compute.hpp>
#include <pitsaw/io/buffer_pool.hpp>

#ifdef PITSAW_COMPILE_FAIL
pitsaw::computation<int> counts(pitsaw::lease const&) { co_return 1; }
#else
pitsaw::computation<int> counts(int) { co_return 1; }
#endif
