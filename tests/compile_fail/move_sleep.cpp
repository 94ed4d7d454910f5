// expect: deleted (constructor|function)|implicitly.deleted
#include <pitsaw/time/sleep.hpp>

#include <utility>

void take(pitsaw::sleep_awaiter&) {}

void start_and_move(pitsaw::sleep_awaiter& started) {
#ifdef PITSAW_COMPILE_FAIL
    pitsaw::sleep_awaiter moved(std::move(started));
    take(moved);
#else
    take(started);
#endif
}
