#include <pitsaw/io/buffered_reader.hpp>

#include <pitsaw/io/copy.hpp>
#include <pitsaw/net/tcp_stream.hpp>
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_stop.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ps = pitsaw;
using namespace std::chrono_literals;

namespace {

struct two_ends {
    explicit two_ends(ps::sim::world& in) {
        auto const ends = in.make_stream_pair();
        left = ps::tcp_stream(in.get_runtime().get_executor(), ends.first);
        right = ps::tcp_stream(in.get_runtime().get_executor(), ends.second);
    }
    ps::tcp_stream left, right;
};

ps::task<ps::io_result<void>> say(ps::tcp_stream& to, std::string_view text, ps::duration between) {
    for (auto const& letter : text) {
        co_await ps::or_return(to.send_all(std::as_bytes(std::span(&letter, 1))));
        co_await ps::sleep(between);
    }
    co_return co_await to.shutdown_send();
}

ps::task<ps::io_result<std::string>> hear(ps::tcp_stream& from) {
    ps::buffered_reader reader{from};
    std::string heard;
    auto const first = co_await ps::or_return(reader.read_exactly(4));
    heard.append(reinterpret_cast<char const*>(first.data()), first.size());
    auto const line = co_await ps::or_return(reader.read_line());
    heard.append("|").append(line);
    auto const part = co_await ps::or_return(reader.read_until("--"));
    heard.append("|").append(part);
    auto const end = co_await reader.read_exactly(100);
    EXPECT_EQ(end.error(), ps::end_of_stream());
    EXPECT_EQ(reader.buffered().size(), 4u);
    co_return heard;
}

constexpr std::string_view spoken = "headline\r\na-b--rest";

ps::task<ps::io_result<void>> dialogue(ps::sim::world& in) {
    two_ends ends(in);
    auto both = co_await ps::or_return(ps::when_all(say(ends.left, spoken, 1ms), hear(ends.right)));
    EXPECT_EQ(std::get<1>(both), "head|line|a-b--");
    co_return {};
}

TEST(buffered_reader, reads_pieces_lines_and_up_to_a_mark) {
    auto const report = ps::sim::check_stop(dialogue);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.stopped_runs(), 0u);
}

ps::task<ps::io_result<std::string>> hear_impatiently(ps::tcp_stream& from) {
    ps::buffered_reader reader{from};
    int timeouts = 0;
    for (;;) {
        auto const got = co_await ps::with_timeout(3ms, reader.read_exactly(spoken.size()));
        if (!got.has_value()) {
            if (got.error() != std::errc::timed_out) co_return std::unexpected(got.error());
            ++timeouts;
            continue;
        }
        EXPECT_GT(timeouts, 2);
        co_return std::string(reinterpret_cast<char const*>(got->data()), got->size());
    }
}

ps::task<ps::io_result<void>> impatient_dialogue(ps::sim::world& in) {
    two_ends ends(in);
    auto both =
        co_await ps::or_return(ps::when_all(say(ends.left, spoken, 1ms), hear_impatiently(ends.right)));
    EXPECT_EQ(std::get<1>(both), spoken);
    co_return {};
}

TEST(buffered_reader, goes_on_after_a_timeout_where_it_stopped) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        ps::sim::world world({.seed = seed});
        auto end = world.run(impatient_dialogue(world));
        ASSERT_TRUE(end.has_value() && end.value().has_value());
    }
}

ps::task<ps::io_result<void>> too_long(ps::sim::world& in) {
    two_ends ends(in);
    co_await ps::or_return(say(ends.left, "0123456789\n", 0ms));
    ps::buffered_reader reader(ends.right, 16);
    auto const line = co_await reader.read_line(5);
    EXPECT_EQ(line.error(), std::errc::message_size);
    auto const piece = co_await reader.read_exactly(17);
    EXPECT_EQ(piece.error(), std::errc::message_size);
    auto const again = co_await ps::or_return(reader.read_line());
    EXPECT_EQ(again, "0123456789");
    co_return {};
}

TEST(buffered_reader, a_piece_beyond_its_limit_is_an_error_that_consumes_nothing) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        ps::sim::world world({.seed = seed});
        auto end = world.run(too_long(world));
        ASSERT_TRUE(end.has_value() && end.value().has_value());
    }
}

} // namespace
