#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/scope/stop_scope.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

// The snippets of docs/guide/stopping.md, and that they do what the page says; those of its later rules
// are in tests/docs/stopping_guide_test.cpp. The test docs.snippets sees to it that the page shows them.

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

using log_of_words = lifetime_log;
using guard = probe;

struct ledger {
    lifetime_log& log;
    explicit ledger(lifetime_log& to) : log(to) {}
    void roll_back() { log.note("rolled back"); }
    void commit() { log.note("committed"); }
    ps::task<> flush() {
        co_await ps::sleep(1ms);
        log.note("flushed");
    }
    ps::task<> commit_slowly() {
        co_await ps::sleep(10ms);
        commit();
    }
};

// clang-format off
struct commit_unless_something_went_wrong {
    ledger& book;
    int exceptions_before = std::uncaught_exceptions();
    explicit commit_unless_something_went_wrong(ledger& of) : book(of) {}
    ~commit_unless_something_went_wrong() {
        bool const failed = std::uncaught_exceptions() > exceptions_before;
        if (failed || ps::this_task::is_unwinding()) book.roll_back();
        else book.commit();
    }
};
// clang-format on

TEST(stopping_guide, a_commit_guard_knows_a_stop_when_it_asks) {
    observed_runtime world;
    lifetime_log log;
    ledger book(log);
    auto work = [&](ps::duration span, bool throws) -> ps::task<> {
        commit_unless_something_went_wrong const at_the_end(book);
        try {
            co_await ps::sleep(span);
        } catch (...) {
            log.note("caught");
        }
        if (throws) throw std::runtime_error("boom");
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work(1ms, false)).has_value());
    EXPECT_TRUE(ps::sync_wait(world.rt, work(1ms, true)).has_exception());
    EXPECT_TRUE(run_stopped(world.rt, 1ms, work(1h, false)).is_stopped());
    EXPECT_EQ(log.take(), "committed rolled back rolled back");
}

ps::task<> holds_a_lock(log_of_words& log, bool throws = false) {
    guard const here(log, "lock");
    co_await ps::sleep(throws ? 1ms : 1h);
    throw std::runtime_error("boom");
}

ps::task<> parent(log_of_words& log) {
    auto child = holds_a_lock(log);
    guard const later(log, "guard");
    co_await std::move(child);
}

ps::task<> parent_of_a_thrower(log_of_words& log) {
    auto child = holds_a_lock(log, true);
    guard const later(log, "guard");
    co_await std::move(child);
}

ps::task<> in_place(log_of_words& log, bool throws) {
    guard const later(log, "guard");
    co_await holds_a_lock(log, throws);
}

TEST(stopping_guide, the_locals_of_a_named_task_outlive_a_later_guard_on_a_stop_alone) {
    observed_runtime world;
    lifetime_log log;
    EXPECT_TRUE(ps::sync_wait(world.rt, parent_of_a_thrower(log)).has_exception());
    EXPECT_EQ(log.take(), "~lock ~guard");
    EXPECT_TRUE(ps::sync_wait(world.rt, in_place(log, true)).has_exception());
    EXPECT_EQ(log.take(), "~lock ~guard");
    EXPECT_TRUE(run_stopped(world.rt, 5ms, parent(log)).is_stopped());
    EXPECT_EQ(log.take(), "~guard ~lock");
    EXPECT_TRUE(ps::sync_wait(world.rt, in_place(log, false)).is_stopped());
    EXPECT_EQ(log.take(), "~lock ~guard");
}

class connection {
  public:
    explicit connection(lifetime_log& to) : log(&to) {}
    ps::task<> async_close() {
        co_await ps::sleep(1ms);
        log->note("closed");
    }
    lifetime_log* log;
};

ps::task<> talk(connection& link) {
    probe const here(*link.log, "talk");
    co_await ps::sleep(1h);
}

TEST(stopping_guide, clean_ups_run_on_a_stop) {
    observed_runtime world;
    lifetime_log log;
    auto book = std::make_shared<ledger>(log);
    // clang-format off
    auto work = [&]() -> ps::task<> {
        co_await ps::at_exit([](std::shared_ptr<ledger> of) -> ps::task<> { co_await of->flush(); }, book);
        co_await ps::with(connection(log), [](connection& link) -> ps::task<> { co_await talk(link); });
    };
    // clang-format on
    EXPECT_TRUE(run_stopped(world.rt, 5ms, work()).is_stopped());
    EXPECT_EQ(log.take(), "~talk closed flushed");
}

TEST(stopping_guide, a_shielded_commit_is_not_torn) {
    observed_runtime world;
    lifetime_log log;
    auto book = std::make_shared<ledger>(log);
    auto work = [&]() -> ps::task<> {
        co_await ps::shield(book->commit_slowly());
        co_await ps::sleep(0ms);
        log.note("never");
    };
    EXPECT_TRUE(run_stopped(world.rt, 5ms, work()).is_stopped());
    EXPECT_EQ(log.take(), "committed");
}

ps::task<> job() { co_await ps::sleep(1h); }

TEST(stopping_guide, a_stop_can_be_data) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<> {
        auto end = co_await ps::as_outcome(job());
        if (end.is_stopped()) log.note("stopped: still here to say so");
    };
    EXPECT_TRUE(run_stopped(world.rt, 5ms, work()).has_value());
    EXPECT_EQ(log.take(), "stopped: still here to say so");
}

TEST(stopping_guide, a_loop_that_swallows_stops_is_named_in_the_log_and_others_still_run) {
    observed_runtime world;
    int others = 0;
    auto spins = [&]() -> ps::task<> {
        for (int i = 0; i < 5000; ++i) {
            auto end = co_await ps::as_outcome(job());
            (void)end;
        }
    };
    auto other = [&]() -> ps::task<> {
        for (int i = 0; i < 50; ++i) {
            (void)co_await ps::as_outcome(ps::this_task::yield());
            ++others;
        }
    };
    auto both = [&]() -> ps::task<> { co_await ps::when_all(spins(), other()); };
    EXPECT_TRUE(run_stopped(world.rt, before_the_start, both()).has_value());
    EXPECT_EQ(others, 50);
    ASSERT_EQ(world.lines.size(), 1u);
    EXPECT_NE(world.lines[0].find("1000 stops in a row"), std::string::npos);
    auto breaks = []() -> ps::task<> {
        int rounds = 0;
        for (;;) {
            auto end = co_await ps::as_outcome(job());
            if (end.is_stopped()) break;
            ++rounds;
        }
        EXPECT_EQ(rounds, 0);
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, breaks()).has_value());
}

ps::task<> handle_one() { co_await ps::sleep(1ms); }

void feed(ps::portal to) {
    while (!to.get_stop_token().stop_requested()) (void)to.call(handle_one);
}

TEST(stopping_guide, a_thread_with_a_portal_watches_the_token) {
    watchdog const dog;
    observed_runtime world;
    auto work = []() -> ps::task<> {
        co_await ps::task_group::run([](ps::task_group& group) -> ps::task<> {
            std::thread(feed, group.open_portal()).detach();
            co_await ps::sleep(20ms);
            group.request_stop();
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
}

} // namespace
