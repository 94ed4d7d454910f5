// How many primes are there below 200,000? Slices of the question are offered to all workers, who take them
// when they have nothing else to do; a strand adds up what they find.
#include <pitsaw/pitsaw.hpp>

#include <cstdint>
#include <cstdio>

namespace ps = pitsaw;

bool is_prime(std::uint32_t number) {
    for (std::uint32_t by = 2; by * by <= number; ++by)
        if (number % by == 0) return false;
    return number >= 2;
}

struct sum { // only the strand's tasks touch it
    std::uint32_t primes = 0;
    std::uint32_t slices = 0;
};

ps::task<> add(sum& to, std::uint32_t found) {
    to.primes += found;
    ++to.slices;
    co_return;
}

ps::task<> count_slice(ps::strand& turns, sum& to, std::uint32_t from) {
    std::uint32_t found = 0;
    for (std::uint32_t number = from; number < from + 1'000; ++number) found += is_prime(number) ? 1 : 0;
    co_await turns.run([&to, found] { return add(to, found); });
}

ps::task<> count_all(ps::strand& turns, sum& to) {
    co_await ps::task_group::run([&](ps::task_group& slices) -> ps::task<> {
        auto const count = [&](std::uint32_t from) { return count_slice(turns, to, from); };
        for (std::uint32_t from = 0; from < 200'000; from += 1'000) slices.spawn_anywhere(count, from);
        co_return;
    });
}

int main() {
    ps::runtime_options options;
    options.workers = 3; // this thread and two more
    options.scheduling = ps::scheduling::stealing;
    ps::runtime rt(options);
    ps::strand turns(rt.get_executor());
    sum all;
    if (!ps::sync_wait(rt, count_all(turns, all)).has_value()) return 1;
    std::printf("%u primes in %u slices\n", all.primes, all.slices);
}

// prints:
// 17984 primes in 200 slices
