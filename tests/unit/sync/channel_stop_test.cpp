// A channel under stops at every await, and between threads under stops at any moment: no message is lost,
// none comes twice, each sender's come in its order.
#include <pitsaw/sync/channel.hpp>

#include "observed_runtime.hpp"
#include "two_runtimes.hpp"

#include <pitsaw/base/random.hpp>
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_stop.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

using text = ps::sim::counted<int>;

/// What stays in the channel has not been lost.
class leftovers {
  public:
    leftovers(ps::channel<text>& in, ps::sim::book& messages) : in_(in), messages_(messages) {}
    leftovers(leftovers&&) = delete;
    ~leftovers() {
        while (in_.try_receive()) messages_.give_back();
    }

  private:
    ps::channel<text>& in_;
    ps::sim::book& messages_;
};

TEST(channel, check_stop_finds_no_message_lost) { // LW2, CA14's kind
    ps::sim::book values("values"), messages("messages");
    auto const body = [&]() -> ps::task<> {
        ps::channel<text> through(2);
        leftovers const rest(through, messages);
        auto sends = [&](int count) -> ps::task<> {
            for (int i = 0; i < count; ++i) {
                auto const sent = co_await through.send(text(values, i));
                if (sent.has_value()) messages.take();
            }
        };
        auto reserves = [&](int count) -> ps::task<> {
            for (int i = 0; i < count; ++i) {
                auto place = co_await through.reserve();
                co_await ps::sleep(1us);
                place.send(text(values, i));
                messages.take();
            }
        };
        auto receives = [&](int count) -> ps::task<> {
            for (int i = 0; i < count; ++i) {
                auto const got = co_await through.receive();
                if (got.has_value()) messages.give_back();
                if (i % 2 == 0) co_await ps::sleep(3us);
            }
        };
        co_await ps::when_all(sends(4), reserves(3), receives(2), receives(5));
    };
    ps::sim::check_stop_options options;
    options.books = {&values, &messages};
    for (auto const target : {ps::sim::stop_target::runtime, ps::sim::stop_target::group}) {
        options.target = target;
        auto const report = ps::sim::check_stop(body, options);
        EXPECT_TRUE(report) << report;
        EXPECT_GT(report.stopped_runs(), 0u);
    }
}

/// Senders of one thread, receivers of another, of which some give up at random and come again.
struct crossing {
    static constexpr int senders = 2;

    ps::channel<int> through{4};
    std::array<std::uint64_t, senders> sent{};
    std::array<std::uint64_t, senders> received{};
    std::array<int, 2> last{};

    ps::task<> send(int who, int count) {
        for (int i = 0; i < count; ++i) {
            auto const number = i * senders + who;
            auto const end = co_await through.send(number);
            EXPECT_TRUE(end.has_value());
            sent[static_cast<std::size_t>(who)] += static_cast<std::uint64_t>(number);
        }
    }
    ps::task<> receive(int who) {
        ps::random_source random(static_cast<std::uint64_t>(who) + 1);
        std::array<int, senders> before = {-1, -1};
        for (;;) {
            int number = -1;
            if (random.below(8) == 0) {
                auto const first = co_await ps::when_any(through.receive(), ps::this_task::yield());
                auto const& got = std::get<0>(first);
                if (!got.has_value()) continue;
                if (!got->has_value()) co_return;
                number = **got;
            } else {
                auto const got = co_await through.receive();
                if (!got.has_value()) co_return;
                number = *got;
            }
            auto const from = static_cast<std::size_t>(number % senders);
            EXPECT_GT(number, before[from]); // each sender's in its order
            before[from] = number;
            received[static_cast<std::size_t>(who)] += static_cast<std::uint64_t>(number);
        }
    }
};

TEST(channel, between_two_threads_every_message_arrives_once) { // LW1, LW12
    constexpr int each = 20'000;
    crossing all;
    run_on_two_threads(
        [&]() -> ps::task<> {
            co_await ps::when_all(all.send(0, each), all.send(1, each));
            all.through.close();
        },
        [&]() -> ps::task<> { co_await ps::when_all(all.receive(0), all.receive(1)); });
    EXPECT_EQ(all.sent[0] + all.sent[1], all.received[0] + all.received[1]);
    EXPECT_EQ(all.through.size(), 0u);
}

} // namespace
