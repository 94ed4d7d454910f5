#include <pitsaw/io/write.hpp>

#include <pitsaw/pitsaw.hpp>

#include "memory_streams.hpp"
#include "run_stopped.hpp"
#include "stream_pair.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <system_error>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::bytes_of;
using ps::testing::run_stopped;
using ps::testing::text_sink;

namespace {

ps::task<ps::io_result<void>> send_text(text_sink& to, std::string_view text) {
    co_return co_await ps::send_all(to, bytes_of(text));
}
ps::task<ps::io_result<void>> send_counted(text_sink& to, std::string_view text, std::size_t& sent) {
    co_return co_await ps::send_all(to, bytes_of(text), sent);
}

TEST(send_all, goes_on_after_short_sends) {
    text_sink sink;
    EXPECT_TRUE(ps::sync_wait(send_text(sink, "seven b")).value().has_value());
    EXPECT_EQ(sink.text, "seven b");
}

TEST(send_all, of_nothing_asks_nobody) {
    text_sink sink;
    sink.room = 0;
    sink.error = std::make_error_code(std::errc::broken_pipe);
    EXPECT_TRUE(ps::sync_wait(send_text(sink, "")).value().has_value());
}

TEST(send_all, counts_until_an_error) {
    text_sink sink;
    sink.room = 4;
    sink.error = std::make_error_code(std::errc::connection_reset);
    std::size_t sent = 0;
    EXPECT_EQ(ps::sync_wait(send_counted(sink, "seven b", sent)).value().error(),
              std::errc::connection_reset);
    EXPECT_EQ(sent, 4u);
    EXPECT_EQ(ps::sync_wait(send_text(sink, "more")).value().error(), std::errc::connection_reset);
}

TEST(send_all, a_sink_that_takes_nothing_is_a_broken_pipe) {
    text_sink sink;
    sink.room = 1;
    std::size_t sent = 0;
    EXPECT_EQ(ps::sync_wait(send_counted(sink, "seven b", sent)).value().error(), std::errc::broken_pipe);
    EXPECT_EQ(sent, 1u);
    EXPECT_EQ(ps::sync_wait(send_text(sink, "more")).value().error(), std::errc::broken_pipe);
}

TEST(send_all, counts_right_when_stopped_and_goes_on_from_there) {
    for (auto at = 0us; at < 6ms; at += 500us) {
        text_sink sink;
        std::size_t sent = 0;
        (void)run_stopped(at, send_counted(sink, "seven b", sent));
        EXPECT_EQ(sent, sink.text.size());
        EXPECT_TRUE(ps::sync_wait(send_counted(sink, "seven b", sent)).value().has_value());
        EXPECT_EQ(sink.text, "seven b");
    }
}

// ---- Pieces

ps::source_span piece(std::string_view text) { return {text.data(), text.size()}; }

std::string text_after(std::vector<ps::source_span> const& pieces, std::size_t sent, std::size_t window) {
    std::vector<ps::source_span> into(window);
    std::string text;
    for (auto const& left : ps::pieces_after(pieces, sent, into))
        text.append(static_cast<char const*>(left.address), left.length) += '|';
    return text;
}

TEST(pieces_after, cuts_what_was_sent_and_leaves_out_the_empty) {
    std::vector const pieces{piece("abc"), piece(""), piece("de"), piece("f")};
    EXPECT_EQ(text_after(pieces, 0, 4), "abc|de|f|");
    EXPECT_EQ(text_after(pieces, 2, 4), "c|de|f|");
    EXPECT_EQ(text_after(pieces, 3, 4), "de|f|");
    EXPECT_EQ(text_after(pieces, 5, 4), "f|");
    EXPECT_EQ(text_after(pieces, 6, 4), "");
    EXPECT_EQ(text_after(pieces, 1, 2), "bc|de|");
    EXPECT_EQ(text_after({}, 0, 2), "");
}

// A sink of pieces that takes at most 5 bytes a time and at most 16 pieces.
struct piece_sink {
    std::string text;
    std::size_t most_pieces = 0;
    std::size_t room = SIZE_MAX;

    ps::task<ps::io_result<std::size_t>> send_pieces(std::span<ps::source_span const> pieces) {
        co_await ps::sleep(1ms);
        most_pieces = std::max(most_pieces, pieces.size());
        std::size_t taken = 0;
        for (auto const& one : pieces) {
            auto const count = std::min({one.length, 5 - taken, room - text.size()});
            text.append(static_cast<char const*>(one.address), count);
            taken += count;
        }
        co_return ps::io_result<std::size_t>(taken);
    }
};

ps::task<ps::io_result<void>> send_pieces(piece_sink& to, std::vector<ps::source_span> const& pieces,
                                          std::size_t& sent) {
    std::span<ps::source_span const> const all(pieces);
    co_return co_await ps::send_all(to, all, sent);
}

TEST(send_all, sends_more_pieces_than_one_window_holds) {
    std::string const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
    std::vector<ps::source_span> pieces;
    for (std::size_t i = 0; i < letters.size(); ++i) {
        pieces.push_back({letters.data() + i, 1});
        pieces.push_back({nullptr, 0});
    }
    piece_sink sink;
    std::size_t sent = 0;
    EXPECT_TRUE(ps::sync_wait(send_pieces(sink, pieces, sent)).value().has_value());
    EXPECT_EQ(sink.text, letters);
    EXPECT_EQ(sent, letters.size());
    EXPECT_EQ(sink.most_pieces, 16u);
}

TEST(send_all, of_pieces_stopped_anywhere_goes_on_from_the_count) {
    std::vector const pieces{piece("some "), piece("thing"), piece(" in several pieces")};
    for (auto at = 0us; at < 8ms; at += 500us) {
        piece_sink sink;
        std::size_t sent = 0;
        (void)run_stopped(at, send_pieces(sink, pieces, sent));
        EXPECT_EQ(sent, sink.text.size());
        EXPECT_TRUE(ps::sync_wait(send_pieces(sink, pieces, sent)).value().has_value());
        EXPECT_EQ(sink.text, "some thing in several pieces");
    }
}

TEST(send_all, of_pieces_that_a_sink_does_not_take_is_a_broken_pipe) {
    std::vector const pieces{piece("some "), piece("thing")};
    piece_sink sink;
    sink.room = 7;
    std::size_t sent = 0;
    EXPECT_EQ(ps::sync_wait(send_pieces(sink, pieces, sent)).value().error(), std::errc::broken_pipe);
    EXPECT_EQ(sent, 7u);
}

} // namespace
