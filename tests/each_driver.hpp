#pragma once
#include "driver/epoll/driver.hpp"
#include "driver/io_uring/driver.hpp"
#include "driver/sim/driver.hpp"

#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace pitsaw::testing {

/// What a test that runs on several drivers is told.
struct driver_name {
    char const* name;
};

/// The driver of that name; the simulated one takes its choices from `seed`.
[[nodiscard]] inline std::unique_ptr<driver> make_driver(driver_name const which, std::uint64_t seed = 1) {
    auto const wanted = std::string(which.name);
    if (wanted == "sim") return std::make_unique<sim_driver>(sim_driver_options{.seed = seed});
    if (wanted == "epoll") {
        auto made = epoll_driver::make();
        if (made) return std::move(*made);
        throw std::system_error(made.error(), wanted);
    }
    auto made = io_uring_driver::make();
    if (made) return std::move(*made);
    throw std::system_error(made.error(), wanted);
}

/// Runs a body on the driver that the test was told; its errors are failures.
class on_a_driver : public ::testing::TestWithParam<driver_name> {
  protected:
    static void run(task<io_result<void>> work) {
        runtime rt(make_driver(GetParam()));
        auto const end = sync_wait(rt, std::move(work));
        ASSERT_TRUE(end.has_value());
        EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
    }
};

[[nodiscard]] inline auto name_of_driver(::testing::TestParamInfo<driver_name> const& instance) {
    return std::string(instance.param.name);
}

[[nodiscard]] inline auto real_drivers() {
    return ::testing::Values(driver_name{"io_uring"}, driver_name{"epoll"});
}
[[nodiscard]] inline auto every_driver() {
    return ::testing::Values(driver_name{"io_uring"}, driver_name{"epoll"}, driver_name{"sim"});
}

} // namespace pitsaw::testing
