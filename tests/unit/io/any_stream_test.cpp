#include <pitsaw/io/any_stream.hpp>

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_stop.hpp>

#include "foreign_awaitables.hpp"
#include "memory_streams.hpp"
#include "run_stopped.hpp"
#include "stream_pair.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <coroutine>
#include <cstdlib>
#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::bytes_of;
using ps::testing::run_stopped;
using ps::testing::text_of;

namespace {

static_assert(sizeof(ps::any_stream::transfer_operation) == 144);

// ---- Streams of several kinds

/// Its operations are tasks; it has no shutdown and no close.
struct text_stream {
    ps::testing::text_source source;
    ps::testing::text_sink sink;
    auto receive(std::span<std::byte> into) { return source.receive(into); }
    auto send(std::span<std::byte const> bytes) { return sink.send(bytes); }
};

/// An awaitable of another library, which holds its result.
struct foreign_count {
    std::size_t count;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) const { waiting.resume(); }
    [[nodiscard]] ps::io_result<std::size_t> await_resume() const { return count; }
};

/// A leaf that is larger than the room for one.
struct large_count {
    explicit large_count(std::size_t of) noexcept : inner(ps::io_result<std::size_t>(of)) {}
    std::array<std::byte, 200> filling{};
    ps::known_result<ps::io_result<std::size_t>> inner;
    [[nodiscard]] std::coroutine_handle<> start(ps::promise_header& header) noexcept {
        return inner.start(header);
    }
    [[nodiscard]] ps::io_result<std::size_t> await_resume() { return inner.await_resume(); }
};

/// Cannot be moved, and closes by a task without a result.
struct odd_stream {
    explicit odd_stream(int& closed) : closed_(closed) {}
    odd_stream(odd_stream&&) = delete;
    auto receive(std::span<std::byte> into) { return foreign_count{into.size()}; }
    auto send(std::span<std::byte const> bytes) { return large_count(bytes.size()); }
    ps::task<> async_close() {
        co_await ps::sleep(1ms);
        ++closed_;
    }

  private:
    int& closed_;
};

ps::task<ps::io_result<std::string>> read_all(ps::any_stream& from) {
    std::string text;
    std::array<std::byte, 8> into{};
    for (;;) {
        auto const got = co_await ps::or_return(from.receive(into));
        if (got == 0) co_return text;
        text += text_of(std::span(into).first(got));
    }
}

ps::task<ps::io_result<std::string>> exchange(ps::any_stream& with, std::string_view text) {
    co_await ps::or_return(with.send_all(bytes_of(text)));
    co_return co_await read_all(with);
}

TEST(any_stream, forwards_to_a_stream_whose_operations_are_tasks) {
    ps::any_stream stream(text_stream{{"an answer"}, {}});
    EXPECT_EQ(ps::sync_wait(exchange(stream, "a question")).value().value(), "an answer");
}

ps::task<ps::io_result<std::size_t>> odd_work(ps::any_stream& with) {
    std::array<std::byte, 5> into{};
    auto const got = co_await ps::or_return(with.receive(into));
    auto const sent = co_await ps::or_return(with.send(into));
    co_await ps::or_return(with.async_close());
    co_return got * 10 + sent;
}

TEST(any_stream, forwards_to_foreign_and_to_large_awaitables) {
    int closed = 0;
    ps::any_stream stream(std::in_place_type<odd_stream>, closed);
    EXPECT_EQ(ps::sync_wait(odd_work(stream)).value().value(), 55u);
    EXPECT_EQ(closed, 1);
}

ps::task<std::error_code> shut_down(ps::any_stream& which) {
    auto const watched = co_await which.closed();
    EXPECT_EQ(watched.error(), std::errc::operation_not_supported);
    auto const done = co_await which.shutdown_send();
    co_return done.has_value() ? std::error_code() : done.error();
}
ps::task<bool> close(ps::any_stream& which) {
    auto const done = co_await which.async_close();
    co_return done.has_value();
}

TEST(any_stream, says_what_a_stream_cannot_do) {
    ps::any_stream stream(text_stream{{"an answer"}, {}});
    EXPECT_EQ(ps::sync_wait(shut_down(stream)).value(), std::errc::operation_not_supported);
    EXPECT_TRUE(ps::sync_wait(close(stream)).value());
}

ps::task<std::size_t> first_of(ps::any_stream& stream) {
    std::array<std::byte, 8> into{};
    auto first = co_await ps::when_any(stream.receive(into), ps::sleep(1h));
    co_return std::get<0>(first)->value();
}

TEST(any_stream, its_operations_stand_in_scopes_as_leaves) {
    ps::any_stream stream(text_stream{{"an answer"}, {}});
    EXPECT_EQ(ps::sync_wait(first_of(stream)).value(), 3u);
}

ps::task<ps::io_result<void>> within(ps::any_stream& stream, std::string& into) {
    auto text = co_await ps::or_return(ps::with_timeout(3500us, read_all(stream)));
    into = std::move(text);
    co_return {};
}

TEST(any_stream, a_timeout_reaches_into_the_stream) {
    ps::any_stream stream(text_stream{{"text for an hour"}, {}});
    std::string text;
    EXPECT_EQ(ps::sync_wait(within(stream, text)).value().error(), std::errc::timed_out);
}

// ---- Connections

ps::task<ps::io_result<void>> over_tcp() {
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    ps::any_stream left(std::move(ends.client)), right(std::move(ends.server));
    auto const answer = [](ps::any_stream& with) -> ps::task<ps::io_result<void>> {
        auto const heard = co_await ps::or_return(read_all(with));
        std::size_t sent = 0;
        co_await ps::or_return(with.send_all(bytes_of(heard), sent));
        EXPECT_EQ(sent, heard.size());
        co_await ps::or_return(with.shutdown_send());
        co_return co_await with.closed();
    };
    auto const ask = [](ps::any_stream& with) -> ps::task<ps::io_result<std::string>> {
        co_await ps::or_return(with.send_all(bytes_of("question")));
        co_await ps::or_return(with.shutdown_send());
        co_return co_await read_all(with);
    };
    auto both = co_await ps::or_return(ps::when_all(ask(left), answer(right)));
    EXPECT_EQ(std::get<0>(both), "question");
    co_await ps::or_return(left.async_close());
    co_return {};
}

TEST(any_stream, loses_nothing_when_stopped_at_any_suspension) {
    ps::sim::check_stop_options options;
    options.seeds = 4;
    auto const report = ps::sim::check_stop(over_tcp, options);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.stopped_runs(), 0u);
}

ps::task<ps::io_result<void>> closes_by_itself() {
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    ps::any_stream link(std::move(ends.client));
    auto const body = [](ps::any_stream& with) -> ps::task<ps::io_result<void>> {
        co_return co_await with.send_all(bytes_of("farewell"));
    };
    co_await ps::or_return(ps::with(std::move(link), body)); // then any_stream::async_close
    std::array<std::byte, 16> into{};
    auto got = co_await ps::or_return(ends.server.receive(into));
    while (got != 0) got = co_await ps::or_return(ends.server.receive(into));
    co_return {};
}

TEST(any_stream, is_a_resource_of_with) {
    auto const report = ps::sim::check_stop(closes_by_itself);
    EXPECT_TRUE(report) << report;
}

// ---- Lifetime

ps::task<std::size_t> move_meanwhile(ps::any_stream& stream) {
    std::array<std::byte, 8> into{};
    ps::any_stream elsewhere;
    auto const moves = [](ps::any_stream& from, ps::any_stream& to) -> ps::task<> {
        to = std::move(from);
        co_return;
    };
    auto both = co_await ps::when_all(stream.receive(into), moves(stream, elsewhere));
    EXPECT_TRUE(static_cast<bool>(elsewhere));
    co_return std::get<0>(both.value());
}

TEST(any_stream, may_be_moved_while_something_is_in_flight) {
    ps::any_stream stream(text_stream{{"an answer"}, {}});
    EXPECT_EQ(ps::sync_wait(move_meanwhile(stream)).value(), 3u);
    EXPECT_FALSE(static_cast<bool>(stream));
}

TEST(any_stream_death_test, an_empty_one_is_a_checked_error) {
    ps::any_stream stream;
    EXPECT_DEATH((void)ps::sync_wait(read_all(stream)), "without a stream was used");
}

} // namespace
