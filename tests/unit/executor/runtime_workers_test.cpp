#include <pitsaw/executor/runtime.hpp>

#include "observed_runtime.hpp"
#include "os/linux/cpu_affinity.hpp"
#include "run_stopped.hpp"
#include "workers.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <sys/prctl.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

auto threads_of_this_process() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                         std::filesystem::directory_iterator());
}

std::string refusal_of(ps::runtime_options options) {
    try {
        ps::runtime const rt(std::move(options));
    } catch (std::system_error const& why) {
        EXPECT_EQ(why.code(), std::errc::invalid_argument);
        return why.what();
    }
    return "none";
}

TEST(runtime_workers, numbers_of_workers_that_cannot_be_are_errors_of_the_construction) {
    auto const before = threads_of_this_process();
    EXPECT_NE(refusal_of(workers(0)).find("runtime_options::workers"), std::string::npos);
    EXPECT_NE(refusal_of(workers(1025)).find("workers_max"), std::string::npos);
    EXPECT_NE(refusal_of(workers(UINT32_MAX)).find("workers_max"), std::string::npos);
    auto stealing = workers(ps::runtime_options::stealing_workers_max + 1);
    stealing.scheduling = ps::scheduling::stealing;
    EXPECT_NE(refusal_of(stealing).find("stealing_workers_max"), std::string::npos);
    auto recorded = workers(2);
    recorded.recorder.input_bytes = 1 << 16;
    EXPECT_NE(refusal_of(recorded).find("input_bytes"), std::string::npos);
    EXPECT_THROW(ps::runtime(std::make_unique<ps::sim_driver>(ps::sim_driver_options::calm()), workers(2)),
                 std::system_error);
    EXPECT_EQ(threads_of_this_process(), before);
}

TEST(runtime_workers, as_many_as_may_steal_are_made_and_destroyed) {
    watchdog const guard;
    auto options = workers(ps::runtime_options::stealing_workers_max);
    options.scheduling = ps::scheduling::stealing;
    options.recorder.records = 0;
    ps::runtime rt(std::move(options));
    std::atomic<int> ran = 0;
    auto counts = [&](std::uint32_t) -> ps::task<> {
        ++ran;
        co_return;
    };
    auto work = [&]() -> ps::task<> { co_await ps::on_each_worker(counts); };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_EQ(ran, 56);
}

TEST(runtime_workers, never_used_they_are_destroyed_all_the_same) {
    watchdog const guard;
    auto const before = threads_of_this_process();
    for (int i = 0; i < 20; ++i) {
        ps::runtime const rt(workers(4));
        EXPECT_EQ(rt.worker_count(), 4u);
        EXPECT_EQ(threads_of_this_process(), before + 3);
    }
    EXPECT_EQ(threads_of_this_process(), before);
}

ps::task<int> on_the_other(ps::executor_ref other) {
    auto gives = []() -> ps::task<int> {
        co_await ps::this_task::yield();
        co_return 3;
    };
    co_return co_await ps::with_executor(other, gives);
}

TEST(runtime_workers, one_sync_wait_after_another_uses_the_same_workers) {
    watchdog const guard;
    ps::runtime rt(workers(2));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(ps::sync_wait(rt, on_the_other(rt.get_executor(1))).value(), 3);
}

TEST(runtime_workers, threads_have_their_name_and_number_cut_to_what_the_system_takes) {
    watchdog const guard;
    auto const name_of_this_thread = [] {
        std::array<char, 16> name{};
        prctl(PR_GET_NAME, name.data());
        return std::string(name.data());
    };
    std::mutex mutex;
    std::set<std::string> names;
    auto options = workers(3);
    options.thread_name = "a-name-that-is-long";
    options.on_thread_start = [&](std::uint32_t number) {
        std::lock_guard const lock(mutex);
        names.insert(name_of_this_thread() + "/" + std::to_string(number));
    };
    auto const own = name_of_this_thread();
    ps::runtime const rt(std::move(options));
    EXPECT_EQ(names, (std::set<std::string>{"a-name-that-i-1/1", "a-name-that-i-2/2"}));
    EXPECT_EQ(name_of_this_thread(), own);
}

TEST(runtime_workers, what_on_thread_start_throws_is_thrown_by_the_construction_and_no_thread_is_left) {
    watchdog const guard;
    auto const before = threads_of_this_process();
    auto options = workers(4);
    options.on_thread_start = [](std::uint32_t number) {
        if (number == 2) throw std::runtime_error("no licence for a third");
    };
    EXPECT_THROW(ps::runtime(std::move(options)), std::runtime_error);
    EXPECT_EQ(threads_of_this_process(), before);
}

ps::cpu_mask mask_of_this_thread() {
    ps::cpu_mask mask;
    EXPECT_EQ(ps::get_cpu_mask(mask), 0);
    return mask;
}

std::uint32_t first_cpu() {
    auto const mask = mask_of_this_thread();
    for (std::uint32_t i = 0; i < mask.bits.size(); ++i)
        if (mask.bits[i] != 0) return 64 * i + static_cast<std::uint32_t>(std::countr_zero(mask.bits[i]));
    return 0;
}

TEST(runtime_workers, pinned_they_run_on_their_processors_and_the_callers_thread_only_meanwhile) {
    watchdog const guard;
    auto const before = mask_of_this_thread();
    auto const cpu = first_cpu();
    auto options = workers(2);
    options.cpus = {cpu};
    ps::runtime rt(std::move(options));
    EXPECT_EQ(mask_of_this_thread().bits, before.bits);
    std::atomic<int> pinned = 0;
    std::optional<ps::runtime> inner;
    ps::cpu_mask of_inner;
    auto look = [&](std::uint32_t number) -> ps::task<> {
        pinned += mask_of_this_thread().bits == ps::mask_of_cpu(cpu).bits ? 1 : 0;
        if (number != 1) co_return;
        // Threads that a pinned worker starts are not pinned with it.
        auto unpinned = workers(2);
        unpinned.on_thread_start = [&](std::uint32_t) { of_inner = mask_of_this_thread(); };
        inner.emplace(std::move(unpinned));
    };
    auto work = [&]() -> ps::task<> { co_await ps::on_each_worker(look); };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_EQ(pinned, 2);
    EXPECT_EQ(of_inner.bits, before.bits);
    EXPECT_EQ(mask_of_this_thread().bits, before.bits);
}

TEST(runtime_workers, a_processor_that_there_is_not_is_an_error_of_the_construction) {
    for (auto const& cpus : {std::vector<std::uint32_t>{8'000}, {UINT32_MAX}, {first_cpu(), 8'000}}) {
        auto options = workers(2);
        options.cpus = cpus;
        EXPECT_THROW(ps::runtime(std::move(options)), std::system_error);
    }
}

TEST(runtime_workers_death, work_that_is_left_on_another_worker_is_named) {
    auto const leave_a_timer = [] {
        struct timer : ps::timer_node {
            timer() : timer_node([](timer_node&) noexcept {}) { deadline = ps::never; }
        };
        static timer waits;
        ps::runtime rt(workers(2));
        auto arm = [&]() -> ps::task<> {
            rt.get_executor(1)->timers.arm(waits);
            co_return;
        };
        auto work = [&]() -> ps::task<> { co_await ps::with_executor(rt.get_executor(1), arm); };
        (void)ps::sync_wait(rt, work());
    };
    EXPECT_DEATH(leave_a_timer(), "work that had not ended: a timer waits");
    auto const leave_a_promise = [] {
        ps::runtime rt(workers(2));
        auto promise = [&]() -> ps::task<> {
            ++rt.get_executor(1)->foreign;
            co_return;
        };
        auto work = [&]() -> ps::task<> { co_await ps::with_executor(rt.get_executor(1), promise); };
        (void)ps::sync_wait(rt, work());
    };
    EXPECT_DEATH(leave_a_promise(), "work that had not ended: a foreign coroutine");
}

TEST(runtime_workers_death, there_are_as_many_executors_as_workers) {
    auto const ask = [] {
        ps::runtime const rt(workers(2));
        (void)rt.get_executor(2);
    };
    EXPECT_DEATH(ask(), "no worker of this number");
}

// A portal from a thread, from another worker, and the group's end: each keeps its own promise.
TEST(runtime_workers, portals_and_foreign_awaits_reach_the_worker_that_they_belong_to) {
    watchdog const guard;
    ps::runtime rt(workers(3));
    std::atomic<int> at_home = 0;
    auto count = [&]() -> ps::task<> {
        at_home += rt.get_executor(2).is_current() ? 1 : 0;
        co_return;
    };
    auto inner = [&]() -> ps::task<> {
        auto body = [&](ps::task_group& group) -> ps::task<> {
            std::jthread([to = group.open_portal(), &count]() mutable {
                for (int i = 0; i < 50; ++i) to.spawn(count);
                EXPECT_TRUE(to.call(count).has_value());
            }).detach();
            auto from_there = [&count](ps::portal to) -> ps::task<> {
                for (int i = 0; i < 50; ++i) to.spawn(count);
                co_return;
            };
            group.spawn_on(rt.get_executor(1), from_there, group.open_portal());
            co_return;
        };
        co_await ps::task_group::run(body);
    };
    auto work = [&]() -> ps::task<> { co_await ps::with_executor(rt.get_executor(2), inner); };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_EQ(at_home, 101);
}

} // namespace
