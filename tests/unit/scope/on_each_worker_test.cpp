#include <pitsaw/scope/on_each_worker.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"
#include "workers.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

TEST(on_each_worker, each_runs_it_once_with_its_own_number) {
    watchdog const guard;
    ps::runtime rt(workers(4));
    std::vector<std::thread::id> threads(4);
    std::atomic<int> wrong = 0;
    auto note = [&](std::uint32_t number) -> ps::task<> {
        if (!rt.get_executor(number).is_current()) ++wrong;
        threads[number] = std::this_thread::get_id();
        co_await ps::this_task::yield();
    };
    auto work = [&]() -> ps::task<> { co_await ps::on_each_worker(note); };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ((std::set<std::thread::id>(threads.begin(), threads.end()).size()), 4u);
    EXPECT_EQ(threads[0], std::this_thread::get_id());
}

TEST(on_each_worker, the_first_failure_stops_the_others_and_is_its_own) {
    watchdog const guard;
    ps::runtime rt(workers(3));
    auto fails = [](std::uint32_t number) -> ps::task<ps::io_result<void>> {
        if (number == 2) co_return std::unexpected(std::make_error_code(std::errc::address_in_use));
        co_await ps::sleep(ps::duration::max());
        co_return ps::io_result<void>();
    };
    auto work = [&]() -> ps::task<ps::io_result<void>> { co_return co_await ps::on_each_worker(fails); };
    auto const end = ps::sync_wait(rt, work());
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end.value().error(), std::errc::address_in_use);
}

TEST(on_each_worker, a_stop_reaches_all_of_them) {
    watchdog const guard;
    ps::runtime rt(workers(3));
    std::atomic<int> waiting = 0;
    auto waits = [&](std::uint32_t) -> ps::task<> {
        ++waiting;
        co_await ps::sleep(ps::duration::max());
    };
    auto work = [&]() -> ps::task<> { co_await ps::on_each_worker(waits); };
    std::jthread const asks([&] {
        while (waiting != 3) std::this_thread::yield();
        rt.request_stop();
    });
    EXPECT_TRUE(ps::sync_wait(rt, work()).is_stopped());
}

} // namespace
