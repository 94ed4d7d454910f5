#pragma once
#include "observed_runtime.hpp"

#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>

#include <latch>
#include <thread>
#include <utility>

namespace pitsaw::testing {

/// Runs one task on this thread and one on another, each on a runtime of its own (`make()`), to their ends.
template <class First, class Second, class Make>
void run_on_two_threads(First first, Second second, Make make) {
    watchdog const guard;
    std::latch both_are_there(2); // else the first is often done before the other begins
    std::thread other([&] {
        runtime rt = make();
        both_are_there.arrive_and_wait();
        EXPECT_TRUE(sync_wait(rt, second()).has_value());
    });
    {
        runtime rt = make();
        both_are_there.arrive_and_wait();
        EXPECT_TRUE(sync_wait(rt, first()).has_value());
    }
    other.join();
}
template <class First, class Second> void run_on_two_threads(First first, Second second) {
    run_on_two_threads(first, second, [] { return runtime(); });
}

} // namespace pitsaw::testing
