#include "model/weakened.hpp"

#include "bare_executor.hpp"

#include <pitsaw/model/explore.hpp>
#include <pitsaw/sync/auto_reset_event.hpp>
#include <pitsaw/sync/barrier.hpp>
#include <pitsaw/sync/condition.hpp>
#include <pitsaw/sync/latch.hpp>
#include <pitsaw/sync/manual_reset_event.hpp>
#include <pitsaw/sync/mutex.hpp>
#include <pitsaw/sync/once.hpp>
#include <pitsaw/sync/semaphore.hpp>
#include <pitsaw/sync/shared_mutex.hpp>
#include <pitsaw/task/child.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

// The primitives between workers (sync/wait_queue.hpp, base/spin_lock.hpp), as shipped: a grant, a stop and
// another wait meet, each on a thread of its own.

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using model::require;
using model::thread;
using model::var;

/// A worker of this thread, turned by hand.
class worker_by_hand {
  public:
    worker_by_hand() { exchange_current_executor(&executor_); }
    worker_by_hand(worker_by_hand const&) = delete;
    ~worker_by_hand() { exchange_current_executor(nullptr); }

    [[nodiscard]] executor& get() { return executor_; }

    /// Turns once; yields to the other threads if there was nothing to do.
    void turn() {
        executor_.take_inbox();
        if (executor_.ready.empty()) model::yield();
        while (!executor_.ready.empty()) {
            auto const [next, how] = executor_.ready.pop();
            executor_.hops.refill();
            auto& header = static_cast<promise_header&>(*next);
            if (how == resume_as::stopped) {
                header.climb().resume();
                continue;
            }
            if (how == resume_as::completed) header.completed_elsewhere();
            header.handle().resume();
        }
    }

  private:
    bare_executor executor_;
};

/// A chain that consists of one await, which begins at once.
template <class A> class chain : boundary {
  public:
    template <class Make>
    chain(worker_by_hand& on, Make make) : boundary(ended), on_(on), awaited_(make()), child_(awaited_) {
        on_.get().hops.refill();
        env_.executor = on_.get();
        env_.stop = stop_.get_token();
        child_.start(*this, env_, outside_).resume();
    }

    /// A stop reaches the chain, on its own worker.
    void stop() {
        stop_.request_stop();
        ask_to_stop();
    }
    void run() {
        while (!how_.has_value()) on_.turn();
    }
    [[nodiscard]] bool has_completed() {
        run();
        return how_ == ending::value;
    }
    [[nodiscard]] auto& value() { return child_.result().value(); }

  private:
    static std::coroutine_handle<> ended(boundary& edge, promise_header&, ending how) noexcept {
        auto& self = static_cast<chain&>(edge);
        require(self.waiting == nullptr, "who goes on has left its stop slot");
        if (how == ending::value) self.child_.collect();
        self.how_ = how;
        return std::noop_coroutine();
    }

    worker_by_hand& on_;
    inplace_stop_source stop_;
    environment env_;
    promise_header outside_;
    A awaited_;
    child<A> child_;
    std::optional<ending> how_;
};

/// Begins to await what `make()` gives, on this worker.
template <class Make> chain(worker_by_hand&, Make) -> chain<std::invoke_result_t<Make>>;

/// SY5: of a grant and a stop one decides. The permit is with the waiter or still there.
void a_stop_meets_a_release() {
    semaphore of(0);
    worker_by_hand here;
    chain waits(here, [&] { return of.acquire(); });
    thread other([&] { of.release(); });
    waits.stop();
    bool const has_it = waits.has_completed();
    other.join();
    require(of.available() == (has_it ? 0 : 1), "a permit is with one of them");
}

/// SY5, LW2: a head that gives up while permits come lets those behind it go.
void a_head_gives_up_as_permits_come() {
    semaphore of(0);
    worker_by_hand here;
    chain head(here, [&] { return of.acquire(2); });
    chain behind(here, [&] { return of.acquire(1); });
    thread other([&] { of.release(); });
    head.stop();
    require(!head.has_completed(), "there were never two permits");
    require(behind.has_completed(), "the one permit is for who is behind");
}

/// A waiter of another worker goes on with all that preceded the release.
void permits_cross_workers() {
    semaphore of(1);
    var<int> data = 0;
    auto const work = [&] {
        worker_by_hand here;
        chain waits(here, [&] { return of.acquire(); });
        require(waits.has_completed(), "nobody stops it");
        ++data;
        waits.value().release();
    };
    thread other(work);
    work();
    other.join();
    require(data == 2, "each had it once");
}

void a_mutex_crosses_workers() {
    mutex of;
    var<int> data = 0;
    auto const work = [&] {
        worker_by_hand here;
        chain waits(here, [&] { return of.lock(); });
        require(waits.has_completed(), "nobody stops it");
        ++data;
        waits.value().unlock();
    };
    thread other(work);
    work();
    other.join();
    require(data == 2, "each had it once");
}

/// The guard that a stopped task got all the same unlocks; the mutex is free at the end.
void a_stop_meets_the_hand_over_of_a_mutex() {
    mutex of;
    worker_by_hand here;
    auto held = of.try_lock();
    {
        chain waits(here, [&] { return of.lock(); });
        thread other([&] { held.unlock(); });
        waits.stop();
        waits.run();
    }
    require(static_cast<bool>(of.try_lock()), "nobody holds it");
}

/// A writer that gives up while the reader before it goes lets the reader behind it go.
void a_writer_gives_up_between_readers() {
    shared_mutex of;
    worker_by_hand here;
    auto reading = of.try_lock_shared();
    chain writer(here, [&] { return of.lock(); });
    chain reader(here, [&] { return of.lock_shared(); });
    thread other([&] { reading.unlock(); });
    writer.stop();
    if (writer.has_completed()) writer.value().unlock();
    require(reader.has_completed(), "nobody writes");
    other.join();
    reader.value().unlock();
    require(static_cast<bool>(of.try_lock()), "nobody holds it");
}

/// Who is stopped at a barrier has arrived in this phase, and is not expected in the next.
void a_stop_meets_the_last_arrival() {
    barrier of(2);
    var<int> data = 0;
    worker_by_hand here;
    chain waits(here, [&] { return of.arrive_and_wait(); });
    thread other([&] {
        worker_by_hand there;
        chain first(there, [&] { return of.arrive_and_wait(); });
        require(first.has_completed(), "both have arrived");
        data = 1;
        of.arrive_and_drop();
    });
    waits.stop();
    if (!waits.has_completed()) return;
    chain again(here, [&] { return of.arrive_and_wait(); });
    require(again.has_completed() && data == 1, "both have arrived once more");
}

/// LW1, LW5: `set` is seen whenever it comes, and who was let go may destroy the event.
void a_set_meets_a_wait_and_the_end_of_the_event() {
    auto gate = std::make_unique<manual_reset_event>();
    var<int> data = 0;
    worker_by_hand here;
    thread other([&data, set = gate.get()] {
        data = 1;
        set->set();
    });
    {
        chain waits(here, [&] { return gate->wait(); });
        require(waits.has_completed() && data == 1, "what preceded the set");
    }
    gate.reset();
}

/// The same where nobody waits: who sees that it is set may destroy it.
void a_set_meets_a_look_and_the_end_of_the_event() {
    auto gate = std::make_unique<manual_reset_event>();
    var<int> data = 0;
    thread other([&data, set = gate.get()] {
        data = 1;
        set->set();
    });
    while (!gate->is_set()) model::yield();
    require(data == 1, "what preceded the set");
    gate.reset();
}

/// Each `set` lets one pass, or stays.
void a_stop_meets_a_set() {
    auto_reset_event of;
    worker_by_hand here;
    chain waits(here, [&] { return of.wait(); });
    thread other([&] { of.set(); });
    waits.stop();
    bool const has_passed = waits.has_completed();
    other.join();
    require(of.try_wait() == !has_passed, "the set let one pass");
}

void a_latch_counts_on_two_workers() {
    latch of(2);
    var<int> data = 0;
    worker_by_hand here;
    thread other([&] {
        data = 1;
        of.count_down();
    });
    chain waits(here, [&] { return of.arrive_and_wait(); });
    require(waits.has_completed() && data == 1, "what preceded the count");
}

/// Unlock and wait are one step: the notification finds who waits, whenever it comes.
void a_notification_meets_a_wait() {
    mutex of;
    condition changed(of);
    var<bool> is_true = false;
    thread other([&] {
        worker_by_hand there;
        chain locks(there, [&] { return of.lock(); });
        locks.run();
        is_true = true;
        locks.value().unlock();
        changed.notify_one();
    });
    worker_by_hand here;
    chain locks(here, [&] { return of.lock(); });
    locks.run();
    auto held = std::move(locks.value());
    if (!is_true) {
        chain waits(here, [&] { return changed.wait(held); });
        require(waits.has_completed(), "nobody stops it");
    }
    require(held && is_true, "it is told once it is true");
}

/// SY5: a notification goes to one who does not stop.
void a_stop_meets_a_notification() {
    mutex of;
    condition changed(of);
    worker_by_hand here;
    auto first_held = of.try_lock();
    chain first(here, [&] { return changed.wait(first_held); });
    auto second_held = of.try_lock();
    chain second(here, [&] { return changed.wait(second_held); });
    auto third = of.try_lock(); // whoever is notified waits for it
    thread other([&] { changed.notify_one(); });
    first.stop();
    third.unlock();
    if (first.has_completed()) {
        require(static_cast<bool>(first_held), "it has the mutex");
        first_held.unlock();
        second.stop();
        require(!second.has_completed(), "one was notified");
    } else {
        require(second.has_completed() && second_held, "the notification is the second's");
    }
}

task<> count(var<int>& times) {
    ++times;
    co_return;
}
task<> need(once& of, var<int>& times) {
    co_await of.call(count, std::ref(times));
    require(times == 1, "it was done, once");
}
void two_workers_need_it_once() {
    once of;
    var<int> times = 0;
    auto const work = [&] {
        worker_by_hand here;
        chain needs(here, [&] { return need(of, times); });
        needs.run();
    };
    thread other(work);
    work();
}
/// Without a wait: who sees that it is done sees what was done.
void a_look_at_what_is_done_once() {
    once of;
    var<int> times = 0;
    thread other([&] {
        worker_by_hand here;
        chain needs(here, [&] { return need(of, times); });
        needs.run();
    });
    if (of.is_done()) require(times == 1, "what was done");
}

std::vector<std::pair<char const*, std::function<void()>>> const bodies{
    {"a stop meets a release", a_stop_meets_a_release},
    {"a head gives up as permits come", a_head_gives_up_as_permits_come},
    {"permits cross workers", permits_cross_workers},
    {"a mutex crosses workers", a_mutex_crosses_workers},
    {"a stop meets the hand-over of a mutex", a_stop_meets_the_hand_over_of_a_mutex},
    {"a writer gives up between readers", a_writer_gives_up_between_readers},
    {"a stop meets the last arrival", a_stop_meets_the_last_arrival},
    {"a set meets a wait and the end of the event", a_set_meets_a_wait_and_the_end_of_the_event},
    {"a set meets a look and the end of the event", a_set_meets_a_look_and_the_end_of_the_event},
    {"a stop meets a set", a_stop_meets_a_set},
    {"a latch counts on two workers", a_latch_counts_on_two_workers},
    {"a notification meets a wait", a_notification_meets_a_wait},
    {"a stop meets a notification", a_stop_meets_a_notification},
    {"two workers need it once", two_workers_need_it_once},
    {"a look at what is done once", a_look_at_what_is_done_once},
};

TEST(sync_protocols, hold_in_every_interleaving) { // SY5, LW1, LW2, LW5
    for (auto const& [name, body] : bodies) {
        SCOPED_TRACE(name);
        auto const found = model::explore({.executions_max = 300'000, .spurious_failures_max = 0}, body);
        EXPECT_EQ(found.failure, "") << found.trace << found.replay;
        EXPECT_TRUE(found.is_complete);
        std::fprintf(stderr, "%s: %llu executions, %llu redundant, %.0f/s\n", name,
                     static_cast<unsigned long long>(found.executions),
                     static_cast<unsigned long long>(found.redundant),
                     static_cast<double>(found.executions) / found.seconds);
    }
}

TEST(sync_protocols, each_memory_order_is_needed) {
    std::vector<std::function<void()>> all;
    for (auto const& each : bodies) all.push_back(each.second);
    auto const found =
        weaken_each(all, {"pitsaw/base/spin_lock.hpp", "pitsaw/sync/once.hpp", "src/sync/once.cpp"},
                    {.executions_max = 20'000, .spurious_failures_max = 0});
    EXPECT_EQ(found.failure, "");
    EXPECT_TRUE(found.unnoticed.empty()) << text_of(found);
    EXPECT_EQ(found.noticed, 4U);
}

} // namespace
