#include "lone_lane.hpp"
#include "model/weakened.hpp"

#include "driver/wake_word.hpp"
#include "loop/offer_queue.hpp"
#include "loop/stealing.hpp"

#include <pitsaw/model/explore.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Offers, thieves, sleep and wake (loop/offer_queue.hpp, loop/idle_workers.hpp, loop/stealing.cpp), as
// shipped.

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using model::require;
using model::thread;
using model::var;

struct offered : continuation {
    var<int> prepared = 0;
    var<int> runs = 0;

    void run() {
        require(prepared == 1, "who takes an offer sees what was prepared for it");
        ++runs;
    }
};

std::size_t take_and_run(offer_queue& from, offer_queue::amount how) {
    std::array<continuation*, 4> taken{};
    auto const count = from.take(taken, how);
    for (std::size_t i = 0; i < count; ++i) static_cast<offered*>(taken[i])->run();
    return count;
}

/// Its owner pushes more than it holds, and takes; a thief takes half of it: each offer is run once.
void each_offer_is_had_by_one() {
    offer_queue offers(2);
    std::array<offered, 3> made;
    for (auto& each : made) each.prepared = 1;
    {
        thread thief([&] { (void)take_and_run(offers, offer_queue::half); });
        for (auto& each : made)
            while (!offers.push(each)) (void)take_and_run(offers, offer_queue::one);
        while (take_and_run(offers, offer_queue::one) != 0) {
        }
    }
    while (take_and_run(offers, offer_queue::one) != 0) {
    }
    for (auto const& each : made) require(each.runs == 1, "an offer is run once");
}

/// The same with two thieves, of whom one sees what the other leaves.
void two_thieves_share_what_there_is() {
    offer_queue offers(2);
    std::array<offered, 2> made;
    {
        thread one([&] { (void)take_and_run(offers, offer_queue::half); });
        thread other([&] { (void)take_and_run(offers, offer_queue::one); });
        for (auto& each : made) {
            each.prepared = 1;
            require(offers.push(each), "two have room");
        }
    }
    while (take_and_run(offers, offer_queue::half) != 0) {
    }
    for (auto const& each : made) require(each.runs == 1, "an offer is run once");
}

class eventfd {
  public:
    void signal() {
        std::scoped_lock const held(guard_);
        ++count_;
        changed_.notify_one();
    }
    void sleep() {
        std::unique_lock held(guard_);
        changed_.wait(held, [&] { return count_ != 0; });
        count_ = 0;
    }

  private:
    model::mutex guard_;
    model::condition_variable changed_;
    var<int> count_ = 0;
};

/// A worker as the loop makes it, which has nothing to do but what is open.
class idle_one final : public sleeper {
  public:
    void wake_to_search() noexcept override {
        if (word_.wake()) kernel_.signal();
    }
    [[nodiscard]] fork_lane& lane() noexcept override { return computes_.lane; }

    /// Until it has run so many.
    void run(stealing& all, std::uint32_t const number, int left) {
        ready_levels ready;
        while (left != 0) {
            bool const sleeps = ready.empty() && !all.find_or_fall_asleep(number, ready);
            if (sleeps) {
                if (word_.fall_asleep()) {
                    if (all.keeps_watch(number))
                        model::yield(); // that time passes
                    else
                        kernel_.sleep();
                    word_.rise();
                }
                (void)word_.take();
                all.rise(number, ready, false);
            }
            if (!sleeps && ready.empty()) model::yield(); // it was to look again after a poll
            while (!ready.empty() && left != 0) {
                auto& next = static_cast<offered&>(*ready.pop().next);
                next.run();
                on_run();
                --left;
            }
        }
        while (!ready.empty()) all.offer(number, *ready.pop().next);
    }

    std::function<void()> on_run = [] {};

  private:
    wake_word word_;
    eventfd kernel_;
    lone_lane computes_;
};

/// What is open, as the ring and the queue of all say it.
struct one_offer {
    offered work;
    offer_queue ring{2};
    injection_queue injected;

    void lay_open(bool in_the_ring) {
        if (in_the_ring) {
            require(ring.push(work), "it is empty");
        } else {
            continuation* const only = &work;
            injected.push(std::span(&only, 1));
        }
    }
    [[nodiscard]] bool is_open() const { return !ring.empty() || injected.size() != 0; }
};

/// An offer, and one that falls asleep: one of the two sees the other.
template <bool InTheRing, bool HasSearched> void an_offer_meets_one_that_falls_asleep() {
    idle_workers idle;
    one_offer made;
    if (HasSearched) require(idle.begin_search(), "nobody else does");
    bool is_woken = false;
    bool sees_it = false;
    {
        thread sleeps([&] { sees_it = idle.fall_asleep(1, HasSearched) && made.is_open(); });
        made.lay_open(InTheRing);
        is_woken = idle.one_to_wake().has_value();
    }
    require(is_woken || sees_it, "an offer is seen by one that falls asleep, or wakes it");
}

/// An offer that wakes nobody, for one searches, is seen by that one's last look, which wakes who sleeps.
void an_offer_meets_the_end_of_a_search() {
    idle_workers idle;
    one_offer made;
    require(idle.begin_search(), "nobody else does");
    require(!idle.fall_asleep(2, false), "one searches");
    bool is_woken = false;
    bool is_woken_by_the_searcher = false;
    {
        thread searches([&] {
            if (idle.end_search() && made.is_open())
                is_woken_by_the_searcher = idle.one_to_wake().has_value();
        });
        made.lay_open(true);
        is_woken = idle.one_to_wake().has_value();
    }
    require(is_woken != is_woken_by_the_searcher, "one of the two wakes who sleeps");
}

/// Two offers at a time wake one.
void two_offers_wake_one() {
    idle_workers idle;
    require(idle.fall_asleep(0, false), "nobody searches");
    require(idle.fall_asleep(1, false), "nobody searches");
    std::array<bool, 2> has_woken{};
    {
        thread other([&] { has_woken[1] = idle.one_to_wake().has_value(); });
        has_woken[0] = idle.one_to_wake().has_value();
    }
    require(has_woken[0] != has_woken[1], "one is woken, and searches for both");
}

/// Who offers goes on computing: the one that sleeps, or is about to, has to take it.
template <int Offers> void an_offer_finds_one_that_falls_asleep() {
    stealing all(2);
    std::array<idle_one, 2> workers;
    for (auto& each : workers) all.enlist(each);
    std::array<offered, Offers> made;
    model::atomic<int> runs = 0;
    workers[1].on_run = [&] {
        runs.fetch_add(1, std::memory_order_relaxed);
        runs.notify_all();
    };
    thread other([&] { workers[1].run(all, 1, Offers); });
    for (auto& each : made) {
        each.prepared = 1;
        all.offer(0, each);
    }
    for (int seen = runs.load(std::memory_order_relaxed); seen != Offers;
         seen = runs.load(std::memory_order_relaxed))
        runs.wait(seen, std::memory_order_relaxed);
    other.join();
    require(!all.is_open(), "nothing is left");
}

/// Who offers would take it next, but computes on: nobody is woken, and who keeps watch has to find it. The
/// first offer, which wakes the other, lets it keep watch.
void a_lone_offer_is_found_by_who_keeps_watch() {
    stealing all(2);
    std::array<idle_one, 2> workers;
    for (auto& each : workers) all.enlist(each);
    std::array<offered, 2> made;
    model::atomic<int> runs = 0;
    workers[1].on_run = [&] {
        runs.fetch_add(1, std::memory_order_relaxed);
        runs.notify_all();
    };
    thread other([&] { workers[1].run(all, 1, 2); });
    for (int i = 0; i < 2; ++i) {
        made[static_cast<std::size_t>(i)].prepared = 1;
        all.offer(0, made[static_cast<std::size_t>(i)], true);
        for (int seen = runs.load(std::memory_order_relaxed); seen == i;
             seen = runs.load(std::memory_order_relaxed))
            runs.wait(seen, std::memory_order_relaxed);
    }
    other.join();
    require(!all.is_open(), "nothing is left");
}

/// One keeps watch after the other: what the first has noted is the second's to read.
void the_watch_goes_from_one_to_the_next() {
    stealing all(2);
    std::array<idle_one, 3> workers;
    for (auto& each : workers) all.enlist(each);
    offered made;
    ready_levels taken;
    all.offer(0, made);
    require(all.take(0, taken), "it is there");
    (void)taken.pop();
    auto const sleeps_once = [&](std::uint32_t const number) {
        ready_levels ready;
        if (!all.find_or_fall_asleep(number, ready)) all.rise(number, ready, false);
    };
    thread one([&] { sleeps_once(1); });
    thread other([&] { sleeps_once(2); });
    one.join();
    other.join();
}

/// Two that sleep and two offers, each of which has to be taken while the other runs: the first that is
/// woken wakes the second.
void the_first_that_is_woken_wakes_the_next() {
    stealing all(2);
    std::array<idle_one, 3> workers;
    for (auto& each : workers) all.enlist(each);
    std::array<offered, 2> made;
    model::atomic<int> runs = 0;
    auto const meet = [&] {
        runs.fetch_add(1, std::memory_order_relaxed);
        runs.notify_all();
        for (int seen = runs.load(std::memory_order_relaxed); seen < 2;
             seen = runs.load(std::memory_order_relaxed))
            runs.wait(seen, std::memory_order_relaxed);
    };
    workers[1].on_run = meet;
    workers[2].on_run = meet;
    thread one([&] { workers[1].run(all, 1, 1); });
    thread other([&] { workers[2].run(all, 2, 1); });
    for (auto& each : made) {
        each.prepared = 1;
        all.offer(0, each);
    }
    one.join();
    other.join();
    require(!all.is_open(), "nothing is left");
}

struct explored {
    char const* name;
    std::function<void()> body;
    std::uint32_t preemptions_max;
};

std::vector<explored> const protocols{
    {"each offer is had by one", each_offer_is_had_by_one, model::options::unbounded},
    {"two thieves share", two_thieves_share_what_there_is, model::options::unbounded},
    {"an offer in the ring meets a sleeper", an_offer_meets_one_that_falls_asleep<true, false>,
     model::options::unbounded},
    {"an offer to all meets a sleeper", an_offer_meets_one_that_falls_asleep<false, false>,
     model::options::unbounded},
    {"an offer meets a searcher that gives up", an_offer_meets_one_that_falls_asleep<true, true>,
     model::options::unbounded},
    {"an offer meets the end of a search", an_offer_meets_the_end_of_a_search, model::options::unbounded},
    {"two offers wake one", two_offers_wake_one, model::options::unbounded},
    {"an offer finds who falls asleep", an_offer_finds_one_that_falls_asleep<1>, 3},
    {"two offers find who falls asleep", an_offer_finds_one_that_falls_asleep<2>, 2},
    {"who keeps watch finds a lone offer", a_lone_offer_is_found_by_who_keeps_watch, 2},
    {"the watch goes on", the_watch_goes_from_one_to_the_next, model::options::unbounded},
    {"the first wakes the next", the_first_that_is_woken_wakes_the_next, 1},
};

TEST(stealing, holds_in_every_interleaving) {
    for (auto const& each : protocols) {
        SCOPED_TRACE(each.name);
        auto const found = model::explore(
            {.preemptions_max = each.preemptions_max, .executions_max = 400'000, .spurious_failures_max = 0},
            each.body);
        EXPECT_EQ(found.failure, "") << found.trace << found.replay;
        EXPECT_TRUE(found.is_complete);
        std::fprintf(stderr, "%s: %llu executions, %llu redundant, %.1f s\n", each.name,
                     static_cast<unsigned long long>(found.executions),
                     static_cast<unsigned long long>(found.redundant), found.seconds);
    }
}

// But one, which the model cannot notice: the owner's acquire in push(). It keeps a thief's read of a place
// before the owner's write to it, and the model lets no load read what is stored later (load buffering).
TEST(stealing, each_memory_order_is_needed) {
    std::vector<std::function<void()>> all;
    for (auto const& each : protocols) all.push_back(each.body);
    auto const found = weaken_each(
        all,
        {"loop/offer_queue.hpp", "loop/idle_workers.hpp", "loop/injection_queue.hpp", "loop/stealing.cpp"},
        {.preemptions_max = 3, .executions_max = 20'000, .spurious_failures_max = 0});
    EXPECT_EQ(found.failure, "");
    ASSERT_EQ(found.unnoticed.size(), 1U) << text_of(found);
    EXPECT_EQ(found.unnoticed[0].file, "loop/offer_queue.hpp");
    EXPECT_EQ(found.unnoticed[0].order, std::memory_order_acquire);
    EXPECT_EQ(found.noticed, 14U) << text_of(found);
}

} // namespace
