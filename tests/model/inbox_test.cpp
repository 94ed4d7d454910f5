#include "model/weakened.hpp"

#include "driver/wake_word.hpp"

#include <pitsaw/base/inbox.hpp>
#include <pitsaw/model/explore.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

// LW12: how work of other threads reaches a worker that sleeps. base/inbox.hpp and driver/wake_word.hpp as
// shipped; the kernel, which the drivers on Linux ask to sleep, is a count under a mutex, as eventfd(2) is.

namespace {

using namespace pitsaw;
using model::require;
using model::thread;
using model::var;

struct message {
    detail::guarded<std::uintptr_t> link = 0;
    var<int> number = 0;
};
using message_inbox = inbox<message, &message::link>;

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

/// A worker as the loop and the drivers make it: sleep unless woken, take the wake, then the inbox.
class sleeper {
  public:
    void post(message& to, unsigned tag = 0) {
        if (incoming_.push(to, tag) && word_.wake()) kernel_.signal();
    }
    void post_one(message& to) { post(to); }

    /// The canary: who wakes before there is something to read has woken for nothing.
    void post_after_the_wake(message& to) {
        if (word_.wake()) kernel_.signal();
        (void)incoming_.push(to);
    }

    /// The canary: a wake that is left to who found the inbox empty, and that one forgets it.
    void post_without_a_wake(message& to) { (void)incoming_.push(to); }

    /// How many messages it has read.
    auto turn() -> int {
        if (word_.fall_asleep()) {
            kernel_.sleep();
            word_.rise();
        }
        return word_.take() ? read() : 0;
    }

    /// The canary: what is looked at before the wake is taken may have come before the look at its like.
    auto turn_wrong_way_round() -> int {
        auto const count = read();
        if (word_.fall_asleep()) {
            kernel_.sleep();
            word_.rise();
        }
        (void)word_.take();
        return count;
    }

    /// The canary: a worker that looks whether it is woken, and then sleeps.
    auto turn_that_looks_and_then_sleeps() -> int {
        if (!word_.take()) kernel_.sleep();
        return read();
    }

  private:
    auto read() -> int {
        int sum = 0;
        incoming_.take_all([&](message& next, unsigned) { sum += next.number; });
        return sum;
    }

    message_inbox incoming_;
    wake_word word_;
    eventfd kernel_;
};

void the_inbox_hands_over_each_message_once_in_its_order() {
    message_inbox incoming;
    std::array<message, 2> first;
    message second;
    int of_first = 0;
    thread a([&] {
        for (int i = 0; i < 2; ++i) {
            first[static_cast<unsigned>(i)].number = i;
            (void)incoming.push(first[static_cast<unsigned>(i)], 3);
        }
    });
    thread b([&] {
        second.number = 9;
        (void)incoming.push(second, 5);
    });
    for (int taken = 0; taken < 3;) {
        auto const count = incoming.take_all([&](message& next, unsigned tag) {
            if (next.number == 9) return require(tag == 5, "the tag of b");
            require(tag == 3, "the tag of a");
            require(next.number == of_first++, "the order of a");
        });
        if (count == 0) model::yield();
        taken += static_cast<int>(count);
    }
    require(incoming.empty(), "nothing twice");
}

void an_element_may_go_in_again_as_soon_as_it_is_out() {
    message_inbox incoming;
    message first, second;
    first.number = 1;
    int taken = 0;
    thread a([&] { (void)incoming.push(first); });
    thread b([&] { (void)incoming.push(second); });
    auto const receive = [&](message& next, unsigned tag) {
        if (next.number == 1 && tag == 0) (void)incoming.push(next, 1);
    };
    while (taken < 3) {
        auto const count = static_cast<int>(incoming.take_all(receive));
        if (count == 0) model::yield();
        taken += count;
    }
}

template <int A, int B> void no_wake_is_lost() {
    sleeper worker;
    std::array<message, 3> messages;
    thread a([&] {
        for (unsigned i = 0; i < A; ++i) {
            messages[i].number = 1;
            worker.post(messages[i]);
        }
    });
    thread b([&] {
        for (unsigned i = A; i < A + B; ++i) {
            messages[i].number = 1;
            worker.post(messages[i]);
        }
    });
    for (int left = A + B; left > 0;) left -= worker.turn();
}

void report(char const* name, model::report const& found) {
    std::printf("%s: %llu executions, %llu redundant, %.0f/s, %s\n", name,
                static_cast<unsigned long long>(found.executions),
                static_cast<unsigned long long>(found.redundant),
                static_cast<double>(found.executions) / found.seconds, found.is_complete ? "all" : "not all");
}

void holds(char const* name, std::function<void()> const& body, model::options const& how = {}) {
    auto const found = model::explore(how, body);
    EXPECT_EQ(found.failure, "") << found.trace << found.replay;
    EXPECT_TRUE(found.is_complete);
    report(name, found);
}

TEST(inbox_protocol, hands_over_each_message_once_in_its_order) {
    holds("inbox", the_inbox_hands_over_each_message_once_in_its_order);
}
TEST(inbox_protocol, an_element_may_go_in_again_as_soon_as_it_is_out) {
    holds("again", an_element_may_go_in_again_as_soon_as_it_is_out);
}
TEST(wake_protocol, no_wake_is_lost) {
    holds("wake 1 1", no_wake_is_lost<1, 1>);
    holds("wake 2 0", no_wake_is_lost<2, 0>);
}
TEST(wake_protocol, no_wake_is_lost_within_two_preemptions) {
    holds("wake 2 1", no_wake_is_lost<2, 1>, {.preemptions_max = 2});
}

TEST(inbox_protocol, each_memory_order_is_needed) {
    auto const found = pitsaw::testing::weaken_each({the_inbox_hands_over_each_message_once_in_its_order},
                                                    {"base/inbox.hpp"});
    EXPECT_EQ(found.failure, "");
    EXPECT_TRUE(found.unnoticed.empty()) << text_of(found);
    EXPECT_EQ(found.noticed, 2U);
}

TEST(wake_protocol, each_memory_order_is_needed) {
    auto const found = pitsaw::testing::weaken_each({no_wake_is_lost<1, 1>, no_wake_is_lost<2, 0>},
                                                    {"driver/wake_word.hpp"});
    EXPECT_EQ(found.failure, "");
    EXPECT_TRUE(found.unnoticed.empty()) << text_of(found);
    EXPECT_EQ(found.noticed, 2U);
}

/// Whether the model finds that a worker sleeps for ever which takes one message, sent and received like
/// this.
template <class Post, class Turn> bool sleeps_for_ever(Post post, Turn turn) {
    auto const found = model::explore([&] {
        sleeper worker;
        message only;
        only.number = 1;
        thread a([&] { (worker.*post)(only); });
        for (int left = 1; left > 0;) left -= (worker.*turn)();
    });
    return found.failure.find("deadlock") != std::string::npos;
}

TEST(canary_wake, a_worker_that_takes_the_wake_after_the_inbox_sleeps_for_ever) {
    EXPECT_TRUE(sleeps_for_ever(&sleeper::post_one, &sleeper::turn_wrong_way_round));
}
TEST(canary_wake, a_worker_that_looks_and_then_sleeps_sleeps_for_ever) {
    EXPECT_TRUE(sleeps_for_ever(&sleeper::post_one, &sleeper::turn_that_looks_and_then_sleeps));
}
TEST(canary_wake, a_message_that_comes_after_its_wake_is_not_read) {
    EXPECT_TRUE(sleeps_for_ever(&sleeper::post_after_the_wake, &sleeper::turn));
}
TEST(canary_wake, a_message_without_a_wake_is_not_read) {
    EXPECT_TRUE(sleeps_for_ever(&sleeper::post_without_a_wake, &sleeper::turn));
}
TEST(canary_wake, the_sound_pair_passes) {
    EXPECT_FALSE(sleeps_for_ever(&sleeper::post_one, &sleeper::turn));
}

} // namespace
