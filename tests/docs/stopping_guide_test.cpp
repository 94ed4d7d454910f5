// The rules of docs/guide/stopping.md: that they are what happens; docs.snippets compares the code. Earlier
// parts of the page have theirs in tests/unit/scope/stop_scope_guide_test.cpp, its table in
// stop_scope_boundary_table_test.cpp.
#include "observed_runtime.hpp"
#include "run_stopped.hpp"
#include "stream_pair.hpp"

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_stop.hpp>
#include <pitsaw/sim/world.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <csignal>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::bytes_of;
using ps::testing::lifetime_log;
using ps::testing::observed_runtime;
using ps::testing::run_stopped;
using ps::testing::text_of;

namespace {

// ---- No catch block runs

struct account {
    int money = 100;
};

ps::task<> pay_with_catch(account& from, account& to) {
    from.money -= 10;
    try {
        co_await ps::sleep(1s); // stopped here
    } catch (...) {
        from.money += 10; // not on a stop
        throw;
    }
    to.money += 10;
}

struct reservation {
    account& from;
    int amount;
    reservation(account& of, int money) : from(of), amount(money) { from.money -= amount; }
    reservation(reservation&&) = delete;
    ~reservation() { from.money += amount; } // on every ending
    void pay(account& to) { to.money += std::exchange(amount, 0); }
};

ps::task<> pay_with_destructor(account& from, account& to) {
    reservation kept(from, 10);
    co_await ps::sleep(1s);
    kept.pay(to);
}

TEST(stopping_guide, what_is_given_back_in_a_catch_block_is_lost_on_a_stop) {
    account from, to;
    EXPECT_TRUE(run_stopped(5ms, pay_with_catch(from, to)).is_stopped());
    EXPECT_EQ(from.money + to.money, 190);
    from = account();
    EXPECT_TRUE(run_stopped(5ms, pay_with_destructor(from, to)).is_stopped());
    EXPECT_EQ(from.money + to.money, 200);
    EXPECT_TRUE(run_stopped(5s, pay_with_destructor(from, to)).has_value());
    EXPECT_EQ(to.money, 110);
}

// ---- Where a stop is noticed

ps::task<ps::io_result<void>> file_order(ps::tcp_stream& from, std::string& orders) {
    auto const order = co_await ps::or_return(from.receive()); // completes while the stop is on its way:
    orders.append(text_of(order.bytes()));                     // this line runs,
    co_await ps::sleep(1ms);                                   // and here the task stops
    co_return {};
}

// The orders that came are in the book or still in the connection, wherever the stop came.
ps::task<> no_order_is_lost(ps::sim::world& in) {
    auto const ends = in.make_stream_pair();
    ps::tcp_stream near(in.get_runtime().get_executor(), ends.first);
    ps::tcp_stream far(in.get_runtime().get_executor(), ends.second);
    std::size_t sent = 0;
    (void)co_await ps::as_outcome(near.send_all(bytes_of("order"), sent));
    std::string orders;
    (void)co_await ps::as_outcome(file_order(far, orders));
    EXPECT_EQ(orders.size() + in.readable_bytes(ends.second), sent);
    co_await ps::sleep(0ms);
}

TEST(stopping_guide, what_a_leaf_has_completed_is_delivered) {
    EXPECT_TRUE(ps::sim::check_stop([](ps::sim::world& in) { return no_order_is_lost(in); }));
}

ps::task<> before_the_first_leaf(lifetime_log& log) {
    log.note("began");
    co_await ps::sleep(0ms); // zero, and yet a leaf
    log.note("never");
}

TEST(stopping_guide, code_before_the_first_leaf_runs_even_if_the_stop_came_first) {
    lifetime_log log;
    EXPECT_TRUE(run_stopped(ps::testing::before_the_start, before_the_first_leaf(log)).is_stopped());
    EXPECT_EQ(log.take(), "began");
}

// ---- Boundaries

ps::task<int> gives(int what, ps::duration after) {
    co_await ps::sleep(after);
    co_return what;
}

ps::task<int> first_of_two() {
    auto first = co_await ps::when_any(gives(1, 10ms), gives(2, 10ms)); // an optional for each branch
    int sum = 0;
    if (auto& one = std::get<0>(first)) sum += *one;
    if (auto& two = std::get<1>(first)) sum += *two; // the loser, if it had completed all the same
    co_return sum;
}

ps::task<int> all_or_nothing() {
    auto both = co_await ps::when_all(gives(1, 1ms), gives(2, 1h)); // stopped meanwhile: the 1 is destroyed
    co_return std::get<0>(both) + std::get<1>(both);
}

ps::task<int> what_there_is() {
    auto both = co_await ps::when_all(ps::as_outcome(gives(1, 1ms)), ps::as_outcome(gives(2, 1h)));
    int sum = 0;
    if (std::get<0>(both).has_value()) sum += std::get<0>(both).value(); // kept
    if (std::get<1>(both).has_value()) sum += std::get<1>(both).value();
    co_return sum;
}

TEST(stopping_guide, a_race_delivers_what_completed_and_when_all_only_all) {
    observed_runtime world;
    EXPECT_EQ(ps::sync_wait(world.rt, first_of_two()).value(), 3);
    EXPECT_TRUE(run_stopped(5ms, all_or_nothing()).is_stopped());
    EXPECT_EQ(run_stopped(5ms, what_there_is()).value(), 1);
}

ps::task<std::string> ask_for_at_most(ps::duration limit) {
    auto const answer = co_await ps::with_timeout(limit, gives(42, 1s)); // io_result<int>
    if (answer.has_value()) co_return std::to_string(*answer);
    co_return answer.error() == std::errc::timed_out ? "too late" : "failed";
}

ps::task<> close_slowly() { co_await ps::sleep(100ms); }

ps::task<> leaves_slowly() {
    co_await ps::at_exit(close_slowly);
    co_await ps::sleep(1h);
}

ps::task<ps::duration> time_of_a_timeout() {
    auto const start = ps::this_task::now();
    auto const end = co_await ps::with_timeout(10ms, leaves_slowly());
    EXPECT_EQ(end.error(), std::errc::timed_out);
    co_return ps::this_task::now() - start; // 110 ms
}

TEST(stopping_guide, a_timeout_is_an_error_code_and_waits_for_the_clean_ups) {
    observed_runtime world;
    EXPECT_EQ(ps::sync_wait(world.rt, ask_for_at_most(2s)).value(), "42");
    EXPECT_EQ(ps::sync_wait(world.rt, ask_for_at_most(1ms)).value(), "too late");
    EXPECT_TRUE(run_stopped(5ms, ask_for_at_most(2s)).is_stopped());
    EXPECT_EQ(ps::sync_wait(world.rt, time_of_a_timeout()).value(), 110ms);
}

ps::task<> heartbeat(int& beats) {
    for (;;) {
        co_await ps::sleep(100ms);
        ++beats;
    }
}

ps::task<> for_a_second(int& beats, lifetime_log& log) {
    co_await ps::task_group::run([&beats](ps::task_group& group) -> ps::task<> {
        group.spawn(heartbeat(beats));
        co_await ps::sleep(1s);
        group.request_stop(); // the heartbeat ends, the group has ended, and the task goes on
    });
    log.note("went on");
}

TEST(stopping_guide, a_group_that_stops_itself_lets_its_task_go_on) {
    observed_runtime world;
    lifetime_log log;
    int beats = 0;
    EXPECT_TRUE(ps::sync_wait(world.rt, for_a_second(beats, log)).has_value());
    EXPECT_EQ(log.take(), "went on");
    EXPECT_TRUE(beats == 9 || beats == 10) << beats;
}

// ---- Clean-up and shield, bounded

ps::task<> say_goodbye(lifetime_log* log) {
    ps::testing::probe const here(*log, "goodbye");
    co_await ps::sleep(1h); // nobody answers
}

ps::task<> visit(lifetime_log& log) {
    co_await ps::at_exit(say_goodbye, &log).within(200ms); // of its own; the stop does not shorten it
    co_await ps::sleep(1h);
}

TEST(stopping_guide, a_clean_up_that_hangs_is_stopped_at_its_own_limit) {
    observed_runtime world;
    lifetime_log log;
    EXPECT_TRUE(run_stopped(world.rt, 5ms, visit(log)).is_stopped());
    EXPECT_EQ(log.take(), "~goodbye");
    EXPECT_EQ(world.elapsed(), 205ms);
    ASSERT_EQ(world.lost.size(), 1u);
    EXPECT_NE(world.lost[0].find("stopped at its deadline"), std::string::npos) << world.lost[0];
}

ps::task<> commit(lifetime_log& log, ps::duration takes) {
    co_await ps::sleep(takes);
    log.note("committed");
}

ps::task<> bounded_commit(lifetime_log& log, ps::duration takes) {
    auto const done = co_await ps::shield(ps::with_timeout(2s, commit(log, takes)));
    if (!done.has_value()) log.note("gave up");
}

TEST(stopping_guide, a_shield_with_a_timeout_inside_ends) {
    observed_runtime world;
    lifetime_log log;
    EXPECT_TRUE(run_stopped(world.rt, 5ms, bounded_commit(log, 1s)).has_value());
    EXPECT_EQ(log.take(), "committed");
    observed_runtime another;
    EXPECT_TRUE(run_stopped(another.rt, 5ms, bounded_commit(log, 1h)).has_value());
    EXPECT_EQ(log.take(), "gave up");
    EXPECT_EQ(another.elapsed(), 2s);
}

// ---- Reasons

ps::task<> session(lifetime_log& log) {
    auto const end = co_await ps::as_outcome(ps::sleep(1h));
    switch (end.reason()) {
    case ps::stop_reason::shutdown:
        log.note("server goes down");
        break;
    case ps::stop_reason::timeout:
        log.note("client was idle");
        break;
    case ps::stop_reason::sibling_failed:
        log.note("another part failed");
        break;
    default:
        log.note("stopped");
        break;
    }
}

ps::task<> idle_session(lifetime_log& log) { (void)co_await ps::with_timeout(1s, session(log)); }

ps::task<ps::io_result<void>> fails_soon() {
    co_await ps::sleep(1ms);
    co_return std::unexpected(std::make_error_code(std::errc::io_error));
}

ps::task<ps::io_result<void>> beside_a_failure(lifetime_log& log) {
    co_return co_await ps::task_group::run([&log](ps::task_group& group) -> ps::task<ps::io_result<void>> {
        group.spawn(session(log));
        group.spawn(fails_soon());
        co_return {};
    });
}

ps::task<> note_reason(ps::stop_reason& into) {
    auto const end = co_await ps::as_outcome(ps::sleep(1h));
    into = end.reason();
}

ps::task<int> three_more_reasons() {
    int right = 0;
    auto why = ps::stop_reason::none;
    (void)co_await ps::when_any(gives(1, 1ms), note_reason(why));
    if (why == ps::stop_reason::sibling_won) ++right;
    co_await ps::task_group::run([&why](ps::task_group& group) -> ps::task<> {
        group.spawn(note_reason(why));
        co_await ps::sleep(1ms);
        group.request_stop();
    });
    if (why == ps::stop_reason::requested) ++right;
    auto const by_itself = co_await ps::as_outcome(ps::testing::stops_itself());
    if (by_itself.is_stopped() && by_itself.reason() == ps::stop_reason::none) ++right;
    co_return right;
}

TEST(stopping_guide, a_stop_says_why) {
    observed_runtime world;
    lifetime_log log;
    EXPECT_TRUE(ps::sync_wait(world.rt, idle_session(log)).has_value());
    EXPECT_EQ(log.take(), "client was idle");
    EXPECT_EQ(ps::sync_wait(world.rt, beside_a_failure(log)).value().error(), std::errc::io_error);
    EXPECT_EQ(log.take(), "another part failed");
    EXPECT_EQ(ps::sync_wait(world.rt, three_more_reasons()).value(), 3);
    EXPECT_TRUE(run_stopped(world.rt, 5ms, session(log), ps::stop_reason::shutdown).has_value());
    EXPECT_EQ(log.take(), "server goes down");
}

} // namespace
