// expect: deleted (constructor|function)
#include <pitsaw/io/operation.hpp>

#include <utility>

void take(pitsaw::operation&) {}

void start_and_move(pitsaw::operation& started) {
#ifdef PITSAW_COMPILE_FAIL
    pitsaw::operation moved(std::move(started));
    take(moved);
#else
    take(started);
#endif
}
