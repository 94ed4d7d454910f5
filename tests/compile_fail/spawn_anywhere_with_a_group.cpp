// expect: what goes to another worker is not bound to this one
#include <pitsaw/scope/task_group.hpp>

pitsaw::task<> spawn_more(pitsaw::task_group*) { co_return; }

void hand_over(pitsaw::task_group& group) {
#ifdef PITSAW_COMPILE_FAIL
    group.spawn_anywhere(spawn_more, &group);
#else
    group.spawn(spawn_more, &group);
#endif
}
