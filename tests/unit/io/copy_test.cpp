#include <pitsaw/io/copy.hpp>

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_stop.hpp>

#include "memory_streams.hpp"
#include "run_stopped.hpp"
#include "stream_pair.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <system_error>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::bytes_of;
using ps::testing::run_stopped;
using ps::testing::stream_pair;
using ps::testing::text_of;
using ps::testing::text_sink;
using ps::testing::text_source;

namespace {

using copied = std::expected<std::size_t, ps::transfer_error>;

ps::task<copied> copy_text(text_source& from, text_sink& to) { co_return co_await ps::copy(from, to); }

TEST(copy, moves_everything_and_says_how_much) {
    text_source from{"some text"};
    text_sink to;
    EXPECT_EQ(ps::sync_wait(copy_text(from, to)).value().value(), 9u);
    EXPECT_EQ(to.text, "some text");
}

TEST(copy, an_error_of_either_side_comes_with_the_count) {
    text_source broken{.text = "some text", .error = std::make_error_code(std::errc::connection_reset)};
    text_sink to;
    auto const lost = ps::sync_wait(copy_text(broken, to)).value().error();
    EXPECT_EQ(lost.code, std::errc::connection_reset);
    EXPECT_EQ(lost.transferred, 9u);

    text_source from{"some text"};
    text_sink full{.room = 5, .error = std::make_error_code(std::errc::no_space_on_device)};
    auto const stuck = ps::sync_wait(copy_text(from, full)).value().error();
    EXPECT_EQ(stuck.code, std::errc::no_space_on_device);
    EXPECT_EQ(stuck.transferred, 5u);
}

TEST(copy, a_sink_that_takes_nothing_is_a_broken_pipe) {
    text_source from{"some text"};
    text_sink full{.room = 5};
    auto const stuck = ps::sync_wait(copy_text(from, full)).value().error();
    EXPECT_EQ(stuck.code, std::errc::broken_pipe);
    EXPECT_EQ(stuck.transferred, 5u);
}

template <class From> ps::task<ps::io_result<void>> run_copy(ps::stream_copy<From, text_sink>& work) {
    co_return co_await work.run();
}

TEST(stream_copy, stopped_anywhere_goes_on_and_loses_nothing) {
    for (auto at = 0us; at < 12ms; at += 500us) {
        text_source from{"some text"};
        text_sink to;
        ps::stream_copy work(from, to, 4);
        (void)run_stopped(at, run_copy(work));
        EXPECT_EQ(work.transferred(), to.text.size());
        EXPECT_TRUE(ps::sync_wait(run_copy(work)).value().has_value());
        EXPECT_EQ(to.text, "some text");
        EXPECT_EQ(work.transferred(), 9u);
    }
}

// ---- A reader is a source as well.

ps::task<ps::io_result<std::string>> line_then_rest(text_source& from, text_sink& to) {
    ps::buffered_reader reader{from};
    auto const line = co_await ps::or_return(reader.read_line());
    std::string first(line);
    auto const rest = co_await ps::copy(reader, to);
    EXPECT_EQ(rest.value(), 8u);
    co_return first;
}

TEST(copy, from_a_reader_begins_with_what_it_had_buffered) {
    text_source from{"a line\nthe rest"};
    from.piece_max = 10;
    text_sink to;
    EXPECT_EQ(ps::sync_wait(line_then_rest(from, to)).value().value(), "a line");
    EXPECT_EQ(to.text, "the rest");
}

// ---- Between connections, stopped everywhere. A stop in the middle is resumed, so no byte may be missing.

ps::task<ps::io_result<void>> say(ps::tcp_stream& to, std::string_view text) {
    co_await ps::or_return(to.send_all(bytes_of(text)));
    co_return co_await to.shutdown_send();
}

ps::task<ps::io_result<std::string>> hear(ps::tcp_stream& from) {
    std::string heard;
    for (;;) {
        auto const chunk = co_await ps::or_return(from.receive());
        if (chunk.empty()) co_return heard;
        heard += text_of(chunk);
    }
}

ps::task<ps::io_result<void>> relay(ps::tcp_stream& from, ps::tcp_stream& to) {
    ps::stream_copy work(from, to, 5);
    for (;;) {
        auto const done = co_await ps::with_timeout(20us, work.run());
        if (done.has_value()) break;
        if (done.error() != std::errc::timed_out) co_return std::unexpected(done.error());
    }
    EXPECT_EQ(work.transferred(), 14u);
    co_return co_await to.shutdown_send();
}

ps::task<ps::io_result<void>> relayed() {
    auto near = co_await ps::or_return(ps::testing::connect_pair());
    auto far = co_await ps::or_return(ps::testing::connect_pair());
    auto all = co_await ps::or_return(
        ps::when_all(say(near.client, "over two links"), relay(near.server, far.client), hear(far.server)));
    EXPECT_EQ(std::get<2>(all), "over two links");
    co_return {};
}

TEST(stream_copy, between_connections_is_complete_whatever_is_stopped) {
    ps::sim::check_stop_options options;
    options.seeds = 4;
    auto const report = ps::sim::check_stop(relayed, options);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.stopped_runs(), 0u);
}

} // namespace
