#pragma once
#include "observed_runtime.hpp"

#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>

#include <thread>
#include <utility>

namespace pitsaw::testing {

/// Runs one task on this thread and one on another, each on a runtime of its own, to their ends.
template <class First, class Second> void run_on_two_threads(First first, Second second) {
    watchdog const guard;
    std::thread other([&] {
        runtime rt;
        EXPECT_TRUE(sync_wait(rt, second()).has_value());
    });
    {
        runtime rt;
        EXPECT_TRUE(sync_wait(rt, first()).has_value());
    }
    other.join();
}

} // namespace pitsaw::testing
