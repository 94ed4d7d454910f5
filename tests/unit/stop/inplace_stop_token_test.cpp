#include <pitsaw/stop/inplace_stop_token.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace pitsaw;

using any_callback = inplace_stop_callback<std::function<void()>>;

static_assert(!std::is_move_constructible_v<inplace_stop_source>);
static_assert(!std::is_move_constructible_v<any_callback>);
static_assert(std::regular<inplace_stop_token> && std::is_nothrow_copy_constructible_v<inplace_stop_token>);
static_assert(std::same_as<inplace_stop_token::callback_type<int (*)()>, inplace_stop_callback<int (*)()>>);

TEST(inplace_stop_token, a_default_token_never_stops) {
    inplace_stop_token const token;
    EXPECT_FALSE(token.stop_possible());
    EXPECT_FALSE(token.stop_requested());
    EXPECT_EQ(token.reason(), stop_reason::none);
    bool ran = false;
    {
        inplace_stop_callback const callback(token, [&] { ran = true; });
    }
    EXPECT_FALSE(ran);
}

TEST(inplace_stop_token, a_request_is_seen_by_every_token) {
    inplace_stop_source source;
    auto const before = source.get_token();
    EXPECT_TRUE(before.stop_possible());
    EXPECT_FALSE(before.stop_requested());
    EXPECT_FALSE(source.stop_requested());
    EXPECT_EQ(source.reason(), stop_reason::none);
    EXPECT_TRUE(source.request_stop());
    EXPECT_TRUE(source.stop_requested());
    EXPECT_TRUE(before.stop_requested());
    EXPECT_TRUE(source.get_token().stop_requested());
    EXPECT_EQ(before.reason(), stop_reason::requested);
}

TEST(inplace_stop_token, the_first_request_wins_and_its_reason_stays) {
    inplace_stop_source source;
    EXPECT_TRUE(source.request_stop(stop_reason::peer_gone));
    EXPECT_FALSE(source.request_stop(stop_reason::timeout));
    EXPECT_FALSE(source.request_stop());
    EXPECT_EQ(source.reason(), stop_reason::peer_gone);
    EXPECT_EQ(source.get_token().reason(), stop_reason::peer_gone);
}

TEST(inplace_stop_token, every_reason_arrives_as_it_was_given) {
    for (auto const why : {stop_reason::requested, stop_reason::timeout, stop_reason::shutdown,
                           stop_reason::sibling_failed, stop_reason::sibling_won, stop_reason::peer_gone}) {
        inplace_stop_source source;
        inplace_stop_callback const callback(source.get_token(), [&] { EXPECT_EQ(source.reason(), why); });
        EXPECT_TRUE(source.request_stop(why));
        EXPECT_EQ(source.reason(), why);
    }
}

TEST(inplace_stop_token, tokens_are_equal_when_they_share_a_source) {
    inplace_stop_source first, second;
    EXPECT_EQ(first.get_token(), first.get_token());
    EXPECT_NE(first.get_token(), second.get_token());
    EXPECT_EQ(inplace_stop_token(), inplace_stop_token());
    EXPECT_NE(inplace_stop_token(), first.get_token());
    auto token = first.get_token(), other = second.get_token();
    token.swap(other);
    EXPECT_EQ(token, second.get_token());
    EXPECT_EQ(other, first.get_token());
}

TEST(inplace_stop_callback, runs_once_on_the_thread_that_requests) {
    inplace_stop_source source;
    int runs = 0;
    std::thread::id where;
    inplace_stop_callback const callback(source.get_token(), [&] {
        ++runs;
        where = std::this_thread::get_id();
        EXPECT_TRUE(source.stop_requested());
    });
    std::thread::id requester;
    std::thread thread([&] {
        requester = std::this_thread::get_id();
        EXPECT_TRUE(source.request_stop());
    });
    thread.join();
    EXPECT_FALSE(source.request_stop());
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(where, requester);
}

TEST(inplace_stop_callback, runs_in_its_constructor_if_the_stop_was_requested) {
    inplace_stop_source source;
    EXPECT_TRUE(source.request_stop());
    int runs = 0;
    {
        inplace_stop_callback const callback(source.get_token(), [&] { ++runs; });
        EXPECT_EQ(runs, 1);
    }
    EXPECT_EQ(runs, 1);
}

TEST(inplace_stop_callback, registered_by_a_callback_it_runs_inline) {
    inplace_stop_source source;
    int runs = 0;
    inplace_stop_callback const callback(source.get_token(), [&] {
        inplace_stop_callback const nested(source.get_token(), [&] { ++runs; });
        EXPECT_EQ(runs, 1);
    });
    EXPECT_TRUE(source.request_stop());
    EXPECT_EQ(runs, 1);
}

TEST(inplace_stop_callback, destroyed_before_the_request_it_never_runs) {
    inplace_stop_source source;
    std::vector<std::unique_ptr<any_callback>> callbacks;
    std::vector<int> ran;
    for (int i = 0; i < 5; ++i) {
        callbacks.push_back(std::make_unique<any_callback>(source.get_token(), [&, i] { ran.push_back(i); }));
    }
    callbacks[2].reset(); // from the middle, then from both ends
    callbacks[0].reset();
    callbacks[4].reset();
    EXPECT_TRUE(source.request_stop());
    std::ranges::sort(ran);
    EXPECT_EQ(ran, (std::vector{1, 3}));
}

TEST(inplace_stop_callback, may_destroy_itself) {
    inplace_stop_source source;
    std::optional<any_callback> callback, other;
    int runs = 0;
    auto const destroy_itself = [&] {
        auto& counter = runs; // the closure dies with the callback
        callback.reset();
        ++counter;
    };
    callback.emplace(source.get_token(), destroy_itself);
    other.emplace(source.get_token(), [&] { ++runs; });
    EXPECT_TRUE(source.request_stop());
    EXPECT_EQ(runs, 2);
    EXPECT_FALSE(callback);
}

// CA7: whichever of the siblings runs first ends all of them.
TEST(inplace_stop_callback, may_destroy_others_and_itself) {
    inplace_stop_source source;
    std::array<std::unique_ptr<any_callback>, 4> callbacks;
    int runs = 0;
    for (auto& callback : callbacks) {
        callback = std::make_unique<any_callback>(source.get_token(), [&callbacks, &runs] {
            auto& counter = runs;
            for (auto& each : callbacks) std::exchange(each, nullptr).reset();
            ++counter;
        });
    }
    EXPECT_TRUE(source.request_stop());
    EXPECT_EQ(runs, 1);
}

TEST(inplace_stop_callback, may_request_the_stop_again) {
    inplace_stop_source source;
    inplace_stop_callback const callback(source.get_token(), [&] { EXPECT_FALSE(source.request_stop()); });
    EXPECT_TRUE(source.request_stop());
}

TEST(inplace_stop_callback, holds_references_and_moves_what_it_is_given) {
    inplace_stop_source source;
    int runs = 0;
    auto count = [&] { ++runs; };
    auto owner = [left = std::make_unique<int>(1), &runs]() mutable { runs += std::exchange(*left, 0); };
    inplace_stop_callback<decltype(count)&> const by_reference(source.get_token(), count);
    inplace_stop_callback const by_value(source.get_token(), std::move(owner));
    EXPECT_TRUE(source.request_stop());
    EXPECT_EQ(runs, 2);
}

TEST(inplace_stop_callback, destroying_it_waits_while_it_runs_on_another_thread) {
    inplace_stop_source source;
    std::atomic<bool> running = false, leaving = false;
    bool finished = false;
    auto callback = std::make_unique<any_callback>(source.get_token(), [&] {
        running = true;
        running.notify_one();
        leaving.wait(false);
        for (int i = 0; i < 100; ++i) std::this_thread::yield();
        finished = true; // no atomic: the destructor's return is what orders it
    });
    std::thread requester([&] { EXPECT_TRUE(source.request_stop()); });
    running.wait(false);
    leaving = true;
    leaving.notify_one();
    callback.reset();
    EXPECT_TRUE(finished);
    requester.join();
}

TEST(inplace_stop_callback, destroying_another_does_not_wait_for_the_one_that_runs) {
    inplace_stop_source source;
    std::atomic<bool> running = false, release = false;
    auto block = [&] {
        running = true;
        running.notify_one();
        release.wait(false);
    };
    any_callback const blocking(source.get_token(), block);
    std::thread requester([&] { EXPECT_TRUE(source.request_stop()); });
    running.wait(false);
    {
        int runs = 0;
        any_callback const late(source.get_token(), [&] { ++runs; }); // inline, while the other one runs
        EXPECT_EQ(runs, 1);
    }
    EXPECT_FALSE(source.request_stop());
    release = true;
    release.notify_one();
    requester.join();
}

// Lets two threads do `left` and `right` to each of 100,000 items, as much at the same time as the machine
// allows: each waits a moment for the other, but not for long, so that a busy machine makes the races rarer,
// not the test slow. Where they meet is relaxed, lest it orders what the tested code must order. `finished`
// is for each item then.
template <class Item, class Left, class Right, class Finished>
void race(Left left, Right right, Finished finished) {
    constexpr int batches = 200, batch = 500;
    for (int round = 0; round < batches && !testing::Test::HasFatalFailure(); ++round) {
        std::vector<Item> items(batch);
        std::array<std::atomic<int>, 2> progress{};
        auto const visit = [&](std::size_t self, auto& side) {
            for (int i = 0; i < batch; ++i) {
                progress[self].store(i, std::memory_order_relaxed);
                for (int spins = 0; spins < 300 && progress[1 - self].load(std::memory_order_relaxed) < i;
                     ++spins) {
                }
                side(items[static_cast<std::size_t>(i)]);
            }
        };
        std::thread other([&] { visit(1, right); });
        visit(0, left);
        other.join();
        for (auto& item : items) finished(item);
    }
}

TEST(inplace_stop_token_race, one_of_two_requesters_wins_and_the_reason_is_its) {
    struct item {
        inplace_stop_source source;
        int runs = 0;
        bool left_won = false, right_won = false;
        any_callback callback{source.get_token(), [this] { ++runs; }};
    };
    race<item>([](item& tested) { tested.left_won = tested.source.request_stop(stop_reason::timeout); },
               [](item& tested) { tested.right_won = tested.source.request_stop(stop_reason::shutdown); },
               [](item& tested) {
                   ASSERT_NE(tested.left_won, tested.right_won);
                   ASSERT_EQ(tested.source.reason(),
                             tested.left_won ? stop_reason::timeout : stop_reason::shutdown);
                   ASSERT_EQ(tested.runs, 1);
               });
}

TEST(inplace_stop_token_race, who_sees_the_stop_sees_what_preceded_it) {
    struct item {
        inplace_stop_source source;
        int written = 0, read = 0; // no atomics: the stop is what orders them
    };
    race<item>(
        [](item& tested) {
            tested.written = 1;
            tested.source.request_stop();
        },
        [](item& tested) {
            while (!tested.source.get_token().stop_requested()) std::this_thread::yield();
            tested.read = tested.written;
        },
        [](item& tested) { ASSERT_EQ(tested.read, 1); });
}

// Of the kind LW: a stop between looking and registering is not lost.
TEST(inplace_stop_token_race, a_callback_that_registers_during_a_request_runs_exactly_once) {
    struct item {
        inplace_stop_source source;
        int earlier_runs = 0, racing_runs = 0;
        any_callback earlier{source.get_token(), [this] { ++earlier_runs; }};
        std::optional<any_callback> racing;
    };
    race<item>(
        [](item& tested) {
            tested.racing.emplace(tested.source.get_token(), [&tested] {
                ++tested.racing_runs;
                EXPECT_EQ(tested.source.reason(), stop_reason::peer_gone);
            });
        },
        [](item& tested) { tested.source.request_stop(stop_reason::peer_gone); },
        [](item& tested) {
            ASSERT_EQ(tested.earlier_runs, 1);
            ASSERT_EQ(tested.racing_runs, 1);
        });
}

// CA9: what a callback uses may go as soon as the destructor has returned, whichever side is first.
TEST(inplace_stop_token_race, nothing_runs_after_the_destructor_has_returned) {
    struct item {
        inplace_stop_source source;
        std::unique_ptr<int> runs = std::make_unique<int>(0); // freed at once: the sanitizers see a late run
        std::array<std::optional<any_callback>, 3> callbacks;
        int ran = 0;
        item() {
            for (auto& callback : callbacks) callback.emplace(source.get_token(), [this] { ++*runs; });
        }
    };
    int ran = 0;
    race<item>(
        [](item& tested) {
            for (std::size_t const leaving : {1u, 0u, 2u}) tested.callbacks[leaving].reset();
            tested.ran = *tested.runs;
            tested.runs.reset();
        },
        [](item& tested) { tested.source.request_stop(); }, [&](item& tested) { ran += tested.ran; });
    RecordProperty("callbacks_that_ran", ran);
}

// CA7: children that complete inside their stop callbacks, the last of them destroys its scope; an outer stop
// arrives from a second thread at the same time. The scope counts who uses it, and its own request_stop among
// them.
struct scope {
    explicit scope(inplace_stop_token outer, int& destroyed_scopes)
        : destroyed(destroyed_scopes), on_outer_stop(outer, [this] {
              if (enter()) {
                  inner.request_stop(stop_reason::shutdown);
                  leave();
              }
          }) {
        for (auto& child : children) child.emplace(inner.get_token(), [this, &child] { complete(child); });
    }
    ~scope() { ++destroyed; }

    // False when the last user has left, and the destructor is on its way.
    auto enter() -> bool {
        int count = users.load();
        while (count != 0 && !users.compare_exchange_weak(count, count + 1)) {
        }
        return count != 0;
    }
    void leave() {
        if (users.fetch_sub(1) == 1) delete this;
    }
    void complete(std::optional<any_callback>& child) {
        auto* const self = this; // the closure that called may be the child's
        child.reset();
        self->leave();
    }
    void fail_first_child() {
        if (!enter()) return;
        inner.request_stop(stop_reason::sibling_failed);
        leave();
    }

    int& destroyed;
    inplace_stop_source inner;
    std::atomic<int> users = 4; // one for each child, one for who made it
    std::array<std::optional<any_callback>, 3> children;
    inplace_stop_callback<std::function<void()>> on_outer_stop;
};

TEST(inplace_stop_token_race, a_scope_may_be_destroyed_by_its_last_child_under_an_outer_stop) {
    struct item {
        inplace_stop_source outer;
        int destroyed = 0;
        scope* tested = new scope(outer.get_token(), destroyed);
    };
    race<item>(
        [](item& each) {
            each.tested->fail_first_child();
            each.tested->leave();
        },
        [](item& each) { each.outer.request_stop(); }, [](item& each) { ASSERT_EQ(each.destroyed, 1); });
}

TEST(inplace_stop_source_death_test, must_outlive_its_callbacks) {
    EXPECT_DEATH(
        {
            std::optional<inplace_stop_source> source(std::in_place);
            inplace_stop_callback const callback(source->get_token(), [] {});
            source.reset();
        },
        "destroyed before its callbacks");
}

TEST(inplace_stop_source_death_test, must_outlive_its_request) {
    EXPECT_DEATH(
        {
            std::optional<inplace_stop_source> source(std::in_place);
            inplace_stop_callback const callback(source->get_token(), [&] { source.reset(); });
            source->request_stop();
        },
        "while its request_stop runs callbacks");
}

TEST(inplace_stop_source_death_test, a_reason_is_not_none) {
    inplace_stop_source source;
    EXPECT_DEATH(source.request_stop(stop_reason::none), "a stop has a reason");
}

} // namespace
