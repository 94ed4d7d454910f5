#include <pitsaw/pitsaw.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <sys/resource.h>

namespace ps = pitsaw;

// pitsaw_scheduler CASE WORKERS: one round of a case, after one that warms up; prints `time UNIT VALUE`.

namespace {

using task = ps::task<std::uint64_t>;

ps::computation<std::uint64_t> fib(std::uint64_t const n) {
    if (n < 2) co_return n;
    auto const both = co_await ps::fork_join(fib(n - 1), fib(n - 2));
    auto const& [a, b] = both;
    co_return a + b;
}

ps::computation<> skynet(std::uint64_t& sum, std::uint64_t const first, std::uint64_t const size) {
    if (size == 1) {
        sum = first;
        co_return;
    }
    auto const part = size / 10;
    std::array<std::uint64_t, 10> sums{};
    co_await ps::fork_join(10, [&](std::size_t const i) { return skynet(sums[i], first + i * part, part); });
    sum = 0;
    for (auto const each : sums) sum += each;
}

constexpr std::size_t board = 10;

struct queens {
    std::array<std::uint8_t, board> columns{};
    std::size_t placed = 0;

    [[nodiscard]] bool fits(std::size_t const column) const {
        for (std::size_t i = 0; i < placed; ++i) {
            auto const other = columns[i];
            auto const apart = placed - i;
            if (other == column || other + apart == column || other == column + apart) return false;
        }
        return true;
    }
    [[nodiscard]] queens with(std::size_t const column) const {
        auto next = *this;
        next.columns[next.placed++] = static_cast<std::uint8_t>(column);
        return next;
    }
};

ps::computation<> nqueens(std::uint64_t& count, queens const at) {
    if (at.placed == board) {
        count = 1;
        co_return;
    }
    std::array<std::uint64_t, board> counts{};
    std::array<std::size_t, board> fitting{};
    std::size_t ways = 0;
    for (std::size_t column = 0; column < board; ++column)
        if (at.fits(column)) fitting[ways++] = column;
    co_await ps::fork_join(ways,
                           [&](std::size_t const i) { return nqueens(counts[i], at.with(fitting[i])); });
    count = 0;
    for (auto const each : counts) count += each;
}

task run_fib() { co_return co_await ps::compute(fib(32)); }
task run_skynet() {
    std::uint64_t sum = 0;
    co_await ps::compute(skynet(sum, 0, 1'000'000));
    co_return sum;
}
task run_nqueens() {
    std::uint64_t count = 0;
    co_await ps::compute(nqueens(count, queens()));
    co_return count;
}

constexpr std::uint64_t spawned = 1'000'000;

ps::task<> trivial(std::uint64_t& count) {
    ++count;
    co_return;
}
task run_spawn_join() {
    std::uint64_t count = 0;
    for (std::uint64_t done = 0; done < spawned; done += 100)
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            for (int i = 0; i < 100; ++i) group.spawn(trivial(count));
            co_return;
        });
    co_return count;
}

constexpr std::uint64_t yields = 2'000'000;

ps::task<> yielding(std::uint64_t& count) {
    for (std::uint64_t i = 0; i < yields / 2; ++i, ++count) co_await ps::this_task::yield();
}
task run_yield() {
    std::uint64_t count = 0;
    co_await ps::when_all(yielding(count), yielding(count));
    co_return count;
}

constexpr std::uint64_t items = 10'000'000;
constexpr std::size_t room = 1'024;

ps::task<> produce(ps::channel<std::uint64_t>& to, std::uint64_t const count) {
    for (std::uint64_t i = 0; i < count; ++i) (void)co_await to.send(1);
}
task consume(ps::channel<std::uint64_t>& from) {
    std::uint64_t sum = 0;
    for (;;) {
        auto const item = co_await from.receive();
        if (!item) co_return sum;
        sum += *item;
    }
}

/// `Pairs` producers and as many consumers; the producers on the last worker, the consumers on this one.
template <std::uint64_t Pairs> task run_channel() {
    ps::channel<std::uint64_t> between(room);
    std::array<std::uint64_t, Pairs> sums{};
    co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
        auto const here = (co_await ps::this_task::get_environment()).executor;
        auto const receives = [&](std::uint64_t& sum) -> ps::task<> { sum = co_await consume(between); };
        auto const sends = [&]() -> ps::task<> {
            co_await ps::task_group::run([&](ps::task_group& producers) -> ps::task<> {
                for (std::uint64_t i = 0; i < Pairs; ++i) producers.spawn(produce(between, items / Pairs));
                co_return;
            });
            between.close();
        };
        for (auto& sum : sums) group.spawn(receives(sum));
        group.spawn_on(*here.workers().back(), sends);
    });
    std::uint64_t all = 0;
    for (auto const each : sums) all += each;
    co_return all;
}

constexpr std::uint64_t exchanges = 100'000;

ps::task<> echo(ps::channel<std::uint64_t>& from, ps::channel<std::uint64_t>& to) {
    for (std::uint64_t i = 0; i < exchanges; ++i) {
        auto const ball = co_await from.receive();
        (void)co_await to.send(*ball + 1);
    }
}
/// A ball between two tasks, one on each of the first and the last worker.
task run_ping_pong() {
    ps::channel<std::uint64_t> there(1);
    ps::channel<std::uint64_t> back(1);
    std::uint64_t hits = 0;
    co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
        auto const here = (co_await ps::this_task::get_environment()).executor;
        auto const returns = [&]() { return echo(there, back); };
        group.spawn_on(*here.workers().back(), returns);
        for (std::uint64_t i = 0; i < exchanges; ++i) {
            (void)co_await there.send(hits);
            hits = *co_await back.receive();
        }
    });
    co_return hits;
}

constexpr std::uint64_t sleepers = 100'000;

ps::task<> sleeps(std::uint64_t const number, std::uint64_t& woken) {
    co_await ps::sleep(std::chrono::microseconds(1'000 + number % 1'000));
    ++woken;
}
/// So many tasks that each sleep for 1 to 2 ms.
task run_timers() {
    std::uint64_t woken = 0;
    co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
        for (std::uint64_t i = 0; i < sleepers; ++i) group.spawn(sleeps(i, woken));
        co_return;
    });
    co_return woken;
}

void compute_for(std::chrono::nanoseconds const how_long) {
    auto const until = std::chrono::steady_clock::now() + how_long;
    while (std::chrono::steady_clock::now() < until) {
    }
}

/// How long after its spawn a child begins whose worker goes on to compute for half a second (SC2).
ps::task<> run_stolen_start() {
    std::chrono::steady_clock::time_point begun;
    std::chrono::steady_clock::time_point spawned_at;
    auto const child = [&]() -> ps::task<> {
        begun = std::chrono::steady_clock::now();
        co_return;
    };
    co_await ps::sleep(std::chrono::milliseconds(20)); // the others have gone to sleep
    co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
        spawned_at = std::chrono::steady_clock::now();
        group.spawn_anywhere(child);
        compute_for(std::chrono::milliseconds(500));
        co_return;
    });
    std::printf("delay ms %.4f\n", std::chrono::duration<double, std::milli>(begun - spawned_at).count());
}

/// How often a thread goes to sleep for each of 2,000 tasks a second that take 5 us, anywhere (SC3).
ps::task<> run_switches() {
    constexpr int count = 4'000;
    auto const child = []() -> ps::task<> {
        compute_for(std::chrono::microseconds(5));
        co_return;
    };
    rusage before{};
    rusage after{};
    co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
        getrusage(RUSAGE_SELF, &before);
        ps::interval every(std::chrono::microseconds(500));
        for (int i = 0; i < count; ++i) {
            (void)co_await every.tick();
            group.spawn_anywhere(child);
        }
    });
    getrusage(RUSAGE_SELF, &after);
    std::printf("switches_per_task count %.3f\n",
                static_cast<double>(after.ru_nvcsw - before.ru_nvcsw) / count);
}

struct told {
    std::string_view name;
    ps::task<> (*run)(); ///< prints its figures
};
constexpr std::array others{told{"stolen_start", run_stolen_start}, told{"switches", run_switches}};

struct measured {
    std::string_view name;
    task (*run)();
    std::uint64_t result;
    std::uint64_t operations; ///< 0: the whole is timed
};

constexpr std::array cases{
    measured{"fib", run_fib, 2'178'309, 0},
    measured{"skynet", run_skynet, 499'999'500'000, 0},
    measured{"nqueens", run_nqueens, 724, 0},
    measured{"spawn_join", run_spawn_join, spawned, spawned},
    measured{"yield", run_yield, yields, yields},
    measured{"channel_1_to_1", run_channel<1>, items, items},
    measured{"channel_4_to_4", run_channel<4>, items, items},
    measured{"ping_pong", run_ping_pong, exchanges, exchanges},
    measured{"timers", run_timers, sleepers, sleepers},
};

ps::runtime_options thieves(std::uint32_t const workers) {
    ps::runtime_options options;
    options.workers = workers;
    options.scheduling = ps::scheduling::stealing;
    return options;
}

int measure(measured const& what, std::uint32_t const workers) {
    ps::runtime rt(thieves(workers));
    double ns = 0;
    for (int round = 0; round < 2; ++round) {
        auto const begun = std::chrono::steady_clock::now();
        if (ps::sync_wait(rt, what.run()).value() != what.result) return 3;
        ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begun).count();
    }
    if (what.operations == 0)
        std::printf("time ms %.4f\n", ns / 1e6);
    else
        std::printf("time ns/op %.3f\n", ns / static_cast<double>(what.operations));
    return 0;
}

} // namespace

int main(int const count, char** const arguments) {
    if (count != 3) return 2;
    auto const workers = static_cast<std::uint32_t>(std::atoi(arguments[2]));
    for (auto const& each : others)
        if (each.name == arguments[1]) return ps::run(each.run(), thieves(workers));
    for (auto const& each : cases)
        if (each.name == arguments[1]) return measure(each, workers);
    return 2;
}
