#include <pitsaw/sim/check_faults.hpp>

#include "sim_subjects/table.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace ps = pitsaw;
namespace subjects = pitsaw::testing::subjects;
using namespace std::chrono_literals;
using ps::sim::fault_kind;

namespace {

class every_awaitable_under_faults : public ::testing::TestWithParam<subjects::subject> {
  protected:
    void fail_everywhere(ps::task<> (*run)(subjects::subject const&, subjects::surroundings&),
                         ps::sim::check_faults_options options = {}) {
        subjects::surroundings at;
        auto const body = [&](ps::sim::world& in) {
            at.world = &in;
            at.is_whole = false;
            return run(GetParam(), at);
        };
        options.first_seed = ps::sim::seed_from_environment(1);
        options.books = {&at.values, &at.bytes};
        bool is_first = true;
        options.verify = [&](ps::sim::run_ending) {
            return std::exchange(is_first, false) && !at.is_whole ? "it fails by itself" : "";
        };
        auto const report = ps::sim::check_faults(body, options);
        EXPECT_TRUE(report) << report;
        EXPECT_GT(report.struck(fault_kind::allocation), 0u);
        for (auto const kind : {fault_kind::allocation, fault_kind::submission, fault_kind::operation})
            EXPECT_EQ(report.struck(kind) > 0, report.points(kind) > 0) << report;
    }
};

TEST_P(every_awaitable_under_faults, leaves_nothing_behind_whatever_fails) {
    ps::sim::check_faults_options options;
    options.seeds = ps::sim::seeds_from_environment(6);
    fail_everywhere(subjects::run, options);
}

TEST_P(every_awaitable_under_faults, leaves_nothing_behind_under_a_timeout_whatever_fails) {
    ps::sim::check_faults_options options;
    options.points_max = 100;
    fail_everywhere(subjects::run_under_timeouts, options);
}

INSTANTIATE_TEST_SUITE_P(of_one_task, every_awaitable_under_faults,
                         ::testing::ValuesIn(subjects::of_one_task),
                         [](auto const& instance) { return instance.param.name; });
INSTANTIATE_TEST_SUITE_P(of_many_tasks, every_awaitable_under_faults,
                         ::testing::ValuesIn(subjects::of_many_tasks),
                         [](auto const& instance) { return instance.param.name; });

} // namespace
