// expect: an over-aligned result cannot live in a coroutine frame
#include <pitsaw/task/task.hpp>

#ifdef PITSAW_COMPILE_FAIL
struct alignas(64) line {
    int value;
};
#else
struct alignas(16) line {
    int value;
};
#endif

pitsaw::task<line> make_line() { co_return line(1); }
