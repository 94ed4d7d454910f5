// From another thread into a task group, and back with the result.
#include <pitsaw/pitsaw.hpp>

#include <cstdio>
#include <thread>
#include <utility>

using namespace std::chrono_literals;
namespace ps = pitsaw;

ps::task<int> square(int n) {
    co_await ps::sleep(1ms);
    co_return n* n;
}

// A thread like any other. It may block; the worker does not.
void ask(ps::portal to_group) {
    for (int n = 1; n <= 3; ++n) {
        ps::outcome<int> answer = to_group.call(square, n);
        std::printf("%d squared is %d\n", n, answer.value());
    }
} // the portal is closed here, and only then may the group end

ps::task<> serve(std::jthread& helper) {
    auto open_up = [&helper](ps::task_group& group) -> ps::task<> {
        helper = std::jthread(ask, group.open_portal());
        co_return;
    };
    co_await ps::task_group::run(open_up);
    std::puts("the group has ended");
}

int main() {
    std::jthread helper; // outside: a task that joined it would block the worker that it waits for
    return ps::run(serve(helper));
}

// prints:
// 1 squared is 1
// 2 squared is 4
// 3 squared is 9
// the group has ended
