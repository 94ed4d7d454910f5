// Combinators that are broken on purpose, as those that users write may be: the harness must notice each.
#include "stream_leaves.hpp"

#include <pitsaw/sim/check_stop.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <coroutine>
#include <string>
#include <utility>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::receive_some;
using ps::testing::send_some;

namespace {

// ---- A loser's result that is dropped

struct two_streams {
    std::size_t sent = 0, received = 0, readable = 0;
    [[nodiscard]] std::string wrong() const { return sent == received + readable ? "" : "bytes were lost"; }
};

ps::task<std::size_t> receive_eight(ps::descriptor from) {
    std::array<std::byte, 8> into{};
    auto const got = co_await receive_some(from, into);
    co_return got.value_or(0);
}
ps::task<> send_eight(ps::descriptor to, two_streams& books) {
    std::array<std::byte, 8> const bytes{};
    auto const sent = co_await send_some(to, bytes);
    books.sent += sent.value_or(0);
}
ps::task<> send_to_both(ps::descriptor one, ps::descriptor other, two_streams& books) {
    (void)co_await ps::when_all(send_eight(one, books), send_eight(other, books));
}

using race = ps::task<std::size_t> (*)(ps::descriptor, ps::descriptor);

/// What somebody writes who thinks that a race has one winner.
ps::task<std::size_t> only_the_first(ps::descriptor one, ps::descriptor other) {
    auto const both = co_await ps::when_any(receive_eight(one), receive_eight(other));
    co_return both.first() == 0 ? std::get<0>(both).value_or(0) : std::get<1>(both).value_or(0);
}
ps::task<std::size_t> whatever_completed(ps::descriptor one, ps::descriptor other) {
    auto const both = co_await ps::when_any(receive_eight(one), receive_eight(other));
    co_return std::get<0>(both).value_or(0) + std::get<1>(both).value_or(0);
}

ps::task<> note_both(ps::sim::world* in, ps::descriptor one, ps::descriptor other, two_streams* books) {
    books->readable = in->readable_bytes(one) + in->readable_bytes(other);
    co_return;
}
ps::task<> count_received(race how, ps::descriptor one, ps::descriptor other, two_streams& books) {
    books.received += co_await how(one, other);
}

ps::sim::stop_report report_on(race how) {
    two_streams books;
    auto const body = [&books, how](ps::sim::world& in) -> ps::task<> {
        books = {};
        auto const first = in.make_stream_pair();
        auto const second = in.make_stream_pair();
        co_await ps::at_exit(note_both, &in, first.first, second.first, &books);
        (void)co_await ps::when_all(count_received(how, first.first, second.first, books),
                                    send_to_both(first.second, second.second, books));
    };
    ps::sim::check_stop_options options;
    options.seeds = 4;
    options.verify = [&books](bool) { return books.wrong(); };
    return ps::sim::check_stop(body, options);
}

TEST(canary_scopes, a_race_that_keeps_all_that_completed_passes) {
    auto const report = report_on(whatever_completed);
    EXPECT_TRUE(report) << report;
}
TEST(canary_scopes, a_race_that_drops_the_losers_result_is_noticed) {
    auto const report = report_on(only_the_first);
    EXPECT_FALSE(report);
    EXPECT_NE(report.failures().find("bytes were lost"), std::string::npos) << report;
}

// ---- A scope around one child

enum class scope_fault : std::uint8_t {
    none,
    keeps_the_stop_to_itself,
    leaves_the_child_behind,
    forgets_to_leave
};

/// As `as_outcome`, of a task without a value.
class [[nodiscard]] some_scope : ps::inner_boundary {
  public:
    some_scope(ps::task<> child, scope_fault with) noexcept
        : inner_boundary(child_ended), child_(std::move(child)), held_(child_), fault_(with) {
        if (fault_ == scope_fault::keeps_the_stop_to_itself) ask = [](ps::waiter&) noexcept {};
        if (fault_ == scope_fault::leaves_the_child_behind)
            ask = [](ps::waiter& self) noexcept { (void)static_cast<some_scope&>(self).leave_stopped(); };
    }
    [[nodiscard]] std::coroutine_handle<> start(ps::promise_header& header) noexcept {
        enter(header);
        return held_.start(*this, *header.env, header);
    }
    void await_resume() const noexcept {}

  private:
    static std::coroutine_handle<> child_ended(boundary& edge, ps::promise_header&, ps::ending) noexcept {
        auto& scope = static_cast<some_scope&>(edge);
        if (scope.fault_ == scope_fault::forgets_to_leave) return std::noop_coroutine();
        return scope.leave();
    }

    ps::task<> child_;
    ps::child<ps::task<>> held_;
    scope_fault fault_;
};

ps::task<> receive_in_a_scope(ps::descriptor from, scope_fault with) {
    auto const receive = [](ps::descriptor in) -> ps::task<> { (void)co_await receive_eight(in); };
    co_await some_scope(receive(from), with);
}

ps::sim::stop_report report_on(scope_fault with) {
    two_streams books;
    auto const body = [&books, with](ps::sim::world& in) -> ps::task<> {
        auto const ends = in.make_stream_pair();
        auto const send_later = [](ps::descriptor to, two_streams& sent) -> ps::task<> {
            co_await ps::sleep(1ms);
            co_await send_eight(to, sent);
        };
        (void)co_await ps::when_all(receive_in_a_scope(ends.first, with), send_later(ends.second, books));
    };
    return ps::sim::check_stop(body);
}

TEST(canary_scopes, the_sound_scope_passes) {
    auto const report = report_on(scope_fault::none);
    EXPECT_TRUE(report) << report;
}
TEST(canary_scopes_death_test, a_scope_that_does_not_pass_the_stop_on_never_ends) {
    EXPECT_DEATH((void)report_on(scope_fault::keeps_the_stop_to_itself),
                 "suspension .*stop wins.*canary_scopes.*never ends");
}
TEST(canary_scopes_death_test, a_scope_that_ends_before_its_child_is_noticed) {
    EXPECT_DEATH((void)report_on(scope_fault::leaves_the_child_behind),
                 "an operation was destroyed while it was in flight|use-after-free");
}
TEST(canary_scopes_death_test, a_scope_that_forgets_who_waits_for_it_is_a_deadlock) {
    EXPECT_DEATH((void)report_on(scope_fault::forgets_to_leave), "undisturbed.*never ends: every task waits");
}

} // namespace
