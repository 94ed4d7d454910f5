// The code of docs/guide/sync.md; docs.snippets compares.
#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;

namespace {

// ---- Mutex

struct account {
    ps::mutex turn;
    int money = 100;
};

ps::task<> withdraw(account& from, int amount) {
    auto const held = co_await from.turn.lock(); // until the end of the block
    co_await ps::sleep(1ms);                     // others wait meanwhile; no thread does
    from.money -= amount;
}

TEST(sync_guide, a_mutex_is_held_across_awaits) {
    account of;
    auto work = [&]() -> ps::task<> { co_await ps::when_all(withdraw(of, 10), withdraw(of, 20)); };
    EXPECT_TRUE(ps::sync_wait(work()).has_value());
    EXPECT_EQ(of.money, 70);
}

// ---- Waiting for a time

ps::task<bool> withdraw_soon(account& from, int amount) {
    auto const held = co_await ps::with_timeout(50ms, from.turn.lock());
    if (!held.has_value()) co_return false;
    from.money -= amount;
    co_return true;
}

TEST(sync_guide, a_wait_may_have_an_end) {
    account of;
    auto keeps = [&]() -> ps::task<> {
        auto const held = co_await of.turn.lock();
        co_await ps::sleep(1h);
    };
    auto work = [&]() -> ps::task<> {
        auto const both = co_await ps::when_all(keeps(), withdraw_soon(of, 10));
        EXPECT_FALSE(std::get<1>(both));
        EXPECT_TRUE(co_await withdraw_soon(of, 10));
    };
    EXPECT_TRUE(ps::sync_wait(work()).has_value());
    EXPECT_EQ(of.money, 90);
}

// ---- Semaphore

ps::task<> upload(ps::semaphore& budget, std::size_t megabytes, std::size_t& sent) {
    auto const taken = co_await budget.acquire(megabytes); // many at a time, or one
    co_await ps::sleep(1ms);
    sent += megabytes;
}

TEST(sync_guide, a_semaphore_bounds_what_goes_on) {
    ps::semaphore budget(64);
    std::size_t sent = 0;
    auto work = [&]() -> ps::task<> {
        co_await ps::when_all(upload(budget, 60, sent), upload(budget, 30, sent), upload(budget, 30, sent));
    };
    EXPECT_TRUE(ps::sync_wait(work()).has_value());
    EXPECT_EQ(sent, 120u);
    EXPECT_EQ(budget.available(), 64u);
}

// ---- Shared mutex

struct address_book {
    ps::shared_mutex turn;
    std::map<std::string, std::string> entries;
};

ps::task<std::string> look_up(address_book& in, std::string name) {
    auto const reading = co_await in.turn.lock_shared();
    auto const found = in.entries.find(name);
    co_return found == in.entries.end() ? std::string() : found->second;
}
ps::task<> enter(address_book& in, std::string name, std::string where) {
    auto const writing = co_await in.turn.lock();
    in.entries.insert_or_assign(std::move(name), std::move(where));
}

TEST(sync_guide, readers_share) {
    address_book book;
    auto work = [&]() -> ps::task<> {
        co_await enter(book, "Ada", "12 St James's Square");
        EXPECT_EQ(co_await look_up(book, "Ada"), "12 St James's Square");
    };
    EXPECT_TRUE(ps::sync_wait(work()).has_value());
}

// ---- Condition

struct mailbox {
    ps::mutex turn;
    ps::condition has_mail{turn}; // of this mutex, for ever
    std::vector<std::string> letters;
};

ps::task<std::string> next_letter(mailbox& from) {
    auto held = co_await from.turn.lock();
    auto const has_one = [&from] { return !from.letters.empty(); };
    co_await from.has_mail.wait(held, has_one);
    auto letter = std::move(from.letters.back());
    from.letters.pop_back();
    co_return letter;
}
ps::task<> post(mailbox& to, std::string letter) {
    auto const held = co_await to.turn.lock();
    to.letters.push_back(std::move(letter));
    to.has_mail.notify_one();
}

TEST(sync_guide, a_condition_waits_for_what_a_mutex_guards) {
    mailbox box;
    auto work = [&]() -> ps::task<> {
        auto const both = co_await ps::when_all(next_letter(box), post(box, "hello"));
        EXPECT_EQ(std::get<0>(both), "hello");
    };
    EXPECT_TRUE(ps::sync_wait(work()).has_value());
}

// ---- Events between threads

ps::task<> work_off(ps::auto_reset_event& has_work, int& done) {
    for (int i = 0; i < 3; ++i) {
        co_await has_work.wait(); // a set that came before counts
        ++done;
    }
}

TEST(sync_guide, an_event_is_set_from_any_thread) {
    ps::runtime rt;
    ps::auto_reset_event has_work, is_done;
    int done = 0;
    auto work = [&]() -> ps::task<> {
        co_await work_off(has_work, done);
        is_done.set();
    };
    std::jthread const other([&] {
        while (!is_done.try_wait()) {
            has_work.set();
            std::this_thread::yield();
        }
    });
    EXPECT_TRUE(ps::sync_wait(rt, work()).has_value());
    EXPECT_EQ(done, 3);
}

// ---- Once

struct connection {
    ps::once opened;
    int times = 0;
};

ps::task<> open(connection* of) {
    co_await ps::sleep(1ms);
    ++of->times;
}
ps::task<> use(connection& of) {
    if (!of.opened.is_done()) co_await of.opened.call(open, &of);
    EXPECT_EQ(of.times, 1);
}

TEST(sync_guide, once_is_done_once) {
    connection of;
    auto work = [&]() -> ps::task<> { co_await ps::when_all(use(of), use(of), use(of)); };
    EXPECT_TRUE(ps::sync_wait(work()).has_value());
}

// ---- Latch and barrier

ps::task<> simulate(ps::barrier& all, int steps, int& sum) {
    for (int step = 0; step < steps; ++step) {
        ++sum;
        co_await all.arrive_and_wait(); // nobody begins the next step before all have ended this one
    }
}

ps::task<> report(ps::latch& finished, int const& sum) {
    co_await finished.wait();
    EXPECT_EQ(sum, 20);
}

TEST(sync_guide, a_barrier_and_a_latch) {
    ps::barrier all(2);
    ps::latch finished(2);
    int sum = 0;
    auto part = [&]() -> ps::task<> {
        co_await simulate(all, 10, sum);
        finished.count_down();
    };
    auto work = [&]() -> ps::task<> { co_await ps::when_all(part(), part(), report(finished, sum)); };
    EXPECT_TRUE(ps::sync_wait(work()).has_value());
}

// ---- Several at a time

ps::task<std::size_t> take_either(ps::semaphore& left, ps::semaphore& right) {
    auto const taken = co_await ps::when_any(left.acquire(), right.acquire());
    std::size_t count = 0;
    if (auto const& permit = std::get<0>(taken)) count += permit->count();
    if (auto const& permit = std::get<1>(taken)) count += permit->count(); // both, if both were there
    co_return count;
}

TEST(sync_guide, when_any_loses_no_permit) {
    ps::semaphore left(1), right(1);
    EXPECT_GE(ps::sync_wait(take_either(left, right)).value(), 1u);
    EXPECT_EQ(left.available() + right.available(), 2u);
}

} // namespace
