// The three endings of a task as data: a value, an exception, stopped.
#include <pitsaw/pitsaw.hpp>

#include <cstdio>
#include <stdexcept>

using namespace std::chrono_literals;
namespace ps = pitsaw;

ps::task<int> job(int n) {
    co_await ps::sleep(1s);
    if (n == 0) throw std::invalid_argument("nothing to divide by");
    co_return 100 / n;
}

void show(ps::outcome<int> end) {
    if (end.is_stopped())
        std::printf("stopped, %s\n",
                    end.reason() == ps::stop_reason::timeout ? "by a timeout" : "for another reason");
    else if (end.has_exception())
        std::puts("threw");
    else
        std::printf("gave %d\n", end.value());
}

ps::task<> patient() {
    show(co_await ps::as_outcome(job(4)));
    show(co_await ps::as_outcome(job(0)));
    show(co_await ps::as_outcome(job(5))); // the timeout below comes while this one runs
    // The stop stays requested: this task goes on, but its next leaf stops too.
    co_await ps::this_task::yield();
    std::puts("never printed");
}

ps::task<> work() {
    auto end = co_await ps::with_timeout(2500ms, patient());
    std::puts(end ? "patient ended by itself" : "patient was stopped");
}

int main() { return ps::run(work()); }

// prints:
// gave 25
// threw
// stopped, by a timeout
// patient was stopped
