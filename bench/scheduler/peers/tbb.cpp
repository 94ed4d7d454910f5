// oneTBB's task_group. tbb CASE WORKERS.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_group.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

std::uint64_t fib(std::uint64_t const n) {
    if (n < 2) return n;
    std::uint64_t a = 0;
    tbb::task_group group;
    group.run([&] { a = fib(n - 1); });
    std::uint64_t const b = fib(n - 2);
    group.wait();
    return a + b;
}

std::uint64_t skynet(std::uint64_t const first, std::uint64_t const size) {
    if (size == 1) return first;
    auto const part = size / 10;
    std::array<std::uint64_t, 10> sums{};
    tbb::task_group group;
    for (std::size_t i = 0; i < 10; ++i) group.run([&, i] { sums[i] = skynet(first + i * part, part); });
    group.wait();
    std::uint64_t sum = 0;
    for (auto const each : sums) sum += each;
    return sum;
}

constexpr std::size_t board = 10;

struct queens {
    std::array<std::uint8_t, board> columns{};
    std::size_t placed = 0;

    bool fits(std::size_t const column) const {
        for (std::size_t i = 0; i < placed; ++i) {
            auto const other = columns[i];
            auto const apart = placed - i;
            if (other == column || other + apart == column || other == column + apart) return false;
        }
        return true;
    }
    queens with(std::size_t const column) const {
        auto next = *this;
        next.columns[next.placed++] = static_cast<std::uint8_t>(column);
        return next;
    }
};

std::uint64_t nqueens(queens const& at) {
    if (at.placed == board) return 1;
    std::array<std::uint64_t, board> counts{};
    tbb::task_group group;
    std::size_t ways = 0;
    for (std::size_t column = 0; column < board; ++column)
        if (at.fits(column))
            group.run([&counts, i = ways++, next = at.with(column)] { counts[i] = nqueens(next); });
    group.wait();
    std::uint64_t count = 0;
    for (auto const each : counts) count += each;
    return count;
}

} // namespace

int main(int, char** const arguments) {
    std::string_view const name = arguments[1];
    auto const workers = static_cast<std::size_t>(std::atoi(arguments[2]));
    tbb::global_control const limit(tbb::global_control::max_allowed_parallelism, workers);
    double ms = 0;
    for (int round = 0; round < 2; ++round) {
        auto const begun = std::chrono::steady_clock::now();
        bool const is_right = name == "fib"      ? fib(32) == 2'178'309
                              : name == "skynet" ? skynet(0, 1'000'000) == 499'999'500'000
                                                 : nqueens(queens()) == 724;
        if (!is_right) return 3;
        ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
    }
    std::printf("time ms %.4f\n", ms);
}
