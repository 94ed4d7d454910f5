#include "driver/epoll/driver.hpp"
#include "driver/io_uring/driver.hpp"
#include "faults/fault_plan.hpp"
#include "faults/scenario.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

/// Each call that a driver makes of its system fails once, the first, the second, ... until none is left to
/// fail.
namespace pitsaw::faults {
namespace {

auto open_descriptors() -> std::ptrdiff_t {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

struct maker {
    std::string name;
    driver_maker make;
};

auto by_epoll() -> maker {
    return {"epoll", [] { return io_result<std::unique_ptr<driver>>(epoll_driver::make()); }};
}
auto by_io_uring(std::string name, io_uring_options options) -> maker {
    return {std::move(name),
            [options] { return io_result<std::unique_ptr<driver>>(io_uring_driver::make(options)); }};
}

struct trial {
    maker by;
    row what;
    friend void PrintTo(trial const& which, std::ostream* to) {
        *to << which.by.name << ' ' << which.what.name;
    }
};

auto trials() -> std::vector<trial> {
    std::vector<trial> all;
    auto const add = [&](maker const& by, std::vector<row> const& rows) {
        for (auto const& each : rows) all.push_back({by, each});
    };
    auto const rings = {
        by_io_uring("io_uring", {}),
        by_io_uring("io_uring_without_powers", {.allowed = {false, false, false, false, false}}),
        by_io_uring("io_uring_tiny", {.submissions = 4, .completions = 4}),
    };
    add(by_epoll(), rows_of_every_driver());
    add(by_epoll(), rows_of_epoll());
    for (auto const& each : rings) {
        add(each, rows_of_every_driver());
        add(each, rows_of_io_uring());
    }
    return all;
}

class every_call : public ::testing::TestWithParam<trial> {};

TEST_P(every_call, may_fail_and_the_laws_hold) {
    auto const& [by, what] = GetParam();
    for (auto const error : what.errors) {
        arm({});
        ASSERT_EQ(run_scenario(by.make), "") << "without a fault";
        for (std::uint64_t nth = 1;; ++nth) {
            auto const before = open_descriptors();
            arm({.where = what.where, .error = error, .nth = nth});
            auto const found = run_scenario(by.make);
            auto const struck = disarm();
            ASSERT_EQ(found, "") << "call " << nth << ": " << std::strerror(error);
            ASSERT_EQ(open_descriptors(), before) << "call " << nth << ": " << std::strerror(error);
            if (!struck) break;
            ASSERT_LT(nth, 2'000U);
            RecordProperty(std::string("calls_") + std::to_string(error), static_cast<int>(nth));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(each, every_call, ::testing::ValuesIn(trials()),
                         [](auto const& which) { return which.param.by.name + "_" + which.param.what.name; });

} // namespace
} // namespace pitsaw::faults
