#include <pitsaw/sim/check_stop.hpp>

#include "stream_leaves.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::nop;
using ps::testing::receive_some;
using ps::testing::send_some;

namespace {

ps::task<> three_sleeps() {
    co_await ps::sleep(1ms);
    co_await ps::sleep(1ms);
    co_await ps::sleep(1ms);
}

// Every public awaitable, each in a body of its own: {name, body}.
struct subject {
    char const* name;
    ps::task<> (*body)(ps::sim::world&);
};

ps::task<ps::io_result<int>> soon(int value) {
    co_await ps::sleep(1ms);
    co_return value;
}

ps::async_generator<int> count_to(int last) {
    for (int i = 1; i <= last; ++i) {
        co_await ps::sleep(1ms);
        co_yield i;
    }
}

struct link {
    std::unique_ptr<int> owned = std::make_unique<int>(1);
    ps::task<> async_close() { co_await ps::sleep(1ms); }
};

ps::task<> spawn_five(ps::task_group& group) {
    for (int i = 0; i < 5; ++i) {
        co_await group.room();
        group.spawn(three_sleeps());
    }
}

ps::task<> clean_up(std::unique_ptr<int> owned) {
    co_await ps::sleep(1ms);
    *owned = 2;
}

ps::task<> receive_all(ps::descriptor from, std::size_t count) {
    std::array<std::byte, 7> buffer{};
    while (count > 0) {
        auto const got = co_await receive_some(from, buffer);
        if (!got.has_value() || *got == 0) co_return;
        count -= *got;
    }
}

ps::task<> send_all(ps::descriptor to, std::size_t count) {
    std::array<std::byte, 5> const buffer{};
    while (count > 0) {
        auto const bytes = std::span(buffer).first(std::min(count, buffer.size()));
        auto const sent = co_await send_some(to, bytes);
        if (!sent.has_value()) co_return;
        count -= *sent;
    }
}

constexpr subject subjects[] = {
    {"sleep", [](ps::sim::world&) -> ps::task<> { co_await three_sleeps(); }},
    {"sleep_until", [](ps::sim::world& w) -> ps::task<> { co_await ps::sleep_until(w.now() + 1ms); }},
    {"interval",
     [](ps::sim::world&) -> ps::task<> {
         ps::interval every(1ms);
         for (int i = 0; i < 3; ++i) (void)co_await every.tick();
     }},
    {"yield",
     [](ps::sim::world&) -> ps::task<> {
         for (int i = 0; i < 3; ++i) co_await ps::this_task::yield();
     }},
    {"when_all",
     [](ps::sim::world&) -> ps::task<> {
         (void)co_await ps::when_all(soon(1), three_sleeps(), ps::sleep(2ms));
     }},
    {"when_any",
     [](ps::sim::world&) -> ps::task<> {
         (void)co_await ps::when_any(soon(1), three_sleeps(), ps::sleep(2ms));
     }},
    {"with_timeout",
     [](ps::sim::world&) -> ps::task<> {
         (void)co_await ps::with_timeout(2ms, three_sleeps());
         (void)co_await ps::with_timeout(9ms, soon(1));
     }},
    {"with_deadline",
     [](ps::sim::world& w) -> ps::task<> {
         (void)co_await ps::with_deadline(w.now() + 2ms, three_sleeps());
     }},
    {"with",
     [](ps::sim::world&) -> ps::task<> {
         link owned;
         co_await ps::with(std::move(owned), [](link&) -> ps::task<> { co_await three_sleeps(); });
     }},
    {"shield", [](ps::sim::world&) -> ps::task<> { co_await ps::shield(three_sleeps()); }},
    {"with_executor",
     [](ps::sim::world& w) -> ps::task<> {
         co_await ps::with_executor(w.get_runtime().get_executor(), three_sleeps());
     }},
    {"task_group",
     [](ps::sim::world&) -> ps::task<> {
         ps::task_group_options bounded;
         bounded.children_max = 2;
         co_await ps::task_group::run(bounded, spawn_five);
     }},
    {"as_outcome",
     [](ps::sim::world&) -> ps::task<> {
         (void)co_await ps::as_outcome(three_sleeps());
         (void)co_await ps::as_outcome(ps::sleep(1ms));
         co_await ps::sleep(1ms); // as_outcome swallows the stop: here it takes effect
     }},
    {"or_return", [](ps::sim::world&) -> ps::task<> { (void)co_await ps::or_return(soon(1)); }},
    {"at_exit",
     [](ps::sim::world&) -> ps::task<> {
         auto owned = std::make_unique<int>(1);
         co_await ps::at_exit(clean_up, std::move(owned));
         co_await three_sleeps();
     }},
    {"async_generator",
     [](ps::sim::world&) -> ps::task<> {
         auto numbers = count_to(3);
         while (auto number = co_await numbers.next()) co_await ps::sleep(1ms);
     }},
    {"operation",
     [](ps::sim::world&) -> ps::task<> {
         for (int i = 0; i < 3; ++i) (void)co_await nop();
     }},
    {"stream",
     [](ps::sim::world& w) -> ps::task<> {
         auto const ends = w.make_stream_pair();
         (void)co_await ps::when_all(receive_all(ends.first, 40), send_all(ends.second, 40));
     }},
    {"nested",
     [](ps::sim::world&) -> ps::task<> {
         (void)co_await ps::when_any(ps::with_timeout(2ms, ps::when_all(three_sleeps(), soon(2))),
                                     ps::shield(soon(3)),
                                     ps::as_outcome(ps::when_any(ps::sleep(1ms), three_sleeps())));
         co_await ps::sleep(1ms);
     }},
};

class every_awaitable : public ::testing::TestWithParam<subject> {};

TEST_P(every_awaitable, loses_nothing_when_stopped_at_any_suspension) {
    auto const report = ps::sim::check_stop(GetParam().body);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.points(), 0u);
    EXPECT_GT(report.stopped_runs(), 0u);
}

INSTANTIATE_TEST_SUITE_P(subjects, every_awaitable, ::testing::ValuesIn(subjects),
                         [](auto const& instance) { return instance.param.name; });

TEST(check_stop, counts_the_suspensions_of_the_undisturbed_run) {
    ps::sim::check_stop_options calm_only;
    calm_only.seeds = 0;
    auto const report = ps::sim::check_stop(three_sleeps, calm_only);
    EXPECT_EQ(report.points(), 3u);
    EXPECT_EQ(report.runs(), 1u + 1u + 3u * 4u);
}

TEST(check_stop, bytes_received_and_bytes_left_are_the_bytes_sent) {
    struct books {
        std::size_t sent = 0, received = 0, readable = 0;
    } book;
    auto const body = [&book](ps::sim::world& w) -> ps::task<> {
        book = {};
        auto const ends = w.make_stream_pair();
        co_await ps::at_exit(
            [](ps::sim::world* in, ps::descriptor end, books* b) -> ps::task<> {
                b->readable = in->readable_bytes(end);
                co_return;
            },
            &w, ends.first, &book);
        auto const receive = [](books& b, ps::descriptor from) -> ps::task<> {
            std::array<std::byte, 3> buffer{};
            while (b.received < 20) {
                auto const got = co_await receive_some(from, buffer);
                if (!got.has_value()) co_return;
                b.received += *got;
            }
        };
        auto const send = [](books& b, ps::descriptor to) -> ps::task<> {
            std::array<std::byte, 4> const buffer{};
            while (b.sent < 20) {
                auto const sent = co_await send_some(to, buffer);
                if (!sent.has_value()) co_return;
                b.sent += *sent;
            }
        };
        (void)co_await ps::when_all(receive(book, ends.first), send(book, ends.second));
    };
    ps::sim::check_stop_options options;
    options.seeds = 6;
    options.verify = [&book](bool) {
        return book.sent == book.received + book.readable ? "" : "bytes were lost";
    };
    auto const report = ps::sim::check_stop(body, options);
    EXPECT_TRUE(report) << report;
}

// The harness itself must be able to fail.

TEST(check_stop, names_the_suspension_where_the_users_books_break) {
    int open = 0;
    auto const body = [&open]() -> ps::task<> {
        open = 0;
        ++open;
        co_await ps::sleep(1ms); // a stop here leaves it open
        --open;
    };
    ps::sim::check_stop_options options;
    options.seeds = 0;
    options.verify = [&open](bool) { return open == 0 ? "" : "left open"; };
    auto const report = ps::sim::check_stop(body, options);
    EXPECT_FALSE(report);
    EXPECT_NE(report.failures().find("check_stop_test.cpp"), std::string::npos);
    EXPECT_NE(report.failures().find("left open"), std::string::npos);
}

TEST(check_stop, finds_a_frame_that_nobody_destroys) {
    auto const body = []() -> ps::task<> {
        auto* const leaked = new ps::task<>(three_sleeps());
        co_await std::move(*leaked);
        delete leaked; // not reached by a stop
    };
    ps::sim::check_stop_options options;
    options.seeds = 0;
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    return; // the leak is real, and the sanitizer would report it a second time
#endif
#endif
    auto const report = ps::sim::check_stop(body, options);
    EXPECT_FALSE(report);
    EXPECT_NE(report.failures().find("frames"), std::string::npos);
}

// A leaf that keeps quiet when it is asked to stop.
class deaf_leaf : ps::waiter, ps::timer_node {
  public:
    explicit deaf_leaf(bool loses_its_result)
        : waiter([](ps::waiter& self) noexcept {
              auto& leaf = static_cast<deaf_leaf&>(self);
              if (leaf.loses_) leaf.header_->env->executor->timers.disarm(leaf); // and never resumes anybody
          }),
          timer_node(
              [](ps::timer_node& self) noexcept { static_cast<deaf_leaf&>(self).header_->complete_here(); }),
          loses_(loses_its_result) {}
    std::coroutine_handle<> start(ps::promise_header& header) noexcept {
        if (header.env->stop.stop_requested()) return header.stop_here();
        header_ = &header;
        auto& worker = *header.env->executor;
        deadline = worker.now() + 1ms;
        worker.timers.arm(*this);
        return header.suspend_at(*this);
    }
    void await_resume() const noexcept {}

  private:
    ps::promise_header* header_ = nullptr;
    bool loses_;
};

TEST(check_stop_death_test, names_the_suspension_from_which_a_run_never_ends) {
    auto const body = []() -> ps::task<> { co_await deaf_leaf(true); };
    EXPECT_DEATH((void)ps::sim::check_stop(body),
                 "suspension 1 .stop wins. at .*check_stop_test.*never ends");
}

TEST(check_stop_death_test, names_the_suspension_from_which_a_run_goes_on_without_an_end) {
    auto const body = []() -> ps::task<> {
        for (bool is_over = false; !is_over;) {
            auto const end = co_await ps::as_outcome(ps::sleep(1ms));
            is_over = end.has_value();
        }
    };
    ps::sim::check_stop_options options;
    options.turns_max = 1000;
    EXPECT_DEATH((void)ps::sim::check_stop(body, options), "goes on without an end");
}

TEST(check_stop, a_completed_result_is_delivered_before_the_stop) {
    int delivered = 0;
    auto const body = [&delivered](ps::sim::world&) -> ps::task<> {
        delivered = 0;
        auto const result = co_await nop();
        delivered = result.has_value() ? 1 : -1;
        co_await ps::sleep(1ms);
    };
    ps::sim::check_stop_options options;
    options.seeds = 8;
    options.verify = [&delivered](bool) { return delivered < 0 ? "an error instead of a stop" : ""; };
    auto const report = ps::sim::check_stop(body, options);
    EXPECT_TRUE(report) << report;
}

} // namespace
