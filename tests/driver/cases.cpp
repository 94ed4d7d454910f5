#include "driver/epoll/driver.hpp"
#include "driver/io_uring/driver.hpp"
#include "driver/laws.hpp"
#include "driver/posix_subject.hpp"
#include "driver/recording/driver.hpp"
#include "driver/sim_subject.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace pitsaw::laws {
namespace {

auto sim_case(std::string name, sim_driver_options options) -> driver_case {
    return {"sim_" + std::move(name), [options] { return std::make_unique<sim_subject>(options); }};
}

auto epoll_case(std::string name, posix_options options) -> driver_case {
    return {std::move(name),
            [options] { return std::make_unique<posix_subject>(epoll_driver::make().value(), options); }};
}

/// Behind a driver that writes everything down, until its memory is full.
auto recorded(std::unique_ptr<driver> own, std::span<std::byte> memory) -> std::unique_ptr<driver> {
    static input_room room; // of all that are made: nobody reads it
    return std::make_unique<recording_driver>(std::move(own), memory, room);
}

} // namespace

auto driver_cases() -> std::vector<driver_case> {
    std::vector<driver_case> cases;
    cases.push_back(sim_case("calm", sim_driver_options::calm()));
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        sim_driver_options seeded;
        seeded.seed = seed;
        cases.push_back(sim_case("seed_" + std::to_string(seed), seeded));
    }
    sim_driver_options options;
    options.seed = 5;
    auto const with = [&](char const* name, auto change) {
        auto changed = options;
        change(changed);
        cases.push_back(sim_case(name, changed));
    };
    with("one_byte_streams", [](auto& o) { o.stream_capacity = 1; });
    with("tiny_streams", [](auto& o) { o.stream_capacity = 7; });
    with("always_late", [](auto& o) { o.late_percent = 100; });
    with("always_short", [](auto& o) { o.short_percent = 100; });
    with("always_inline", [](auto& o) { o.inline_percent = 100; });
    with("never_inline", [](auto& o) { o.inline_percent = 0; });
    with("cancel_always_too_late", [](auto& o) { o.cancel_late_percent = 100; });
    with("multishot_of_one", [](auto& o) { o.multishot_ends_percent = 100; });
    cases.push_back(epoll_case("epoll", {}));
    static std::array<std::byte, std::size_t{1} << 16> memory; // of all that are made: nobody reads it
    cases.push_back({"epoll_recorded", [] {
                         return std::make_unique<posix_subject>(
                             recorded(epoll_driver::make().value(), memory), posix_options{});
                     }});
    cases.push_back(epoll_case("epoll_small_buffers", {.buffer_bytes = 1})); // the kernel's minimum: some KiB
    auto const ring = [&](char const* name, auto change) {
        io_uring_options ring_options;
        change(ring_options);
        cases.push_back({name, [ring_options] {
                             return std::make_unique<posix_subject>(
                                 io_uring_driver::make(ring_options).value(), posix_options{});
                         }});
    };
    ring("io_uring", [](auto&) {});
    cases.push_back({"io_uring_recorded", [] {
                         return std::make_unique<posix_subject>(
                             recorded(io_uring_driver::make().value(), memory), posix_options{});
                     }});
    ring("io_uring_without_registered_ring_fd", [](auto& o) { o.allowed.registered_ring_fd = false; });
    ring("io_uring_without_buffer_rings", [](auto& o) { o.allowed.buffer_rings = false; });
    ring("io_uring_without_multishot_accept", [](auto& o) { o.allowed.multishot_accept = false; });
    ring("io_uring_without_multishot_receive", [](auto& o) { o.allowed.multishot_receive = false; });
    ring("io_uring_without_message_wake", [](auto& o) { o.allowed.message_wake = false; });
    ring("io_uring_tiny_rings", [](auto& o) {
        o.submissions = 4;
        o.completions = 16;
    });
    return cases;
}

INSTANTIATE_TEST_SUITE_P(each, driver_laws, ::testing::ValuesIn(driver_cases()),
                         [](auto const& which) { return which.param.name; });

} // namespace pitsaw::laws
