#include <pitsaw/task/foreign_awaitable.hpp>

#include <pitsaw/scope/when_all.hpp>
#include <pitsaw/scope/when_any.hpp>
#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/async_generator.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>
#include <pitsaw/task/this_task.hpp>

#include "foreign_coroutine.hpp"
#include "lifetime_log.hpp"
#include "run_stopped.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <coroutine>
#include <stdexcept>
#include <thread>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using namespace std::chrono_literals;

// ---- The three forms of await_suspend, each completing at once, inline or later

enum class completes { without_suspending, inline_in_suspend, by_declining, on_another_thread };

template <class Returned> class foreign {
  public:
    foreign(completes how, resuming_thread& thread) : how_(how), thread_(thread) {}

    bool await_ready() const noexcept { return how_ == completes::without_suspending; }
    Returned await_suspend(std::coroutine_handle<> waiting) {
        auto const how = how_;
        if (how == completes::on_another_thread) (void)thread_.resume_me().await_suspend(waiting);
        if (how == completes::inline_in_suspend) waiting.resume();
        if constexpr (std::is_same_v<Returned, bool>)
            return how != completes::by_declining;
        else if constexpr (!std::is_void_v<Returned>)
            return how == completes::by_declining ? waiting : std::noop_coroutine();
    }
    int await_resume() const noexcept { return 1; }

  private:
    completes how_;
    resuming_thread& thread_;
};

template <class Returned> task<int> await_every_way(resuming_thread& thread) {
    auto const here = std::this_thread::get_id();
    int sum = 0;
    for (int i = 0; i < 100; ++i)
        for (auto const how : {completes::without_suspending, completes::inline_in_suspend,
                               completes::by_declining, completes::on_another_thread}) {
            if (std::is_void_v<Returned> && how == completes::by_declining) continue;
            sum += co_await foreign<Returned>(how, thread);
            if (std::this_thread::get_id() != here) ADD_FAILURE();
        }
    co_return sum;
}

TEST(foreign_awaitable, completes_in_each_form_of_await_suspend) {
    resuming_thread thread;
    EXPECT_EQ(sync_wait(await_every_way<void>(thread)).value(), 300);
    EXPECT_EQ(sync_wait(await_every_way<bool>(thread)).value(), 400);
    EXPECT_EQ(sync_wait(await_every_way<std::coroutine_handle<>>(thread)).value(), 400);
}

// ---- operator co_await

struct with_member {
    struct awaiter {
        bool await_ready() const noexcept { return true; }
        void await_suspend(std::coroutine_handle<>) const noexcept {}
        int await_resume() const noexcept { return value; }
        int value;
    };
    awaiter operator co_await() && noexcept { return {10}; }
    awaiter operator co_await() & noexcept { return {20}; }
};
struct with_free {};
with_member::awaiter operator co_await(with_free&&) noexcept { return {30}; }

task<int> await_operators() {
    with_member named;
    int sum = co_await with_member();
    sum += co_await named; // a foreign awaitable may be awaited as an lvalue
    sum += co_await with_free();
    co_return sum;
}

TEST(foreign_awaitable, is_found_through_member_and_free_operators) {
    EXPECT_EQ(sync_wait(await_operators()).value(), 60);
}

// ---- A foreign task: a coroutine that ours starts by symmetric transfer

class foreign_task {
  public:
    struct promise_type {
        std::coroutine_handle<> continuation;
        int value = 0;
        foreign_task get_return_object() noexcept {
            return foreign_task(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        struct last {
            bool await_ready() const noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) const noexcept {
                return self.promise().continuation;
            }
            void await_resume() const noexcept {}
        };
        last final_suspend() const noexcept { return {}; }
        void return_value(int given) noexcept { value = given; }
        void unhandled_exception() noexcept { std::terminate(); }
    };
    foreign_task(foreign_task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
    ~foreign_task() {
        if (frame_) frame_.destroy();
    }
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) noexcept {
        frame_.promise().continuation = waiting;
        return frame_;
    }
    int await_resume() const noexcept { return frame_.promise().value; }

  private:
    explicit foreign_task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
    std::coroutine_handle<promise_type> frame_;
};

foreign_task compute(int value) { co_return value; }
foreign_task compute_elsewhere(resuming_thread& thread, int value) {
    (void)co_await thread.resume_me();
    co_return value;
}
task<int> await_foreign_tasks(resuming_thread& thread) {
    int sum = co_await compute(1);
    sum += co_await compute_elsewhere(thread, 2);
    co_return sum;
}
task<int> await_them_together(resuming_thread& thread) {
    auto const all = co_await when_all(compute(1), compute_elsewhere(thread, 2), compute(3));
    auto const any = co_await when_any(compute(4), compute(5));
    auto const end = co_await as_outcome(compute(6));
    co_return std::get<0>(all) + std::get<1>(all) + std::get<2>(all) + std::get<0>(any).value_or(0) +
        (end.has_value() ? 6 : 0);
}

TEST(foreign_awaitable, may_be_a_coroutine_that_awaiting_starts) {
    resuming_thread thread;
    EXPECT_EQ(sync_wait(await_foreign_tasks(thread)).value(), 3);
}

TEST(foreign_awaitable, may_be_a_branch_of_a_scope) {
    resuming_thread thread;
    EXPECT_EQ(sync_wait(await_them_together(thread)).value(), 16);
}

// ---- Failures

struct throws_in {
    enum place { ready, suspend, resume } where;
    explicit throws_in(place at) : where(at) {}
    bool await_ready() const {
        if (where == ready) throw std::runtime_error("ready");
        return false;
    }
    bool await_suspend(std::coroutine_handle<>) const {
        if (where == suspend) throw std::runtime_error("suspend");
        return false;
    }
    void await_resume() const {
        if (where == resume) throw std::runtime_error("resume");
    }
};
task<> await_what_throws(throws_in::place where) { co_await throws_in(where); }
task<> await_what_throws_in_a_scope(throws_in::place where) {
    auto const end = co_await as_outcome(throws_in(where));
    if (end.has_exception()) std::rethrow_exception(end.exception());
}
struct never_set {
    [[nodiscard]] std::coroutine_handle<> start(promise_header&) noexcept { return std::noop_coroutine(); }
    void await_resume() const noexcept {}
};
task<> throw_then_wait_for_ever() {
    try {
        co_await throws_in(throws_in::suspend);
    } catch (std::runtime_error const&) {
        EXPECT_EQ(std::uncaught_exceptions(), 0);
    }
    co_await never_set();
}

TEST(foreign_awaitable, what_its_awaiter_throws_reaches_the_coroutine) {
    for (auto const where : {throws_in::ready, throws_in::suspend, throws_in::resume}) {
        EXPECT_THROW((void)sync_wait(await_what_throws(where)).value(), std::runtime_error);
        EXPECT_THROW((void)sync_wait(await_what_throws_in_a_scope(where)).value(), std::runtime_error);
    }
}

TEST(foreign_awaitable_death_test, after_a_throwing_await_suspend_nobody_is_waited_for) {
    EXPECT_DEATH((void)sync_wait(throw_then_wait_for_ever()), "deadlock: every task waits");
}

// ---- Stopping

class sender_that_stops { // P2300: set_stopped calls unhandled_stopped of the coroutine that awaits
  public:
    explicit sender_that_stops(std::thread* on = nullptr) : on_(on) {}
    bool await_ready() const noexcept { return false; }
    template <class Promise> void await_suspend(std::coroutine_handle<Promise> waiting) const {
        if (on_ == nullptr)
            waiting.promise().unhandled_stopped().resume();
        else
            *on_ = std::thread([waiting] { waiting.promise().unhandled_stopped().resume(); });
    }
    void await_resume() const noexcept { ADD_FAILURE(); }

  private:
    std::thread* on_;
};
task<> await_sender(lifetime_log& log, std::thread* on) {
    probe const local(log, "local");
    co_await sender_that_stops(on);
    log.note("NEVER");
}
task<bool> see_the_stop(lifetime_log& log, std::thread* on) {
    auto const end = co_await as_outcome(await_sender(log, on));
    auto const direct = co_await as_outcome(sender_that_stops());
    co_return end.is_stopped() && end.reason() == stop_reason::none&& direct.is_stopped();
}

TEST(foreign_awaitable, a_sender_may_end_with_stopped) {
    lifetime_log log;
    EXPECT_TRUE(sync_wait(see_the_stop(log, nullptr)).value());
    EXPECT_EQ(log.take(), "~local");
    std::thread other;
    EXPECT_TRUE(sync_wait(see_the_stop(log, &other)).value());
    EXPECT_EQ(log.take(), "~local");
    other.join();
}

task<> count_starts(int& starts) {
    struct counts {
        explicit counts(int& number) : starts(number) {}
        bool await_ready() const noexcept { return false; }
        bool await_suspend(std::coroutine_handle<>) const noexcept {
            ++starts;
            return false;
        }
        void await_resume() const noexcept {}
        int& starts;
    };
    co_await counts(starts);
}

TEST(foreign_awaitable, is_not_started_once_a_stop_was_requested) {
    int starts = 0;
    EXPECT_TRUE(run_stopped(before_the_start, count_starts(starts)).is_stopped());
    EXPECT_EQ(starts, 0);
    EXPECT_TRUE(run_stopped(1s, count_starts(starts)).has_value());
    EXPECT_EQ(starts, 1);
}

task<> stop_while_waiting(runtime& rt, foreign_event& event, lifetime_log& log) {
    probe const local(log, "local");
    co_await event;
    log.note(rt.get_executor().is_current() ? "delivered" : "?");
    co_await this_task::yield();
    log.note("NEVER");
}

TEST(foreign_awaitable, a_stop_does_not_reach_inside_and_its_result_is_delivered) {
    lifetime_log log;
    runtime rt = simulated_runtime();
    foreign_event event;
    std::thread other([&] {
        rt.request_stop();
        event.set();
    });
    // The event comes after the stop, or the stop was there before the start; either way the task ends
    // stopped.
    EXPECT_TRUE(sync_wait(rt, stop_while_waiting(rt, event, log)).is_stopped());
    other.join();
    auto const seen = log.take();
    EXPECT_TRUE(seen == "delivered ~local" || seen == "~local") << seen;
}

async_generator<int> yields_after_foreign(resuming_thread& thread) {
    for (int i = 0; i < 3; ++i) {
        (void)co_await thread.resume_me();
        co_yield i;
    }
}
task<int> consume(resuming_thread& thread) {
    auto values = yields_after_foreign(thread);
    int sum = 0;
    while (auto const value = co_await values.next()) sum += *value;
    co_return sum;
}

TEST(foreign_awaitable, may_be_awaited_by_an_async_generator) {
    resuming_thread thread;
    EXPECT_EQ(sync_wait(consume(thread)).value(), 3);
}

// ---- Threads

[[gnu::noinline]] void set_errno(int value) { errno = value; }
[[gnu::noinline]] int get_errno() { return errno; }
thread_local int mark_of_this_thread = 0;
[[gnu::noinline]] int& mark() { return mark_of_this_thread; }

task<int> hop_and_look(resuming_thread& thread, runtime& rt) {
    auto const home = std::this_thread::get_id();
    mark() = 42;
    int wrong = 0;
    for (int i = 0; i < 1000; ++i) {
        set_errno(i);
        auto const there = co_await thread.resume_me();
        if (there == home || std::this_thread::get_id() != home) ++wrong;
        if (!rt.get_executor().is_current() || mark() != 42) ++wrong;
        set_errno(i);
        if (get_errno() != i) ++wrong;
    }
    co_return wrong;
}

TEST(foreign_awaitable, a_task_is_back_on_its_worker_after_each) { // CL8
    resuming_thread thread;
    runtime rt = simulated_runtime();
    EXPECT_EQ(sync_wait(rt, hop_and_look(thread, rt)).value(), 0);
}

task<int> ping_pong(resuming_thread& thread, int rounds) {
    int back = 0;
    for (int i = 0; i < rounds; ++i) {
        (void)co_await thread.resume_me();
        ++back;
    }
    co_return back;
}

TEST(foreign_awaitable, two_threads_hand_a_task_to_each_other) { // CL7, LW1
    resuming_thread thread;
    runtime rt = simulated_runtime();
    EXPECT_EQ(sync_wait(rt, ping_pong(thread, 20'000)).value(), 20'000);
}

} // namespace
