// The second half of docs/guide/stopping.md: what was half done, who asks, what a stop cannot reach, and how
// it is by hand. docs.snippets compares.
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

// ---- What was half done

struct upload {
    std::string bytes;
    std::size_t sent = 0; // what the system has taken, on every ending
};

ps::task<ps::io_result<void>> go_on(ps::tcp_stream& to, upload& what) {
    co_await ps::or_return(to.send_all(bytes_of(what.bytes), what.sent));
    co_return {};
}

ps::task<ps::io_result<std::string>> next_message(ps::buffered_reader<ps::tcp_stream>& reader) {
    auto const head = co_await ps::or_return(reader.read_exactly(1));
    auto const length = std::to_integer<std::size_t>(head[0]);
    auto const all = co_await ps::or_return(reader.read_exactly(length)); // stopped here, the head is gone:
    co_return std::string(text_of(all));                                  // two reads are two pieces
}

ps::task<ps::io_result<std::string>> next_line(ps::buffered_reader<ps::tcp_stream>& reader) {
    auto const line = co_await ps::or_return(reader.read_line()); // stopped here, nothing is gone
    co_return std::string(line);
}

constexpr std::string_view long_text = "a line that does not fit into one send of the simulated network\n";

// Whatever is stopped wherever: asked again by who has the stream, the upload goes on where it stopped.
ps::task<> upload_in_two_attempts(ps::sim::world& in) {
    auto const ends = in.make_stream_pair();
    ps::tcp_stream near(in.get_runtime().get_executor(), ends.first);
    ps::tcp_stream far(in.get_runtime().get_executor(), ends.second);
    upload what;
    what.bytes = long_text;
    (void)co_await ps::as_outcome(go_on(near, what));
    EXPECT_EQ(in.readable_bytes(ends.second), what.sent);
    co_await ps::or_return(go_on(near, what)); // a stop of the whole ends it here
    ps::buffered_reader reader{far};
    auto first = co_await ps::as_outcome(next_line(reader));
    if (first.is_stopped()) co_await ps::sleep(0ms);
    EXPECT_EQ(*first.value(), long_text.substr(0, long_text.size() - 1));
}

TEST(stopping_guide, an_upload_and_a_line_go_on_where_they_were_stopped) {
    EXPECT_TRUE(ps::sim::check_stop([](ps::sim::world& in) { return upload_in_two_attempts(in); }));
}

ps::task<ps::io_result<std::string>> impatient_message(ps::sim::world& in, bool by_line) {
    auto const ends = in.make_stream_pair();
    ps::tcp_stream near(in.get_runtime().get_executor(), ends.first);
    ps::tcp_stream far(in.get_runtime().get_executor(), ends.second);
    ps::buffered_reader reader{far};
    co_await ps::or_return(near.send_all(bytes_of("\x03"
                                                  "a")));
    ps::io_result<std::string> early;
    if (by_line)
        early = co_await ps::with_timeout(1s, next_line(reader));
    else
        early = co_await ps::with_timeout(1s, next_message(reader));
    EXPECT_EQ(early.error(), std::errc::timed_out);
    co_await ps::or_return(near.send_all(bytes_of("bc\n")));
    co_return co_await next_line(reader);
}

TEST(stopping_guide, one_read_of_a_reader_loses_nothing_and_between_two_a_local_does) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        ps::sim::world_options options;
        options.seed = seed;
        ps::sim::world whole(options);
        EXPECT_EQ(whole.run(impatient_message(whole, true)).value().value(), "\x03"
                                                                             "abc");
        ps::sim::world parted(options);
        EXPECT_EQ(parted.run(impatient_message(parted, false)).value().value(), "abc");
    }
}

ps::task<> reads_what_is_there(ps::sim::world& in, lifetime_log& log) {
    auto const ends = in.make_stream_pair();
    ps::tcp_stream near(in.get_runtime().get_executor(), ends.first);
    ps::tcp_stream far(in.get_runtime().get_executor(), ends.second);
    ps::buffered_reader reader{far};
    co_await ps::or_return(near.send_all(bytes_of("one\ntwo\n")));
    log.note(co_await ps::or_return(next_line(reader)));
    in.get_runtime().request_stop();
    log.note(co_await ps::or_return(next_line(reader)));
    co_await ps::sleep(0ms);
    log.note("never");
}

TEST(stopping_guide, what_a_reader_has_in_memory_is_no_leaf) {
    ps::sim::world_options options;
    options.is_calm = true; // both lines come in one receive
    ps::sim::world world(options);
    lifetime_log log;
    EXPECT_TRUE(world.run(reads_what_is_there(world, log)).is_stopped());
    EXPECT_EQ(log.take(), "one two");
}

// ---- Shutdown

ps::task<> serve() {
    std::raise(SIGINT); // Ctrl-C
    for (;;) co_await ps::sleep(1s);
}

int serve_until_ctrl_c() {
    ps::runtime rt;
    ps::stop_on_signals const signals(rt);
    ps::outcome<void> end = ps::sync_wait(rt, serve());
    return end.has_exception() ? 1 : 0; // stopped: 0
}

TEST(stopping_guide, ctrl_c_is_a_stop) {
    ps::testing::watchdog const dog;
    EXPECT_EQ(serve_until_ctrl_c(), 0);
}

// ---- What a stop cannot reach

ps::task<int> sum_up(int count, bool waits) {
    int sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += i;
        if (waits && i % 100 == 0) co_await ps::this_task::yield(); // here it can be stopped
    }
    co_return sum;
}

TEST(stopping_guide, a_computation_is_stopped_where_it_yields_and_else_not) {
    EXPECT_TRUE(run_stopped(ps::testing::before_the_start, sum_up(1000, false)).has_value());
    EXPECT_TRUE(run_stopped(ps::testing::before_the_start, sum_up(1000, true)).is_stopped());
}

ps::task<int> blocks_its_thread(ps::sim::world& in) {
    in.advance(1h); // stands for a call that blocks
    co_return 1;
}

TEST(stopping_guide, a_timeout_does_not_end_a_call_that_blocks) {
    ps::sim::world world;
    auto work = [&]() -> ps::task<ps::duration> {
        auto const start = ps::this_task::now();
        auto const end = co_await ps::with_timeout(1s, blocks_its_thread(world));
        EXPECT_EQ(end.value(), 1);
        co_return ps::this_task::now() - start;
    };
    EXPECT_GE(world.run(work()).value(), 1h);
}

/// A query of some other library: it knows how to be interrupted, from any thread, and nothing of stops.
class database {
  public:
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
        thread_ = std::jthread([this, waiting] {
            {
                std::unique_lock lock(mutex_);
                interrupted_.wait(lock, [this] { return is_interrupted_; });
            }
            waiting.resume();
        });
    }
    bool await_resume() const noexcept { return !is_interrupted_; }

    database& query() noexcept { return *this; }
    void interrupt() noexcept {
        {
            std::lock_guard const lock(mutex_);
            is_interrupted_ = true;
        }
        interrupted_.notify_one();
    }

  private:
    std::mutex mutex_;
    std::condition_variable interrupted_;
    bool is_interrupted_ = false;
    std::jthread thread_;
};

ps::task<> run_query(database& of, lifetime_log& log) {
    auto const& env = co_await ps::this_task::get_environment();
    auto interrupt = [&of]() noexcept { of.interrupt(); }; // runs on whichever thread requests the stop
    ps::inplace_stop_callback const on_stop(env.stop, interrupt);
    bool const is_whole = co_await of.query();   // of another library: the stop does not reach inside
    log.note(is_whole ? "done" : "interrupted"); // what it gave is delivered; the next leaf stops
    co_await ps::sleep(0ms);
    log.note("never");
}

TEST(stopping_guide, a_callback_ends_what_a_stop_does_not_reach) {
    ps::testing::watchdog const dog;
    observed_runtime world;
    lifetime_log log;
    database slow;
    EXPECT_TRUE(run_stopped(world.rt, 5ms, run_query(slow, log)).is_stopped());
    EXPECT_EQ(log.take(), "interrupted");
    database never_asked;
    EXPECT_TRUE(
        run_stopped(world.rt, ps::testing::before_the_start, run_query(never_asked, log)).is_stopped());
    EXPECT_EQ(log.take(), "");
    EXPECT_TRUE(never_asked.await_resume() == false); // the callback has run, in its constructor
}

// ---- With std::stop_token by hand

struct mailbox {
    std::mutex mutex;
    std::condition_variable_any arrived;
    std::deque<std::string> letters;
};

// Each function takes the token, each wait is one that knows of it, each caller passes "no" on.
std::optional<std::string> next_letter(std::stop_token stop, mailbox& from) {
    std::unique_lock lock(from.mutex);
    if (!from.arrived.wait(lock, stop, [&from] { return !from.letters.empty(); })) return std::nullopt;
    auto letter = std::move(from.letters.front());
    from.letters.pop_front();
    return letter;
}

bool answer_letters(std::stop_token stop, mailbox& from, std::string& answered) {
    while (!stop.stop_requested()) {
        auto const letter = next_letter(stop, from);
        if (!letter) return false;
        std::this_thread::sleep_for(1ms); // forgotten: no stop is noticed here
        answered += *letter;
    }
    return false;
}

// The same as a task: nobody passes anything on, and nothing can be forgotten.
ps::task<ps::io_result<void>> answer_lines(ps::buffered_reader<ps::tcp_stream>& from, std::string& answered) {
    for (;;) {
        auto const line = co_await ps::or_return(from.read_line());
        co_await ps::sleep(1ms);
        answered += line;
    }
}

ps::task<> answer_until_stopped(ps::sim::world& in, std::string& answered) {
    auto const ends = in.make_stream_pair();
    ps::tcp_stream near(in.get_runtime().get_executor(), ends.first);
    ps::tcp_stream far(in.get_runtime().get_executor(), ends.second);
    ps::buffered_reader reader{far};
    co_await ps::or_return(near.send_all(bytes_of("one\ntwo\n")));
    (void)co_await ps::with_timeout(1s, answer_lines(reader, answered));
}

TEST(stopping_guide, by_hand_a_stop_ends_a_thread_too) {
    mailbox box;
    std::string by_hand;
    {
        std::jthread thread([&](std::stop_token stop) { EXPECT_FALSE(answer_letters(stop, box, by_hand)); });
        std::lock_guard const lock(box.mutex);
        box.letters.emplace_back("one");
        box.arrived.notify_one();
    }
    EXPECT_TRUE(by_hand.empty() || by_hand == "one") << by_hand;
    ps::sim::world world;
    std::string answered;
    EXPECT_TRUE(world.run(answer_until_stopped(world, answered)).has_value());
    EXPECT_EQ(answered, "onetwo");
}

ps::task<int> rows_until(ps::inplace_stop_token stop, int rows) {
    int copied = 0;
    while (copied < rows && !stop.stop_requested()) { // between two rows, and nowhere else
        co_await ps::sleep(1ms);
        co_await ps::sleep(1ms);
        ++copied;
    }
    co_return copied;
}

ps::task<> copies_whole_rows(int rows, int& copied) {
    auto const stop = (co_await ps::this_task::get_environment()).stop; // the shield hides it
    copied = co_await ps::shield(rows_until(stop, rows));
}

TEST(stopping_guide, a_part_may_look_for_the_stop_by_hand) {
    observed_runtime world;
    int copied = 0;
    EXPECT_TRUE(run_stopped(world.rt, 5ms, copies_whole_rows(100, copied)).has_value());
    EXPECT_EQ(copied, 3);
    EXPECT_EQ(world.elapsed(), 6ms);
}

// ---- Is it right?

struct account {
    int money = 100;
};

ps::task<> pay(account& from, account& to) {
    from.money -= 10;
    co_await ps::sleep(1ms);
    to.money += 10;
}

ps::task<> pay_safely(account& from, account& to) { co_await ps::shield(pay(from, to)); }

TEST(stopping_guide, check_stop_finds_the_lost_payment) {
    account from, to;
    ps::sim::check_stop_options options;
    options.verify = [&](bool) { return std::string(from.money + to.money == 200 ? "" : "money was lost"); };
    auto const fresh_run = [&](auto work) {
        from = to = account();
        return work(from, to);
    };
    EXPECT_TRUE(ps::sim::check_stop([&] { return fresh_run(pay_safely); }, options));
    EXPECT_FALSE(ps::sim::check_stop([&] { return fresh_run(pay); }, options));
}

} // namespace
