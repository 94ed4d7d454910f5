#include <pitsaw/task/task.hpp>

#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/time/sleep.hpp>

#include "lifetime_log.hpp"
#include "run_stopped.hpp"

#include <gtest/gtest.h>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using namespace std::chrono_literals;

task<> wait_in_the_middle(lifetime_log& log) {
    probe const outer(log, "outer");
    log.note("waits");
    co_await sleep(100ms);
    log.note("went on");
}

TEST(task, a_stop_destroys_the_locals_and_resumes_nothing) {
    lifetime_log log;
    EXPECT_TRUE(run_stopped(20ms, wait_in_the_middle(log)).is_stopped());
    EXPECT_EQ(log.take(), "waits ~outer");
    EXPECT_TRUE(run_stopped(101ms, wait_in_the_middle(log)).has_value());
}

} // namespace
