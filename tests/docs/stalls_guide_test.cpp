// The code of docs/guide/stalls.md; docs.snippets compares.
#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

namespace ps = pitsaw;
using namespace std::chrono_literals;

namespace {

ps::runtime_options watched() {
    ps::runtime_options options;
    options.stall.threshold = 10ms;
    return options;
}

ps::runtime_options counted(std::atomic<std::uint64_t>& stalls) {
    ps::runtime_options options;
    options.stall.threshold = 5ms;
    options.stall.on_stall = [&stalls](ps::stall_report const&) { ++stalls; }; // on the watchdog's thread
    return options;
}

TEST(stalls_guide, a_watched_runtime_runs) {
    std::atomic<std::uint64_t> stalls = 0;
    auto const work = []() -> ps::task<int> {
        co_await ps::sleep(1ms);
        co_return 7;
    };
    {
        ps::runtime first(watched()), second(counted(stalls));
        EXPECT_EQ(ps::sync_wait(first, work()).value(), 7);
        EXPECT_EQ(ps::sync_wait(second, work()).value(), 7);
    }
    EXPECT_EQ(stalls.load(), 0u);
}

} // namespace
