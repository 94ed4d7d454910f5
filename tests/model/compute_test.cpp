#include "lone_lane.hpp"
#include "model/weakened.hpp"

#include "driver/wake_word.hpp"
#include "loop/fork_lane.hpp"
#include "loop/stealing.hpp"

#include <pitsaw/compute/compute.hpp>
#include <pitsaw/compute/fork_join.hpp>
#include <pitsaw/model/explore.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <vector>

// Parts of computations that go from lane to lane (executor/compute_lane.hpp, loop/fork_lane.cpp), as
// shipped.

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using model::require;
using model::thread;
using model::var;

/// A worker that has nothing but its lane.
class computer final : public sleeper {
  public:
    void wake_to_search() noexcept override {
        if (word_.wake()) {
            std::scoped_lock const held(guard_);
            is_woken_ = true;
            changed_.notify_one();
        }
    }
    [[nodiscard]] fork_lane& lane() noexcept override { return computes_.lane; }

    void begin(compute_root& work) {
        computes_.lane.begin(work);
        computes_.worker.run_callbacks();
    }
    /// Looks once whether there is something to be taken.
    void steal_once(stealing& from, std::uint32_t const number) {
        ready_levels unused;
        (void)from.steal(number, unused);
        computes_.worker.run_callbacks();
    }
    /// Sleeps where there is nothing, until it has taken something.
    void take_one(stealing& from, std::uint32_t const number) {
        while (computes_.worker.ready.empty()) {
            if (from.find_or_fall_asleep(number, computes_.worker.ready)) {
                if (computes_.worker.ready.empty()) model::yield(); // it was to look again after a poll
                continue;
            }
            if (word_.fall_asleep()) {
                std::unique_lock held(guard_);
                changed_.wait(held, [&] { return is_woken_ == true; });
                is_woken_ = false;
                held.unlock();
                word_.rise();
            }
            (void)word_.take();
            from.rise(number, computes_.worker.ready, false);
        }
        computes_.worker.run_callbacks();
    }

  private:
    lone_lane computes_;
    wake_word word_;
    model::mutex guard_;
    model::condition_variable changed_;
    var<bool> is_woken_ = false;
};

/// A whole computation that nobody waits for but the test.
class lone_computation final : fork_point, public compute_root {
  public:
    explicit lone_computation(computation<> work) noexcept : fork_point(child, 1), work_(work.release()) {
        set_entrance(*this, priority::normal);
        enter(*this);
    }
    void ended() noexcept override {
        has_ended_.store(true, std::memory_order_release);
        has_ended_.notify_all();
    }
    void wait() {
        while (!has_ended_.load(std::memory_order_acquire)) has_ended_.wait(false, std::memory_order_acquire);
    }
    [[nodiscard]] bool has_failed() const noexcept { return failure() != nullptr; }

  private:
    static fork_child* child(fork_point& self, std::uint32_t) noexcept {
        return &static_cast<lone_computation&>(self).work_;
    }
    computation_promise<void>& work_;
    model::atomic<bool> has_ended_ = false;
};

computation<> writes(var<int>& to) {
    ++to;
    co_return;
}

/// Children of one fork, of which a thief takes some: each runs once, and the join sees what all have
/// written.
template <std::uint32_t Children, std::uint32_t Thieves> void a_join_sees_what_its_children_wrote() {
    stealing all(2);
    std::array<computer, 1 + Thieves> workers;
    for (auto& each : workers) all.enlist(each);
    std::array<var<int>, Children> written{};
    auto const forks = [&]() -> computation<> {
        co_await fork_join(Children, [&](std::size_t const i) { return writes(written[i]); });
        for (auto& each : written) require(each == 1, "each child has run once");
    };
    lone_computation whole(forks());
    {
        std::vector<std::unique_ptr<thread>> thieves;
        for (std::uint32_t i = 1; i <= Thieves; ++i)
            thieves.push_back(std::make_unique<thread>([&, i] { workers[i].steal_once(all, i); }));
        workers[0].begin(whole);
        whole.wait();
    }
    require(!all.is_open(), "nothing is left");
}

/// Forks below forks: the outer one stands in the open, and when it has been taken the inner one does.
void what_is_below_is_laid_open_when_the_oldest_has_gone() {
    stealing all(2);
    std::array<computer, 2> workers;
    for (auto& each : workers) all.enlist(each);
    std::array<var<int>, 4> written{};
    auto const inner = [&](std::size_t const first) -> computation<> {
        co_await fork_join(writes(written[first]), writes(written[first + 1]));
    };
    auto const outer = [&]() -> computation<> {
        co_await fork_join(inner(0), inner(2));
        for (auto& each : written) require(each == 1, "each child has run once");
    };
    lone_computation whole(outer());
    {
        thread thief([&] {
            workers[1].steal_once(all, 1);
            workers[1].steal_once(all, 1);
        });
        workers[0].begin(whole);
        whole.wait();
    }
    require(!all.is_open(), "nothing is left");
}

/// One of two children throws, wherever they run: the exception is had when both have ended.
void an_exception_waits_for_the_other_child() {
    stealing all(2);
    std::array<computer, 2> workers;
    for (auto& each : workers) all.enlist(each);
    var<int> written = 0;
    auto const throws = []() -> computation<> {
        throw std::runtime_error("");
        co_return;
    };
    auto const forks = [&]() -> computation<> {
        try {
            co_await fork_join(writes(written), throws());
        } catch (std::runtime_error const&) {
            require(written == 1, "the other child has ended");
            throw;
        }
    };
    lone_computation whole(forks());
    {
        thread thief([&] { workers[1].steal_once(all, 1); });
        workers[0].begin(whole);
        whole.wait();
    }
    require(whole.has_failed(), "it ended with the exception");
}

/// The first child computes until the second has run: who falls asleep has to see that one, or is woken.
void what_is_laid_open_finds_one_that_falls_asleep() {
    stealing all(2);
    std::array<computer, 2> workers;
    for (auto& each : workers) all.enlist(each);
    model::atomic<bool> has_run = false;
    auto const waits = [&]() -> computation<> {
        while (!has_run.load(std::memory_order_acquire)) has_run.wait(false, std::memory_order_acquire);
        co_return;
    };
    auto const runs = [&]() -> computation<> {
        has_run.store(true, std::memory_order_release);
        has_run.notify_all();
        co_return;
    };
    auto const forks = [&]() -> computation<> { co_await fork_join(waits(), runs()); };
    lone_computation whole(forks());
    {
        thread other([&] { workers[1].take_one(all, 1); });
        workers[0].begin(whole);
        whole.wait();
    }
}

struct explored {
    char const* name;
    std::function<void()> body;
    std::uint32_t preemptions_max;
};

std::vector<explored> const protocols{
    {"two children, a thief", a_join_sees_what_its_children_wrote<2, 1>, model::options::unbounded},
    {"three children, two thieves", a_join_sees_what_its_children_wrote<3, 2>, 2},
    {"a fork below a fork", what_is_below_is_laid_open_when_the_oldest_has_gone, 3},
    {"an exception", an_exception_waits_for_the_other_child, 3},
    {"one falls asleep", what_is_laid_open_finds_one_that_falls_asleep, 3},
};

TEST(compute, holds_in_every_interleaving) {
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

TEST(compute, each_memory_order_is_needed) {
    std::vector<std::function<void()>> all;
    for (auto const& each : protocols) all.push_back(each.body);
    auto const found =
        weaken_each(all, {"executor/compute_lane.hpp", "executor/compute_lane.cpp", "loop/fork_lane.hpp"},
                    {.preemptions_max = 3, .executions_max = 20'000, .spurious_failures_max = 0});
    EXPECT_EQ(found.failure, "");
    EXPECT_EQ(found.unnoticed.size(), 0U) << text_of(found);
    EXPECT_EQ(found.noticed, 5U) << text_of(found);
}

} // namespace
