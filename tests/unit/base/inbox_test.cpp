#include <pitsaw/base/inbox.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace pitsaw;

struct message {
    std::uintptr_t link = 0;
    int number = 0;
    int producer = 0;
};
using message_inbox = inbox<message, &message::link>;

TEST(inbox, hands_out_the_oldest_first_each_with_its_tag) {
    message_inbox incoming;
    message first{0, 1, 0}, second{0, 2, 0}, third{0, 3, 0};
    EXPECT_TRUE(incoming.push(first, 7));
    EXPECT_FALSE(incoming.push(second));
    EXPECT_FALSE(incoming.push(third, 3));
    std::vector<std::pair<int, unsigned>> taken;
    EXPECT_EQ(incoming.take_all([&](message& next, unsigned tag) { taken.emplace_back(next.number, tag); }),
              3u);
    EXPECT_EQ(taken, (std::vector<std::pair<int, unsigned>>{{1, 7}, {2, 0}, {3, 3}}));
    EXPECT_TRUE(incoming.empty());
}

TEST(inbox, an_empty_one_hands_out_nothing) {
    message_inbox incoming;
    EXPECT_EQ(incoming.take_all([](message&, unsigned) { FAIL(); }), 0u);
}

TEST(inbox, the_first_push_after_a_take_asks_for_a_wake_again) {
    message_inbox incoming;
    message first, second;
    EXPECT_TRUE(incoming.push(first));
    incoming.take_all([](message&, unsigned) {});
    EXPECT_TRUE(incoming.push(second));
    incoming.take_all([](message&, unsigned) {});
}

TEST(inbox, what_is_pushed_while_handing_out_waits_for_the_next_time) {
    message_inbox incoming;
    message again;
    EXPECT_TRUE(incoming.push(again, 1));
    bool was_empty = false;
    EXPECT_EQ(incoming.take_all([&](message& taken, unsigned) { was_empty = incoming.push(taken, 2); }), 1u);
    EXPECT_TRUE(was_empty);
    EXPECT_EQ(incoming.take_all([&](message&, unsigned tag) { EXPECT_EQ(tag, 2u); }), 1u);
}

TEST(inbox, an_element_may_be_destroyed_when_it_is_handed_out) {
    message_inbox incoming;
    for (int i = 0; i < 3; ++i) (void)incoming.push(*new message);
    EXPECT_EQ(incoming.take_all([](message& taken, unsigned) { delete &taken; }), 3u);
}

// LW12: the owner sleeps without a time-out and is woken by the pushes into an empty inbox alone. Each
// producer's messages arrive in its order, each once, with what was written to them before the push.
TEST(inbox, nothing_is_lost_or_reordered_between_several_producers_and_a_sleeping_owner) {
    constexpr int producers = 3, messages = 40'000, in_flight = 64;
    struct lane {
        std::vector<message> pool = std::vector<message>(in_flight);
        std::atomic<int> received = 0;
    };
    std::vector<lane> lanes(producers);
    message_inbox incoming;
    std::atomic<bool> awake = false;
    std::vector<std::thread> threads;
    for (int producer = 0; producer < producers; ++producer) {
        threads.emplace_back([&, producer] {
            auto& own = lanes[static_cast<std::size_t>(producer)];
            for (int number = 0; number < messages; ++number) {
                while (number - own.received.load(std::memory_order_acquire) >= in_flight)
                    std::this_thread::yield();
                auto& next = own.pool[static_cast<std::size_t>(number % in_flight)];
                next.number = number;
                next.producer = producer;
                if (incoming.push(next, static_cast<unsigned>(number % 8))) {
                    awake.store(true, std::memory_order_release);
                    awake.notify_one();
                }
            }
        });
    }
    std::vector<int> expected(producers, 0);
    for (int left = producers * messages; left > 0;) {
        awake.wait(false, std::memory_order_acquire);
        // First the wake, then the inbox; an exchange, since a plain store could drop a wake without seeing
        // its push.
        (void)awake.exchange(false, std::memory_order_acquire);
        left -= static_cast<int>(incoming.take_all([&](message& taken, unsigned tag) {
            auto& next = expected[static_cast<std::size_t>(taken.producer)];
            EXPECT_EQ(taken.number, next);
            EXPECT_EQ(tag, static_cast<unsigned>(taken.number % 8));
            lanes[static_cast<std::size_t>(taken.producer)].received.store(++next, std::memory_order_release);
        }));
    }
    for (auto& thread : threads) thread.join();
    EXPECT_TRUE(incoming.empty());
}

} // namespace
