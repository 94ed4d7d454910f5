// What a simulated world says of its runs: traces, how to run one again, and why it ends a run.
#include "sim/echo_nodes.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

TEST(world_report, the_trace_names_time_node_event_and_who_goes_on) {
    ::setenv("PITSAW_SIM_TRACE", "1", 1);
    ::testing::internal::CaptureStderr();
    {
        ps::sim::world world(with_seed(0));
        ::unsetenv("PITSAW_SIM_TRACE");
        auto& server = world.service("server", [](ps::sim::node&) { return serve_echo(); });
        world.node("client", [&](ps::sim::node&) -> ps::task<> {
            (void)co_await ask_echo(server.at(echo_port), "word");
        });
        world.run();
    }
    auto const trace = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(trace.find("client: connect on "), std::string::npos) << trace;
    EXPECT_NE(trace.find("server: receive on "), std::string::npos) << trace;
    EXPECT_NE(trace.find("client: resumes "), std::string::npos) << trace;
    EXPECT_NE(trace.find("world_report_test.cpp"), std::string::npos) << trace;
    EXPECT_NE(trace.find(" ms "), std::string::npos) << trace;
}

TEST(world_report, a_run_says_how_to_run_it_again) {
    ps::sim::world world(with_seed(77));
    auto const words = world.rerun();
    EXPECT_NE(words.find("seed 77, commit "), std::string::npos) << words;
    EXPECT_NE(words.find("PITSAW_SIM_SEED=77 "), std::string::npos) << words;
    EXPECT_NE(words.find("sim_laws"), std::string::npos) << words;
}

ps::task<> wait_for_ever() { co_await ps::sleep_until(ps::never); }

TEST(world_report_death_test, a_deadlock_names_the_nodes_and_the_seed) {
    auto const run = [] {
        ps::sim::world world(with_seed(9));
        world.node("sleepyhead", [](ps::sim::node&) { return wait_for_ever(); });
        world.run();
    };
    EXPECT_DEATH(run(), "seed 9, commit (.|\n)*node sleepyhead still runs(.|\n)*deadlock");
}

TEST(world_report_death_test, a_check_that_fails_in_a_program_says_how_to_run_it_again) {
    auto const run = [] {
        ps::sim::world world(with_seed(31));
        world.node("careless", [](ps::sim::node&) -> ps::task<> {
            co_await ps::sleep(1ms);
            ps::check(false, "two and two are five");
        });
        world.run();
    };
    EXPECT_DEATH(run(), "two and two are five(.|\n)*seed 31, commit (.|\n)*PITSAW_SIM_SEED=31");
}

TEST(world_report_death_test, a_run_without_an_end_is_found_out) {
    auto const too_long = [] {
        auto options = with_seed(0);
        options.time_max = std::chrono::hours(1);
        ps::sim::world world(options);
        world.node("clock", [](ps::sim::node&) -> ps::task<> {
            for (;;) co_await ps::sleep(1min);
        });
        world.run();
    };
    EXPECT_DEATH(too_long(), "the run goes on for too long");
    auto const too_many_steps = [] {
        auto options = with_seed(0);
        options.steps_max = 1000;
        ps::sim::world world(options);
        world.node("spinner", [](ps::sim::node&) -> ps::task<> {
            for (;;) co_await ps::this_task::yield();
        });
        world.run();
    };
    EXPECT_DEATH(too_many_steps(), "too many steps");
}

TEST(world_report_death_test, a_runtime_of_a_world_is_not_run_by_anybody_else) {
    ps::sim::world world(with_seed(0));
    EXPECT_DEATH((void)ps::sync_wait(world.get_runtime(), wait_for_ever()),
                 "world.run, not sync_wait|deadlock");
}

} // namespace
