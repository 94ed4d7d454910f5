// expect: owns what cannot be copied
#include <pitsaw/io/buffer_pool.hpp>
#include <pitsaw/scope/task_group.hpp>

#include <utility>

void hand_over(pitsaw::task_group& group, pitsaw::lease lease, int number) {
#ifdef PITSAW_COMPILE_FAIL
    group.spawn_anywhere([owned = std::move(lease)]() -> pitsaw::task<> { co_return; });
#else
    group.spawn_anywhere([number]() -> pitsaw::task<> { co_return (void) number; });
    (void)lease;
#endif
    (void)number;
}
