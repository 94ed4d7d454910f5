#include <pitsaw/scope/task_group.hpp>

#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

ps::runtime_options workers(std::uint32_t count) {
    ps::runtime_options options;
    options.workers = count;
    return options;
}

ps::task<> note_thread(std::thread::id& id) {
    co_await ps::this_task::yield();
    id = std::this_thread::get_id();
}

TEST(away_child, runs_on_the_worker_that_was_named) {
    watchdog const guard;
    ps::runtime rt(workers(3));
    std::thread::id ids[4];
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            for (std::uint32_t i = 0; i < 3; ++i) {
                auto note = [&ids, i] { return note_thread(ids[i]); };
                group.spawn_on(rt.get_executor(i), note);
            }
            EXPECT_EQ(group.size(), 3u);
            co_return;
        });
        ids[3] = std::this_thread::get_id();
    };
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_EQ(ids[0], std::this_thread::get_id());
    EXPECT_EQ(ids[3], std::this_thread::get_id());
    EXPECT_NE(ids[1], ids[0]);
    EXPECT_NE(ids[2], ids[0]);
    EXPECT_NE(ids[1], ids[2]);
}

} // namespace
