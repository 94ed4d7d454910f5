// expect: deleted
#include <pitsaw/sync/semaphore.hpp>

#include <utility>

void take(pitsaw::semaphore&) {}

void move_with_its_waiters(pitsaw::semaphore& waited_for) {
#ifdef PITSAW_COMPILE_FAIL
    pitsaw::semaphore moved(std::move(waited_for));
    take(moved);
#else
    take(waited_for);
#endif
}
