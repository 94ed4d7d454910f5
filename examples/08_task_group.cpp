// A group of children, and what the failure of one means for the others.
#include <pitsaw/pitsaw.hpp>

#include <cstdio>
#include <exception>
#include <stdexcept>

using namespace std::chrono_literals;
namespace ps = pitsaw;

ps::task<> child(int number) {
    co_await ps::sleep(number * 1s);
    if (number == 2) throw std::runtime_error("child 2 broke");
    std::printf("  child %d is done\n", number);
}

ps::task<> three_children(ps::task_group& group) {
    for (int number = 1; number <= 3; ++number) group.spawn(child(number));
    co_return; // the group goes on until the last child has ended
}

ps::task<> work() {
    std::puts("stop_others: the failure is the group's");
    try {
        co_await ps::task_group::run(ps::on_failure::stop_others, three_children);
    } catch (std::exception const& failure) {
        std::printf("  caught: %s\n", failure.what());
    }

    std::puts("keep_others: the failure is reported, and the siblings go on");
    co_await ps::task_group::run(ps::on_failure::keep_others, three_children);
}

void report(std::exception_ptr lost) {
    try {
        std::rethrow_exception(lost);
    } catch (std::exception const& failure) {
        std::printf("  lost error: %s\n", failure.what());
    }
}

int main() {
    ps::runtime_options options;
    options.on_lost_error = report;
    ps::runtime rt(options);
    return ps::sync_wait(rt, work()).has_value() ? 0 : 1;
}

// prints:
// stop_others: the failure is the group's
//   child 1 is done
//   caught: child 2 broke
// keep_others: the failure is reported, and the siblings go on
//   child 1 is done
//   lost error: child 2 broke
//   child 3 is done
