#pragma once
#include "each_driver.hpp"

#include <pitsaw/base/random.hpp>
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/world.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

namespace pitsaw::testing {

/// The seed of a stress test: PITSAW_SIM_SEED repeats the one that a failing run printed.
[[nodiscard]] inline std::uint64_t stress_seed(std::uint64_t otherwise) {
    return sim::seed_from_environment(otherwise);
}
[[nodiscard]] inline std::string say_seed(std::uint64_t seed) {
    return "set PITSAW_SIM_SEED=" + std::to_string(seed) + " to repeat it";
}

/// From 0 to `most`.
[[nodiscard]] inline duration random_time(random_source& random, std::chrono::microseconds most) {
    return duration(
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(duration(most).count()))));
}

[[nodiscard]] inline bool is_timed_out(std::error_code const error) { return error == std::errc::timed_out; }

/// The descriptors of this process.
[[nodiscard]] inline std::size_t open_descriptors() {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                                  std::filesystem::directory_iterator()));
}

/// Waits until the process has as many descriptors as at the start: what was discarded is closed soon.
[[nodiscard]] inline task<std::size_t> descriptors_left(std::size_t before) {
    auto now = open_descriptors();
    for (int i = 0; i < 2000 && now > before; ++i) {
        co_await sleep(std::chrono::milliseconds(1));
        now = open_descriptors();
    }
    co_return now;
}

} // namespace pitsaw::testing
