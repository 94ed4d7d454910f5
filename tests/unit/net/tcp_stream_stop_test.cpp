// Every operation of a stream, stopped everywhere, with books: what was sent was received or is still there.
#include <pitsaw/net/tcp_stream.hpp>

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_stop.hpp>

#include "stream_pair.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::bytes_of;

namespace {

using result = ps::task<ps::io_result<void>>;

struct books {
    std::size_t sent = 0, received = 0, readable = 0;
    [[nodiscard]] std::string check() const {
        if (sent == received + readable) return "";
        return std::to_string(sent) + " bytes sent, " + std::to_string(received) + " received, " +
               std::to_string(readable) + " left";
    }
};

// Two connected streams, and a reader and erased streams over them.
struct link {
    link(ps::sim::world& in, books& of) : world(in), book(of), fds(in.make_stream_pair()) {
        auto const home = in.get_runtime().get_executor();
        left = ps::tcp_stream(home, fds.first);
        right = ps::tcp_stream(home, fds.second);
    }
    link(link&&) = delete;

    ps::sim::world& world;
    books& book;
    std::pair<ps::descriptor, ps::descriptor> fds;
    ps::tcp_stream left, right;
    ps::buffered_reader<ps::tcp_stream> reader{right, 16};
    ps::any_stream any_left, any_right;
    std::size_t read = 0; // by the reader's callers
};

// ---- Senders

constexpr std::string_view text = "one line\ntwo lines-last\n--";
static_assert(text.size() == 26);

result send(link& l) {
    while (l.book.sent < text.size())
        l.book.sent += co_await ps::or_return(l.left.send(bytes_of(text.substr(l.book.sent))));
    co_return {};
}
result send_pieces(link& l) {
    while (l.book.sent < text.size()) {
        auto const rest = text.substr(l.book.sent);
        auto const half = rest.size() / 2;
        std::array<ps::source_span, 2> const pieces{ps::source_span{rest.data(), half},
                                                    {rest.data() + half, rest.size() - half}};
        l.book.sent += co_await ps::or_return(l.left.send_pieces(pieces));
    }
    co_return {};
}
result send_all(link& l) { co_return co_await l.left.send_all(bytes_of(text), l.book.sent); }
result send_all_pieces(link& l) {
    std::array<ps::source_span, 2> const pieces{ps::source_span{text.data(), 9},
                                                {text.data() + 9, text.size() - 9}};
    std::span<ps::source_span const> const all(pieces);
    co_return co_await l.left.send_all(all, l.book.sent);
}
result send_through_any(link& l) {
    l.any_left = ps::any_stream(std::move(l.left));
    co_return co_await l.any_left.send_all(bytes_of(text), l.book.sent);
}
// ---- Receivers: until all of the text has come.

result receive_leases(link& l) {
    while (l.book.received < text.size()) {
        auto const chunk = co_await ps::or_return(l.right.receive());
        l.book.received += chunk.size();
    }
    co_return {};
}
result receive_spans(link& l) {
    std::array<std::byte, 5> into{};
    while (l.book.received < text.size()) l.book.received += co_await ps::or_return(l.right.receive(into));
    co_return {};
}
result receive_owned(link& l) {
    while (l.book.received < text.size()) {
        std::vector<std::byte> into(5);
        auto const back = co_await ps::or_return(l.right.receive_into(std::move(into)));
        l.book.received += back.size();
    }
    co_return {};
}
result receive_through_any(link& l) {
    l.any_right = ps::any_stream(std::move(l.right));
    std::array<std::byte, 5> into{};
    while (l.book.received < text.size())
        l.book.received += co_await ps::or_return(l.any_right.receive(into));
    co_return {};
}
result read_exactly(link& l) {
    for (std::size_t const count : {4, 16, 6}) {
        auto const piece = co_await ps::or_return(l.reader.read_exactly(count));
        l.read += piece.size();
    }
    co_return {};
}
result read_lines(link& l) {
    auto const first = co_await ps::or_return(l.reader.read_line());
    EXPECT_EQ(first, "one line");
    l.read += first.size() + 1;
    auto const second = co_await ps::or_return(l.reader.read_line());
    EXPECT_EQ(second, "two lines-last");
    l.read += second.size() + 1;
    auto const rest = co_await ps::or_return(l.reader.read_exactly(2));
    l.read += rest.size();
    co_return {};
}
result read_until(link& l) {
    auto const first = co_await ps::or_return(l.reader.read_until("\ntwo"));
    l.read += first.size();
    auto const second = co_await ps::or_return(l.reader.read_until("--"));
    l.read += second.size();
    co_return {};
}

// ---- Both at once

ps::task<> close_the_books(link* l) {
    l->book.received += l->read + l->reader.buffered().size();
    l->book.readable = l->world.readable_bytes(l->fds.second);
    co_return;
}

result transfer(link& l, result (*sends)(link&), result (*receives)(link&)) {
    co_await ps::at_exit(close_the_books, &l); // while both streams are still open
    co_await ps::or_return(ps::when_all(sends(l), receives(l)));
    co_return {};
}

struct subject {
    char const* name;
    result (*sends)(link&);
    result (*receives)(link&);
};

constexpr subject subjects[] = {
    {"send", send, receive_spans},
    {"send_pieces", send_pieces, receive_spans},
    {"send_all", send_all, receive_spans},
    {"send_all_pieces", send_all_pieces, receive_spans},
    {"any_stream_send_all", send_through_any, receive_spans},
    {"receive_lease", send, receive_leases},
    {"receive_into", send, receive_owned},
    {"any_stream_receive", send, receive_through_any},
    {"read_exactly", send, read_exactly},
    {"read_line", send, read_lines},
    {"read_until", send, read_until},
};

class every_stream_operation : public ::testing::TestWithParam<subject> {};

TEST_P(every_stream_operation, loses_no_byte_when_stopped_at_any_suspension) {
    auto const [name, sends, receives] = GetParam();
    books book;
    auto const body = [&](ps::sim::world& in) -> result {
        book = {};
        auto const both = std::make_unique<link>(in, book);
        co_return co_await transfer(*both, sends, receives);
    };
    for (std::uint32_t const buffers : {256u, 0u}) {
        ps::sim::check_stop_options options;
        options.seeds = 12;
        options.pool_buffers = buffers;
        options.verify = [&book](bool) { return book.check(); };
        auto const report = ps::sim::check_stop(body, options);
        EXPECT_TRUE(report) << report;
        EXPECT_GT(report.points(), 0u);
        EXPECT_GT(report.stopped_runs(), 0u);
    }
}

INSTANTIATE_TEST_SUITE_P(subjects, every_stream_operation, ::testing::ValuesIn(subjects),
                         [](auto const& instance) { return instance.param.name; });

result with_an_empty_pool(link& l) {
    co_await ps::or_return(l.right.send(bytes_of("x")));
    auto const held = co_await ps::or_return(l.left.receive()); // the pool's only buffer
    EXPECT_EQ(held.size(), 1u);
    co_return co_await transfer(l, send, receive_leases);
}

TEST(tcp_stream, receives_with_an_empty_pool_lose_no_byte_when_stopped_at_any_suspension) {
    books book;
    auto const body = [&book](ps::sim::world& in) -> result {
        book = {};
        auto const both = std::make_unique<link>(in, book);
        co_return co_await with_an_empty_pool(*both);
    };
    ps::sim::check_stop_options options;
    options.seeds = 12;
    options.pool_buffers = 1;
    options.verify = [&book](bool) { return book.check(); };
    auto const report = ps::sim::check_stop(body, options);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.stopped_runs(), 0u);
}

// ---- Operations that move no bytes

result accept_and_connect() {
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    co_return {};
}
result shut_down_and_see_it() {
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    auto const shuts = [](ps::tcp_stream& which) -> result {
        co_await ps::sleep(1ms);
        co_return co_await which.shutdown_send();
    };
    auto const sees = [](ps::tcp_stream& which) -> result { co_return co_await which.closed(); };
    co_await ps::or_return(ps::when_all(shuts(ends.client), sees(ends.server)));
    co_return {};
}
result close_while_the_other_waits() {
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    auto const closes = [](ps::tcp_stream& which) -> result {
        co_await ps::sleep(1ms);
        co_return co_await which.async_close();
    };
    auto const waits = [](ps::tcp_stream& which) -> result {
        auto const chunk = co_await ps::or_return(which.receive());
        EXPECT_TRUE(chunk.empty());
        co_return {};
    };
    co_await ps::or_return(ps::when_all(closes(ends.client), waits(ends.server)));
    co_return {};
}
result close_in_a_clean_up() {
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    auto const body = [](ps::tcp_stream& with) -> result {
        co_await ps::sleep(1ms);
        auto const chunk = co_await ps::or_return(ps::with_timeout(1ms, with.receive()));
        EXPECT_TRUE(chunk.empty());
        co_return {};
    };
    auto const done = co_await ps::with(std::move(ends.client), body);
    EXPECT_TRUE(done.error() == std::errc::timed_out);
    auto const last = co_await ps::or_return(ends.server.receive()); // it was closed, whatever came
    EXPECT_TRUE(last.empty());
    co_return {};
}

struct plain_subject {
    char const* name;
    result (*body)();
};
constexpr plain_subject plain_subjects[] = {
    {"accept_and_connect", accept_and_connect},
    {"shutdown_send_and_closed", shut_down_and_see_it},
    {"async_close", close_while_the_other_waits},
    {"async_close_in_with", close_in_a_clean_up},
};

class every_plain_operation : public ::testing::TestWithParam<plain_subject> {};

TEST_P(every_plain_operation, leaves_nothing_open_when_stopped_at_any_suspension) {
    ps::sim::check_stop_options options;
    options.seeds = 12;
    auto const report = ps::sim::check_stop(GetParam().body, options);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.stopped_runs(), 0u);
}

INSTANTIATE_TEST_SUITE_P(subjects, every_plain_operation, ::testing::ValuesIn(plain_subjects),
                         [](auto const& instance) { return instance.param.name; });

} // namespace
