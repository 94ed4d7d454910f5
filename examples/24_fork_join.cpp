// Sorts a million numbers on two workers: the smaller half and the larger are sorted side by side, while
// other tasks of the same worker go on.
#include <pitsaw/pitsaw.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

namespace ps = pitsaw;

ps::computation<> sort(std::span<std::uint32_t> numbers) {
    if (numbers.size() <= 1'000) {
        std::ranges::sort(numbers);
        co_return;
    }
    auto const half = numbers.size() / 2;
    std::ranges::nth_element(numbers, numbers.begin() + static_cast<std::ptrdiff_t>(half));
    co_await ps::fork_join(sort(numbers.first(half)), sort(numbers.subspan(half)));
}

ps::task<> sorts(std::vector<std::uint32_t>& numbers) { co_await ps::compute(sort(numbers)); }

ps::task<> goes_on(int& turns) {
    for (;; ++turns) co_await ps::this_task::yield();
}

int main() {
    ps::runtime_options options;
    options.workers = 2;
    options.scheduling = ps::scheduling::stealing;
    ps::runtime rt(options);

    std::vector<std::uint32_t> numbers(1'000'000);
    std::uint32_t next = 1;
    for (auto& each : numbers) each = next = next * 1'664'525 + 1'013'904'223;

    int turns = 0;
    auto const work = [&]() -> ps::task<> { co_await ps::when_any(sorts(numbers), goes_on(turns)); };
    if (!ps::sync_wait(rt, work()).has_value()) return 1;
    std::printf("sorted: %s, the other task had turns: %s\n", std::ranges::is_sorted(numbers) ? "yes" : "no",
                turns > 0 ? "yes" : "no");
}

// prints:
// sorted: yes, the other task had turns: yes
