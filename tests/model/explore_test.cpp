#include <pitsaw/model/explore.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

// What the checker finds, and what it says of it.

namespace {

using namespace pitsaw;
using model::atomic;
using model::explore;
using model::thread;
using model::var;

constexpr auto relaxed = std::memory_order_relaxed;

auto says(model::report const& found, std::string const& text) -> testing::AssertionResult {
    if (found.failure.find(text) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << '"' << found.failure << "\" does not say " << text << '\n'
                                       << found.trace;
}

/// Publishes by a store of this order.
auto published_by(std::memory_order order) {
    return [order] {
        atomic<int> flag = 0;
        var<int> data = 0;
        model::name(&flag, "flag");
        thread writer([&] {
            data = 1;
            flag.store(1, order);
        });
        if (flag.load(std::memory_order_acquire) == 1) model::require(data == 1, "the data is there");
    };
}

TEST(model_explore, sees_every_behaviour_of_what_is_right) {
    auto const found = explore(published_by(std::memory_order_release));
    EXPECT_FALSE(found.has_failed()) << found.failure << found.trace;
    EXPECT_TRUE(found.is_complete);
    EXPECT_EQ(found.executions, 2U);
}

TEST(model_explore, finds_a_data_race_and_shows_how_it_came_to_be) {
    auto const found = explore(published_by(relaxed));
    EXPECT_TRUE(says(found, "data race"));
    EXPECT_NE(found.trace.find("store(relaxed) flag := 1"), std::string::npos) << found.trace;
    EXPECT_NE(found.trace.find("load(acquire) flag read 1 from #"), std::string::npos) << found.trace;
}

TEST(model_explore, repeats_just_the_run_that_failed) {
    auto const found = explore(published_by(relaxed));
    auto const again = explore({.replay = found.replay}, published_by(relaxed));
    EXPECT_EQ(again.executions, 1U);
    EXPECT_EQ(again.failure, found.failure);
    EXPECT_EQ(again.trace, found.trace);
}

TEST(model_explore, says_when_a_replay_does_not_fit) {
    EXPECT_FALSE(explore({.replay = "a9z"}, published_by(relaxed)).failure.empty());
    EXPECT_TRUE(says(explore({.replay = "c"}, published_by(relaxed)), "does not fit"));
}

TEST(model_explore, finds_a_race_between_plain_writes_in_whatever_order_they_came) {
    EXPECT_TRUE(says(explore([] {
                         var<int> data = 0;
                         thread a([&] { data = 1; });
                         data = 2;
                     }),
                     "data race"));
}

TEST(model_explore, finds_a_deadlock_of_two_mutexes) {
    EXPECT_TRUE(says(explore([] {
                         model::mutex first, second;
                         thread a([&] { std::scoped_lock const held(first), both(second); });
                         std::unique_lock const held(second), both(first);
                     }),
                     "deadlock"));
}

TEST(model_explore, a_mutex_orders_what_it_guards) {
    auto const found = explore([] {
        model::mutex guard;
        var<int> sum = 0;
        auto const add = [&] {
            std::scoped_lock const held(guard);
            ++sum;
        };
        {
            thread a(add), b(add);
        }
        model::require(sum == 2, "both have added");
    });
    EXPECT_EQ(found.failure, "") << found.trace;
    EXPECT_EQ(found.executions - found.redundant, 2U);
}

// LW1: the condition is looked at without the mutex that guards it, so the notification may come in between.
TEST(model_explore, finds_a_lost_wake_up) {
    auto const with = [](bool locks) {
        return explore([=] {
            model::mutex guard;
            model::condition_variable changed;
            atomic<bool> is_set = false;
            thread setter([&] {
                std::unique_lock held(guard, std::defer_lock);
                if (locks) held.lock();
                is_set.store(true);
                changed.notify_one();
            });
            std::unique_lock held(guard);
            changed.wait(held, [&] { return is_set.load(); });
        });
    };
    EXPECT_TRUE(says(with(false), "deadlock"));
    EXPECT_EQ(with(true).failure, "");
}

TEST(model_explore, finds_that_a_notification_went_to_another) {
    auto const with = [](bool all) {
        return explore([=] {
            atomic<int> ready = 0;
            thread a([&] { ready.wait(0); });
            thread b([&] { ready.wait(0); });
            ready.store(1);
            all ? ready.notify_all() : ready.notify_one();
        });
    };
    EXPECT_TRUE(says(with(false), "notification"));
    EXPECT_EQ(with(true).failure, "");
}

TEST(model_explore, finds_the_use_of_what_is_gone) {
    EXPECT_TRUE(says(explore([] {
                         std::optional<atomic<int>> counter(0);
                         thread a([&] { counter->fetch_add(1, relaxed); });
                         counter.reset();
                     }),
                     "destruction of"));
    EXPECT_TRUE(says(explore([] {
                         auto const memory = std::make_unique<std::byte[]>(sizeof(atomic<int>));
                         auto* const counter = ::new (memory.get()) atomic<int>(0);
                         counter->~atomic();
                         counter->store(1);
                     }),
                     "use after destruction"));
}

TEST(model_explore, finds_the_use_of_what_was_published_without_a_release) {
    EXPECT_TRUE(says(explore([] {
                         atomic<int> made = 0;
                         atomic<atomic<int>*> shared = nullptr;
                         thread a([&] {
                             auto const fresh = std::make_unique<atomic<int>>(7);
                             shared.store(fresh.get(), relaxed);
                             made.wait(0, std::memory_order_acquire);
                         });
                         if (auto* const fresh = shared.load(relaxed)) (void)fresh->load(relaxed);
                         made.store(1, std::memory_order_release);
                         made.notify_one();
                     }),
                     "construction does not happen before"));
}

TEST(model_explore, finds_loops_that_do_not_end) {
    EXPECT_TRUE(says(explore({.steps_max = 100},
                             [] {
                                 atomic<int> never = 0;
                                 while (never.load() == 0) {
                                 }
                             }),
                     "steps_max"));
    EXPECT_TRUE(says(explore([] {
                         atomic<int> never = 0;
                         while (never.load() == 0) model::yield();
                     }),
                     "nothing will change"));
}

TEST(model_explore, a_loop_that_yields_ends_when_another_thread_lets_it) {
    auto const found = explore([] {
        atomic<int> flag = 0;
        thread a([&] { flag.store(1, relaxed); });
        while (flag.load(relaxed) == 0) model::yield();
    });
    EXPECT_EQ(found.failure, "") << found.trace;
    EXPECT_TRUE(found.is_complete);
}

TEST(model_explore, reports_what_a_thread_throws_and_what_it_requires) {
    EXPECT_TRUE(
        says(explore([] { thread a([] { throw std::runtime_error("out of luck"); }); }), "out of luck"));
    EXPECT_TRUE(says(explore([] { model::require(false, "the impossible"); }), "the impossible"));
}

TEST(model_explore, a_bound_of_preemptions_leaves_out_what_needs_more) {
    auto const body = [] { // a looks, b adds, a looks, b adds, a looks
        model::mutex guard;
        int x = 0, sum = 0;
        {
            thread a([&] {
                for (int i = 0; i < 3; ++i) {
                    std::scoped_lock const held(guard);
                    sum = 10 * sum + x;
                }
            });
            thread b([&] {
                for (int i = 0; i < 2; ++i) {
                    std::scoped_lock const held(guard);
                    ++x;
                }
            });
        }
        model::require(sum != 12, "0, 1, 2");
    };
    EXPECT_EQ(explore({.preemptions_max = 0}, body).failure, "");
    EXPECT_TRUE(explore({.preemptions_max = 3}, body).has_failed());
    EXPECT_TRUE(explore(body).has_failed());
}

TEST(model_explore, an_order_can_be_weakened_to_see_whether_anybody_notices) {
    auto const found = explore({.weaken =
                                    [](std::memory_order written, std::source_location) {
                                        return written == std::memory_order_release ? relaxed : written;
                                    }},
                               published_by(std::memory_order_release));
    EXPECT_TRUE(says(found, "data race"));
}

TEST(model_explore, runs_a_small_body_at_the_rate_that_the_design_note_tells) {
    auto const found = explore({.reduces = false}, [] {
        atomic<int> x = 0, y = 0;
        thread a([&] { x.store(1), (void)y.load(), x.store(2); });
        thread b([&] { y.store(1), (void)x.load(), y.store(2); });
    });
    EXPECT_TRUE(found.is_complete);
    RecordProperty("executions_per_second",
                   static_cast<int>(static_cast<double>(found.executions) / found.seconds));
    std::fprintf(stderr, "%llu executions, %.0f a second\n",
                 static_cast<unsigned long long>(found.executions),
                 static_cast<double>(found.executions) / found.seconds);
}

} // namespace
