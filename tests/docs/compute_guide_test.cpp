// The code of docs/guide/compute.md; docs.snippets compares.
#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

namespace ps = pitsaw;

namespace {

ps::computation<std::uint64_t> fib(std::uint64_t n) {
    if (n < 2) co_return n;
    auto const both = co_await ps::fork_join(fib(n - 1), fib(n - 2));
    auto const& [a, b] = both;
    co_return a + b;
}

ps::task<> prints() {
    std::uint64_t const number = co_await ps::compute(fib(20));
    std::printf("%llu\n", static_cast<unsigned long long>(number));
}

ps::runtime_options on_all_cores() {
    ps::runtime_options options;
    options.workers = std::max(1U, std::thread::hardware_concurrency());
    options.scheduling = ps::scheduling::stealing;
    return options;
}

ps::task<double> dot(std::vector<double> const& x, std::vector<double> const& y) {
    auto const product = [&](std::size_t i) { return x[i] * y[i]; };
    co_return co_await ps::compute(ps::parallel_reduce(std::size_t{0}, x.size(), 0.0, product, std::plus()));
}

ps::task<ps::io_result<std::uint64_t>> within(ps::duration limit) {
    co_return co_await ps::with_timeout(limit, ps::compute(fib(20)));
}

TEST(compute_guide, its_programs_work) {
    ps::runtime rt(on_all_cores());
    testing::internal::CaptureStdout();
    EXPECT_TRUE(ps::sync_wait(rt, prints()).has_value());
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "6765\n");
    std::vector<double> const x(1000, 2.0);
    std::vector<double> const y(1000, 0.5);
    EXPECT_EQ(ps::sync_wait(rt, dot(x, y)).value(), 1000.0);
    EXPECT_EQ(ps::sync_wait(rt, within(std::chrono::hours(1))).value(), 6765u);
}

} // namespace
