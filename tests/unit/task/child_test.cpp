#include <pitsaw/task/child.hpp>

#include <pitsaw/scope/when_all.hpp>
#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/sleep.hpp>

#include <gtest/gtest.h>

#include <coroutine>
#include <memory>
#include <stdexcept>
#include <type_traits>

namespace {

using namespace pitsaw;

struct not_awaitable {};

static_assert(awaitable<task<int>>);
static_assert(awaitable<sleep_awaiter>);
static_assert(awaitable<std::suspend_never>);
static_assert(!awaitable<task<int>&>);
static_assert(!awaitable<int>);
static_assert(!awaitable<not_awaitable>);

static_assert(std::is_same_v<child_value<task<int>>, int>);
static_assert(std::is_same_v<child_value<task<int&>>, int&>);
static_assert(std::is_same_v<child_value<sleep_awaiter>, void>);
static_assert(!std::is_move_constructible_v<child<task<int>>>);
static_assert(!std::is_move_constructible_v<child<sleep_awaiter>>);

// A leaf by hand, which suspends or not, and whose result cannot be copied or throws.
class leaf_by_hand {
  public:
    enum manner { at_once, after_a_turn, throwing };
    explicit leaf_by_hand(manner how) : how_(how) {}
    leaf_by_hand(leaf_by_hand&&) = delete;
    [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept {
        if (how_ == at_once) return transfer(header);
        header.env->executor->ready.push(header);
        return std::noop_coroutine();
    }
    std::unique_ptr<int> await_resume() {
        if (how_ == throwing) throw std::runtime_error("boom");
        return std::make_unique<int>(how_);
    }

  private:
    manner how_;
};

task<int> in_a_scope(leaf_by_hand::manner how) {
    auto const end = co_await as_outcome(leaf_by_hand(how));
    co_return end.has_exception() ? -1 : end.has_value() ? 1 : 0;
}
task<int> two_in_a_scope(leaf_by_hand::manner one, leaf_by_hand::manner other) {
    auto const both = co_await when_all(leaf_by_hand(one), leaf_by_hand(other));
    co_return 10 * *std::get<0>(both) + *std::get<1>(both);
}

TEST(child, takes_the_result_of_a_leaf_whether_it_suspends_or_not) {
    EXPECT_EQ(sync_wait(in_a_scope(leaf_by_hand::at_once)).value(), 1);
    EXPECT_EQ(sync_wait(in_a_scope(leaf_by_hand::after_a_turn)).value(), 1);
    EXPECT_EQ(sync_wait(in_a_scope(leaf_by_hand::throwing)).value(), -1);
}

TEST(child, starts_queued_whether_it_suspends_or_not) {
    using enum leaf_by_hand::manner;
    EXPECT_EQ(sync_wait(two_in_a_scope(at_once, after_a_turn)).value(), 1);
    EXPECT_EQ(sync_wait(two_in_a_scope(after_a_turn, at_once)).value(), 10);
    EXPECT_TRUE(sync_wait(two_in_a_scope(throwing, at_once)).has_exception());
}

task<int> a_thousand_branches_at_once() {
    int sum = 0;
    for (int i = 0; i < 1000; ++i) {
        auto const all =
            co_await when_all(leaf_by_hand(leaf_by_hand::at_once), leaf_by_hand(leaf_by_hand::at_once),
                              leaf_by_hand(leaf_by_hand::at_once));
        sum += 1 + *std::get<2>(all);
    }
    co_return sum;
}

TEST(child, is_not_lost_when_the_budget_of_hops_ends_at_its_start) {
    EXPECT_EQ(sync_wait(a_thousand_branches_at_once()).value(), 1000);
}

} // namespace
