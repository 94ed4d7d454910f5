#include "model/weakened.hpp"

#include <pitsaw/model/explore.hpp>
#include <pitsaw/sync/channel.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <optional>

// The channel as it is shipped, between a runtime and a thread that has none:
// include/pitsaw/sync/channel.hpp over include/pitsaw/sync/wait_queue.hpp, src/sync/wait_queue.cpp and
// include/pitsaw/base/spin_lock.hpp.

namespace {

using namespace pitsaw;
using model::require;
using model::thread;
using model::var;

/// A message whose read tells a race on it.
struct message {
    message() = default;
    explicit message(int what) : number(what) {}
    message(message&& from) noexcept : number(static_cast<int>(from.number)) {}

    var<int> number = 0;
};

task<int> receive_one(channel<message>& from) {
    auto got = co_await from.receive();
    co_return got.has_value() ? static_cast<int>(got->number) : -1;
}

void a_message_reaches_who_waits_or_comes_later() {
    channel<message> through(1);
    runtime rt;
    thread sends([&] { require(through.try_send(message(7)).has_value(), "there is room"); });
    auto const got = sync_wait(rt, receive_one(through));
    require(got.has_value() && got.value() == 7, "the message");
}

void a_close_ends_who_waits() {
    channel<message> through(1);
    runtime rt;
    thread closes([&] { through.close(); });
    auto const got = sync_wait(rt, receive_one(through));
    require(got.has_value() && got.value() == -1, "the end");
}

/// The message is received, or it is still there.
void a_stop_meets_a_message() {
    channel<message> through(1);
    bool is_received = false;
    {
        runtime rt;
        thread sends([&] { require(through.try_send(message(7)).has_value(), "there is room"); });
        thread stops([&] { rt.request_stop(); });
        auto const got = sync_wait(rt, receive_one(through));
        is_received = got.has_value();
    }
    require(through.size() == (is_received ? 0U : 1U), "received once, or kept");
}

void holds(std::function<void()> const& body, model::options const& how = {}) {
    auto const found = model::explore(how, body);
    EXPECT_EQ(found.failure, "") << found.trace << found.replay;
    EXPECT_TRUE(found.is_complete);
}

TEST(channel_under_the_model, a_message_reaches_who_waits_or_comes_later) {
    holds(a_message_reaches_who_waits_or_comes_later);
}
TEST(channel_under_the_model, a_close_ends_who_waits) { holds(a_close_ends_who_waits); }
TEST(channel_under_the_model, a_stop_meets_a_message) {
    model::options how;
    how.preemptions_max = 2;
    holds(a_stop_meets_a_message, how);
}
TEST(channel_under_the_model, each_order_of_the_lock_is_needed) {
    auto const found = pitsaw::testing::weaken_each({a_message_reaches_who_waits_or_comes_later},
                                                    {"pitsaw/base/spin_lock.hpp"}, {});
    EXPECT_TRUE(found.unnoticed.empty()) << text_of(found);
    EXPECT_EQ(found.noticed, 2U);
    EXPECT_EQ(found.failure, "");
}

} // namespace
