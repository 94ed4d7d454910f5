// expect: what goes to another worker is not bound to this one
#include <pitsaw/net/tcp_stream.hpp>
#include <pitsaw/scope/task_group.hpp>

#include <utility>

pitsaw::task<> talk(pitsaw::tcp_stream*) { co_return; }
pitsaw::task<> take_over(pitsaw::tcp_stream) { co_return; }

void hand_over(pitsaw::task_group& group, pitsaw::executor_ref other, pitsaw::tcp_stream stream) {
#ifdef PITSAW_COMPILE_FAIL
    group.spawn_on(other, talk, &stream);
#else
    group.spawn_on(other, take_over, std::move(stream));
#endif
    (void)talk;
}
