#include <pitsaw/sim/check_stop.hpp>

#include "sim_subjects/table.hpp"
#include "stream_leaves.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>

namespace ps = pitsaw;
namespace subjects = pitsaw::testing::subjects;
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

class every_awaitable : public ::testing::TestWithParam<subjects::subject> {
  protected:
    void stop_everywhere(ps::task<> (*run)(subjects::subject const&, subjects::surroundings&),
                         ps::sim::check_stop_options options = {}) {
        subjects::surroundings at;
        auto const body = [&](ps::sim::world& in) {
            at.world = &in;
            at.is_whole = false;
            return run(GetParam(), at);
        };
        options.first_seed = ps::sim::seed_from_environment(1);
        options.books = {&at.values, &at.bytes};
        bool is_first = true;
        options.verify = [&](bool) {
            return std::exchange(is_first, false) && !at.is_whole ? "it fails by itself" : "";
        };
        auto const report = ps::sim::check_stop(body, options);
        EXPECT_TRUE(report) << report;
        EXPECT_GT(report.points(), 0u);
        EXPECT_GT(report.stopped_runs(), 0u);
    }
};

TEST_P(every_awaitable, loses_nothing_when_stopped_at_any_suspension) {
    ps::sim::check_stop_options options;
    options.seeds = ps::sim::seeds_from_environment(6);
    stop_everywhere(subjects::run, options);
}

TEST_P(every_awaitable, loses_nothing_when_stopped_under_a_timeout) {
    ps::sim::check_stop_options options;
    options.points_max = 100;
    stop_everywhere(subjects::run_under_timeouts, options);
}

TEST_P(every_awaitable, loses_nothing_when_a_group_around_it_is_stopped) {
    ps::sim::check_stop_options options;
    options.target = ps::sim::stop_target::group;
    options.points_max = 100;
    options.seeds = 1;
    stop_everywhere(subjects::run, options);
}

INSTANTIATE_TEST_SUITE_P(of_one_task, every_awaitable, ::testing::ValuesIn(subjects::of_one_task),
                         [](auto const& instance) { return instance.param.name; });
INSTANTIATE_TEST_SUITE_P(of_many_tasks, every_awaitable, ::testing::ValuesIn(subjects::of_many_tasks),
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
