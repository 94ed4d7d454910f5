#include <pitsaw/executor/timer_queue.hpp>

#include <pitsaw/base/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace {

using namespace pitsaw;
using namespace std::chrono_literals;

constexpr std::size_t plenty = 1'000'000'000;

auto at(std::int64_t nanoseconds) -> time_point { return time_point(duration(nanoseconds)); }

// Compares a queue with an ordered map while both are armed, disarmed, expired and jumped at random.
class against_model {
  public:
    against_model(std::uint64_t seed, std::size_t timers)
        : random_(seed), now_(at(random_.chance(0.5) ? random_.between(-1000, 1000) : any_time())),
          horizon_(now_), queue_(now_), nodes_(timers) {
        for (auto& timer : nodes_) timer.owner = this;
    }
    ~against_model() {
        for (auto& timer : nodes_) (void)queue_.disarm(timer);
    }

    void run(int steps) {
        for (int step = 0; step < steps && !::testing::Test::HasFatalFailure(); ++step) {
            switch (random_.below(4)) {
            case 0:
            case 1:
                arm_or_disarm();
                break;
            case 2:
                disarm(any_node());
                break;
            case 3:
                expire();
                break;
            }
            ASSERT_EQ(queue_.size(), waiting_.size());
            ASSERT_LE(queue_.next_wake(), earliest());
        }
    }

  private:
    using key = std::pair<time_point, std::uint64_t>; // when it counts as due, in which order it was armed
    struct node : timer_node {
        node()
            : timer_node([](timer_node& self) noexcept {
                  static_cast<node&>(self).owner->fired(static_cast<node&>(self));
              }) {}
        against_model* owner = nullptr;
        key expected;
        std::uint64_t armed_in_call = 0;
    };

    auto any_node() -> node& { return nodes_[random_.below(nodes_.size())]; }
    auto any_time() -> std::int64_t { return static_cast<std::int64_t>(random_()); }
    auto any_wait() -> duration {
        auto const magnitude = random_.between(1, 63);
        return duration(static_cast<std::int64_t>(random_() >> magnitude));
    }
    auto any_deadline() -> time_point {
        switch (random_.below(16)) {
        case 0:
            return at(any_time());
        case 1:
            return never;
        case 2:
            return never - 1ns;
        case 3:
            return time_point::min();
        case 4:
            return saturating_add(now_, -any_wait());
        case 5:
        case 6:
        case 7:
            return any_node().deadline; // equal ones
        case 8:
            return now_;
        default:
            return saturating_add(now_, any_wait());
        }
    }
    auto earliest() const -> time_point { return waiting_.empty() ? never : waiting_.begin()->first.first; }

    void arm_or_disarm() {
        auto& timer = any_node();
        if (timer.armed()) return disarm(timer);
        timer.deadline = any_deadline();
        timer.expected = {std::max(timer.deadline, horizon_), ++armings_};
        timer.armed_in_call = calls_in_progress_ ? calls_ : 0;
        waiting_.emplace(timer.expected, &timer);
        queue_.arm(timer);
    }
    void disarm(node& timer) {
        bool const was_armed = waiting_.erase(timer.expected) == 1;
        ASSERT_EQ(queue_.disarm(timer), was_armed);
        ASSERT_FALSE(timer.armed());
    }
    void expire() {
        switch (random_.below(6)) {
        case 0:
            break;
        case 1:
            now_ = std::max(now_, queue_.next_wake());
            break;
        case 2:
            now_ = saturating_add(now_, duration(random_.between(0, 100)));
            break;
        case 3:
            now_ = std::max(now_, earliest());
            break;
        default:
            now_ = saturating_add(now_, any_wait() / 16);
            break;
        }
        now_ = std::min(now_, never - 1ns);
        if (random_.chance(0.1) && horizon_ > time_point::min()) {
            ASSERT_EQ(queue_.expire(horizon_ - 1ns, plenty), 0u);
        }
        horizon_ = std::max(horizon_, now_);
        std::size_t const budget = random_.chance(0.5) ? plenty : random_.below(20);
        ++calls_;
        calls_in_progress_ = true;
        auto const before = fired_;
        auto const reported = queue_.expire(now_, budget);
        calls_in_progress_ = false;
        ASSERT_EQ(reported, fired_ - before);
        ASSERT_LE(fired_ - before, budget);
        if (budget == plenty) {
            for (auto const& [due, timer] : waiting_) {
                if (due.first > now_) break;
                ASSERT_EQ(timer->armed_in_call, calls_) << "due, but not fired";
            }
        }
    }
    void fired(node& timer) {
        ++fired_;
        EXPECT_TRUE(calls_in_progress_);
        EXPECT_FALSE(timer.armed());
        ASSERT_FALSE(waiting_.empty());
        EXPECT_EQ(waiting_.begin()->second, &timer) << "not the next one in order";
        EXPECT_LE(timer.deadline, now_);
        EXPECT_NE(timer.armed_in_call, calls_) << "fired in the call that armed it";
        waiting_.erase(timer.expected);
        for (auto more = random_.below(4); more > 1; --more) arm_or_disarm();
    }

    random_source random_;
    time_point now_;
    time_point horizon_; // the latest time that expire has been told
    timer_queue queue_;
    std::vector<node> nodes_;
    std::map<key, node*> waiting_;
    std::uint64_t armings_ = 0;
    std::uint64_t calls_ = 0;
    std::size_t fired_ = 0;
    bool calls_in_progress_ = false;
};

TEST(timer_queue_model, does_what_an_ordered_map_does_few_timers) {
    for (std::uint64_t seed = 1; seed <= 3000 && !HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        against_model(seed, 6).run(200);
    }
}

TEST(timer_queue_model, does_what_an_ordered_map_does_many_timers) {
    for (std::uint64_t seed = 1; seed <= 100 && !HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        against_model(seed, 500).run(5000);
    }
}

} // namespace
