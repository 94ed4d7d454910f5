// expect: deleted|implicitly.deleted
#include <pitsaw/sync/mutex.hpp>

#include <utility>

void keep(pitsaw::mutex_guard) {}

void give_away(pitsaw::mutex_guard& held) {
#ifdef PITSAW_COMPILE_FAIL
    keep(held);
#else
    keep(std::move(held));
#endif
}
