// expect: sync_wait and run take a task
#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>

#include <chrono>

pitsaw::task<> job() { co_return; }
pitsaw::task<> in_a_task() { (void)co_await pitsaw::with_timeout(std::chrono::seconds(1), job()); }

int main() {
#ifdef PITSAW_COMPILE_FAIL
    return pitsaw::run(pitsaw::with_timeout(std::chrono::seconds(1), job()));
#else
    return pitsaw::run(in_a_task());
#endif
}
