#include <pitsaw/executor/blocking_pool.hpp>

#include "each_driver.hpp"
#include "os/linux/cpu_affinity.hpp"

#include <pitsaw/scope/task_group.hpp>
#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/scope/with_executor.hpp>
#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/blocking.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/sleep.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <latch>
#include <pthread.h>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

// The linker leads this executable's calls of pthread_create here.
namespace {
std::atomic<int> threads_until_refusal = -1; // below 0: none is refused
}
extern "C" {
int __real_pthread_create(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
int __wrap_pthread_create(pthread_t* made, pthread_attr_t const* how, void* (*run)(void*), void* with) {
    auto left = threads_until_refusal.load();
    if (left == 0) return EAGAIN;
    if (left > 0) threads_until_refusal.store(left - 1);
    return __real_pthread_create(made, how, run, with);
}
}

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using namespace std::chrono_literals;

/// The system refuses threads from the `after`th on.
struct few_threads {
    explicit few_threads(int after) { threads_until_refusal = after; }
    few_threads(few_threads&&) = delete;
    ~few_threads() { threads_until_refusal = -1; }
};

blocking_options bounded(std::uint32_t const threads, std::uint32_t const waiting = 1024) {
    blocking_options made;
    made.threads_max = threads;
    made.waiting_max = waiting;
    return made;
}

/// A job that other jobs and tasks can look at, and that ends when it is told.
struct gate {
    std::latch begun{1};
    std::latch open{1};
    std::atomic<int> calls = 0;

    int pass() {
        ++calls;
        begun.count_down();
        open.wait();
        return 7;
    }
};

task<> until_true(std::function<bool()> const holds) {
    while (!holds()) co_await sleep(100us);
}

using blocking_pool_on = on_a_driver;
INSTANTIATE_TEST_SUITE_P(blocking, blocking_pool_on, real_drivers(), name_of_driver);

task<io_result<void>> runs_few_at_a_time() {
    blocking_pool pool(bounded(3));
    std::atomic<int> now = 0, most = 0, calls = 0;
    auto const one = [&] {
        int const here = ++now;
        for (int seen = most; seen < here && !most.compare_exchange_weak(seen, here);) {
        }
        std::this_thread::yield();
        ++calls;
        --now;
    };
    auto const awaits_one = [&]() -> task<> { co_await blocking(pool, one); };
    auto const body = [&](task_group& group) -> task<> {
        for (int i = 0; i < 10'000; ++i) group.spawn(awaits_one);
        co_return;
    };
    co_await task_group::run(body);
    EXPECT_EQ(calls, 10'000);
    EXPECT_LE(most, 3);
    EXPECT_LE(pool.get_load().threads, 3u);
    EXPECT_EQ(pool.get_load().waiting + pool.get_load().running, 0u);
    co_return {};
}
TEST_P(blocking_pool_on, runs_no_more_jobs_at_a_time_than_it_may) { run(runs_few_at_a_time()); } // SC7

task<io_result<void>> counts_its_load() {
    blocking_pool pool(bounded(1, 2));
    gate first;
    std::vector<int> order;
    auto const holds = [&]() -> task<> { co_await blocking(pool, [&] { return first.pass(); }); };
    auto const next = [&](int const number) -> task<> {
        co_await blocking(pool, [&order, number] { order.push_back(number); });
    };
    auto const body = [&](task_group& group) -> task<> {
        group.spawn(holds);
        co_await until_true([&] { return pool.get_load().running == 1; });
        for (int i = 0; i < 5; ++i) group.spawn(next, i);
        co_await until_true([&] { return pool.get_load().outside == 3; });
        EXPECT_EQ(pool.get_load().waiting, 2u);
        EXPECT_EQ(pool.get_load().threads, 1u);
        first.open.count_down();
    };
    co_await task_group::run(body);
    EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4})); // first come, first served
    co_return {};
}
TEST_P(blocking_pool_on, who_comes_when_it_is_full_waits_outside_in_order) { run(counts_its_load()); }

task<io_result<void>> withdraws_from_outside() {
    blocking_pool pool(bounded(1, 1));
    gate first;
    std::atomic<int> calls = 0;
    auto const holds = [&]() -> task<> { co_await blocking(pool, [&] { return first.pass(); }); };
    auto const next = [&]() -> task<> { co_await blocking(pool, [&] { ++calls; }); };
    auto const gives_up = [&]() -> task<> {
        auto const end = co_await with_timeout(1ms, blocking(pool, [&] { calls += 100; }));
        EXPECT_EQ(end.error(), std::errc::timed_out);
    };
    auto const body = [&](task_group& group) -> task<> {
        group.spawn(holds);
        co_await until_true([&] { return pool.get_load().running == 1; });
        group.spawn(gives_up); // taken in
        group.spawn(gives_up); // the first outside
        group.spawn(next);
        co_await until_true([&] { return pool.get_load().outside == 0 && pool.get_load().waiting == 1; });
        first.open.count_down();
    };
    co_await task_group::run(body);
    EXPECT_EQ(calls, 1);
    co_return {};
}
TEST_P(blocking_pool_on, who_gives_up_waiting_lets_those_behind_it_in) { run(withdraws_from_outside()); }

task<io_result<void>> refuses() {
    auto how = bounded(1, 1);
    how.refuses_when_full = true;
    blocking_pool pool(how);
    gate first;
    auto const holds = [&]() -> task<> { co_await blocking(pool, [&] { return first.pass(); }); };
    auto const next = [&]() -> task<> { co_await blocking(pool, [] {}); };
    auto const body = [&](task_group& group) -> task<> {
        group.spawn(holds);
        co_await until_true([&] { return pool.get_load().running == 1; });
        group.spawn(next);
        co_await until_true([&] { return pool.get_load().waiting == 1; });
        auto const refused = co_await blocking(pool, []() -> io_result<int> { return 1; });
        EXPECT_EQ(refused.error(), std::errc::resource_unavailable_try_again);
        auto const thrown = co_await as_outcome(blocking(pool, [] { return 1; }));
        EXPECT_TRUE(thrown.has_exception());
        first.open.count_down();
    };
    co_await task_group::run(body);
    EXPECT_EQ((co_await blocking(pool, []() -> io_result<int> { return 1; })).value(), 1);
    co_return {};
}
TEST_P(blocking_pool_on, refuses_when_full_if_it_is_told_to) { run(refuses()); }

task<io_result<void>> lets_idle_threads_go() {
    auto how = bounded(4);
    how.idle_time = 0ns;
    blocking_pool pool(how);
    for (int round = 0; round < 20; ++round) {
        co_await blocking(pool, [] {});
        co_await until_true([&] { return pool.get_load().threads == 0; });
    }
    co_return {};
}
TEST_P(blocking_pool_on, a_thread_without_work_leaves) { run(lets_idle_threads_go()); } // SC7

task<io_result<void>> uses_an_idle_thread() {
    blocking_pool pool(bounded(8));
    for (int round = 0; round < 50; ++round) {
        co_await blocking(pool, [] {});
        // It says that it has ended before it is idle again, so wait for that.
        co_await until_true([&] { return pool.get_load().running == 0; });
    }
    EXPECT_LE(pool.get_load().threads, 8u);
    EXPECT_GE(pool.get_load().threads, 1u);
    co_return {};
}
TEST_P(blocking_pool_on, an_idle_thread_is_used_again) { run(uses_an_idle_thread()); }

task<io_result<void>> has_no_thread() {
    blocking_pool pool(bounded(4));
    {
        few_threads const none(0);
        bool was_called = false;
        auto const value = co_await blocking(pool, [&]() -> io_result<void> {
            was_called = true;
            return {};
        });
        EXPECT_EQ(value.error(), std::errc::resource_unavailable_try_again);
        auto const end = co_await as_outcome(blocking(pool, [&] { was_called = true; }));
        EXPECT_TRUE(end.has_exception());
        EXPECT_FALSE(was_called);
        EXPECT_EQ(pool.get_load().waiting, 0u);
    }
    co_await blocking(pool, [] {}); // it is no longer so
    co_return {};
}
TEST_P(blocking_pool_on, no_thread_to_be_had_is_the_awaiters_error) { run(has_no_thread()); }

task<io_result<void>> has_one_thread() {
    blocking_pool pool(bounded(4));
    few_threads const one(1);
    gate first;
    int calls = 0; // by the one thread
    auto const holds = [&]() -> task<> { co_await blocking(pool, [&] { return first.pass(); }); };
    auto const next = [&]() -> task<> { co_await blocking(pool, [&] { ++calls; }); };
    auto const body = [&](task_group& group) -> task<> {
        group.spawn(holds);
        co_await until_true([&] { return pool.get_load().running == 1; });
        for (int i = 0; i < 10; ++i) group.spawn(next);
        co_await until_true([&] { return pool.get_load().waiting == 10; });
        first.open.count_down();
    };
    co_await task_group::run(body);
    EXPECT_EQ(calls, 10);
    EXPECT_EQ(pool.get_load().threads, 1u);
    co_return {};
}
TEST_P(blocking_pool_on, a_job_without_a_thread_of_its_own_waits_for_those_that_there_are) {
    run(has_one_thread());
}

task<io_result<void>> looks_at_its_thread(cpu_mask const where, blocking_pool& pool) {
    bool is_blocked = false;
    cpu_mask there;
    co_await blocking(pool, [&] {
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        is_blocked = sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGUSR1) == 1;
        EXPECT_EQ(get_cpu_mask(there), 0);
    });
    EXPECT_TRUE(is_blocked);
    EXPECT_EQ(there.bits, where.bits);
    co_return {};
}
TEST_P(blocking_pool_on, threads_do_not_inherit_a_workers_processor_and_block_signals) {
    cpu_mask where;
    ASSERT_EQ(get_cpu_mask(where), 0);
    blocking_pool pool;
    std::uint32_t first = 0;
    while ((where.bits[first / 64] >> (first % 64) & 1) == 0) ++first;
    pinned_thread const worker(first);
    ASSERT_EQ(worker.result(), 0);
    run(looks_at_its_thread(where, pool));
}

task<io_result<void>> waits_in_jobs() {
    std::atomic<int> ended = 0;
    auto const waits = [&] {
        runtime own(make_driver(driver_name{"epoll"}));
        EXPECT_TRUE(sync_wait(own, []() -> task<> { co_await sleep(100us); }()).has_value());
        ++ended;
    };
    auto const one = [&]() -> task<> { co_await blocking(waits); };
    auto const body = [&](task_group& group) -> task<> {
        for (int i = 0; i < 30; ++i) group.spawn(one);
        co_await until_true([&] { return ended >= 3; });
        group.request_stop(); // those that have begun end, the others are withdrawn
        co_await sleep(1h);
    };
    auto const end = co_await as_outcome(task_group::run(body));
    EXPECT_TRUE(end.is_stopped() || end.has_value());
    EXPECT_GE(ended, 3);
    co_return {};
}
TEST_P(blocking_pool_on, a_job_may_run_a_runtime_of_its_own_and_a_stop_waits_for_those_that_do) {
    run(waits_in_jobs());
}

/// Where jobs of the runtime's pool and of one that a task makes may run.
task<> looks_from_a_pinned_worker(cpu_mask const where) {
    cpu_mask here;
    EXPECT_EQ(get_cpu_mask(here), 0);
    cpu_mask of_the_runtimes, of_its_own;
    co_await blocking([&] { EXPECT_EQ(get_cpu_mask(of_the_runtimes), 0); });
    blocking_pool own;
    co_await blocking(own, [&] { EXPECT_EQ(get_cpu_mask(of_its_own), 0); });
    EXPECT_EQ(of_the_runtimes.bits, where.bits);
    EXPECT_EQ(of_its_own.bits, where.bits);
}
TEST(blocking_pool, of_a_runtime_with_pinned_workers_runs_where_the_runtime_was_made) {
    cpu_mask where;
    ASSERT_EQ(get_cpu_mask(where), 0);
    std::uint32_t first = 0;
    while ((where.bits[first / 64] >> (first % 64) & 1) == 0) ++first;
    runtime_options options;
    options.workers = 2;
    options.cpus = {first};
    runtime rt([](std::uint32_t) { return make_driver(driver_name{"epoll"}); }, options);
    auto const on_both = [&]() -> task<> {
        co_await looks_from_a_pinned_worker(where);
        co_await with_executor(rt.get_executor(1), looks_from_a_pinned_worker, where);
    };
    EXPECT_TRUE(sync_wait(rt, on_both()).has_value());
}

TEST(blocking_pool, bounds_of_nothing_are_refused) {
    EXPECT_THROW(blocking_pool(bounded(0)), std::system_error);
    EXPECT_THROW(blocking_pool(bounded(1, 0)), std::system_error);
}

TEST(blocking_pool, that_nobody_used_has_no_thread) {
    few_threads const none(0);
    blocking_pool pool;
    EXPECT_EQ(pool.get_load().threads, 0u);
}

/// A job as no leaf makes it.
struct held_job : blocking_job {
    explicit held_job(gate& at) noexcept : blocking_job(pass, over), at_gate(at) {}
    static void pass(blocking_job& self) noexcept { (void)static_cast<held_job&>(self).at_gate.pass(); }
    static void over(blocking_job&, std::error_code) noexcept {}
    gate& at_gate;
};

void destroy_with_a_job() {
    gate never_opened;
    held_job job(never_opened);
    blocking_pool pool;
    pool.submit(job);
}

TEST(blocking_pool_death_test, destroyed_under_a_job_is_found_out) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(destroy_with_a_job(), "a blocking pool was destroyed while a task awaits a job of it");
}

/// Two workers share a pool, and give up at random: every job that began ended in its awaiter, none was run
/// twice, and nobody waits for ever.
task<> gives_up_at_random(blocking_pool& pool, unsigned const seed, std::atomic<int>& calls, int& values) {
    auto const one = [&](unsigned const number) -> task<> {
        std::minstd_rand random(seed * 1000 + number);
        for (int i = 0; i < 40; ++i) {
            int mine = 0;
            auto const end =
                co_await with_timeout(std::chrono::microseconds(random() % 60), blocking(pool, [&] {
                                          ++calls;
                                          return ++mine;
                                      }));
            EXPECT_EQ(mine, end.has_value() ? 1 : 0);
            values += mine;
        }
    };
    auto const body = [&](task_group& group) -> task<> {
        for (unsigned i = 0; i < 20; ++i) group.spawn(one, i);
        co_return;
    };
    co_await task_group::run(body);
}

TEST(blocking_pool, loses_no_job_when_workers_that_share_it_give_up_at_random) {
    auto how = bounded(3, 4);
    how.idle_time = 20us; // threads come and go meanwhile
    blocking_pool pool(how);
    std::atomic<int> calls = 0;
    int values[2] = {};
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < 2; ++i)
        workers.emplace_back([&, i] {
            runtime rt(make_driver({"epoll"}));
            EXPECT_TRUE(sync_wait(rt, gives_up_at_random(pool, i, calls, values[i])).has_value());
        });
    for (auto& each : workers) each.join();
    EXPECT_EQ(values[0] + values[1], calls);
    EXPECT_EQ(pool.get_load().waiting, 0u);
}

} // namespace
