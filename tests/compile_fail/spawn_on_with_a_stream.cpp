// expect: what goes to another worker is not bound to this one
#include <pitsaw/net/tcp_stream.hpp>
#include <pitsaw/scope/task_group.hpp>

#include <utility>

pitsaw::task<> talk(pitsaw::tcp_stream) { co_return; }

void hand_over(pitsaw::task_group& group, pitsaw::executor_ref other, pitsaw::tcp_stream stream) {
#ifdef PITSAW_COMPILE_FAIL
    group.spawn_on(other, talk, std::move(stream));
#else
    group.spawn(talk, std::move(stream));
    (void)other;
#endif
}
