#pragma once
#include "sim_subjects/surroundings.hpp"
#include "stream_pair.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

/// Connections and what reads, writes and copies over them.
namespace pitsaw::testing::subjects {

/// Two ends of a connection, and the book of what goes from the left to the right.
struct link {
    explicit link(surroundings& of, bool is_in_the_book = true)
        : at(of), ends(of.world->make_stream_pair()), is_counted(is_in_the_book) {
        auto const home = of.world->get_runtime().get_executor();
        left = tcp_stream(home, ends.first);
        right = tcp_stream(home, ends.second);
    }
    link(link&&) = delete;
    ~link() {
        if (!is_counted) return;
        at.bytes.take(static_cast<std::int64_t>(sent));
        at.bytes.give_back(static_cast<std::int64_t>(received + at.world->readable_bytes(ends.second)));
    }

    surroundings& at;
    std::pair<descriptor, descriptor> ends;
    tcp_stream left, right;
    bool is_counted;
    std::size_t sent = 0;
    std::size_t received = 0;
};

inline constexpr std::string_view text = "one line\r\nand another\n-end";

inline result send_some(link& over) {
    while (over.sent < text.size())
        over.sent += co_await or_return(over.left.send(bytes_of(text.substr(over.sent))));
    co_return {};
}
inline result send_pieces(link& over) {
    while (over.sent < text.size()) {
        auto const rest = text.substr(over.sent);
        auto const half = rest.size() / 2;
        source_span const first{rest.data(), half}, second{rest.data() + half, rest.size() - half};
        std::array<source_span, 2> const pieces{first, second};
        over.sent += co_await or_return(over.left.send_pieces(pieces));
    }
    co_return {};
}
inline result send_whole(link& over) { co_return co_await over.left.send_all(bytes_of(text), over.sent); }
inline result send_whole_pieces(link& over) {
    source_span const first{text.data(), 9}, second{text.data() + 9, text.size() - 9};
    std::array<source_span, 2> const pieces{first, second};
    std::span<source_span const> const whole(pieces);
    co_return co_await over.left.send_all(whole, over.sent);
}
inline result receive_leases(link& over) {
    while (over.received < text.size()) {
        auto const some = co_await or_return(over.right.receive());
        if (some.empty()) co_return std::unexpected(end_of_stream());
        over.received += some.size();
    }
    co_return {};
}
inline result receive_into_memory(link& over) {
    std::array<std::byte, 5> into{};
    while (over.received < text.size()) {
        auto const count = co_await or_return(over.right.receive(into));
        if (count == 0) co_return std::unexpected(end_of_stream());
        over.received += count;
    }
    co_return {};
}
inline result receive_into_a_vector(link& over) {
    while (over.received < text.size()) {
        std::vector<std::byte> into(5);
        auto const back = co_await or_return(over.right.receive_into(std::move(into)));
        if (back.empty()) co_return std::unexpected(end_of_stream());
        over.received += back.size();
    }
    co_return {};
}

template <auto Send, auto Receive> result talk(surroundings& at) {
    link over(at);
    auto const both = co_await when_all(Receive(over), Send(over)); // who receives has to wait
    co_return both.has_value() ? io_result<void>() : std::unexpected(both.error());
}

/// What a reader holds has been received, although nobody has read it.
struct reading {
    explicit reading(link& of) : over(of), reader(of.right, 16) {}
    reading(reading&&) = delete;
    ~reading() { over.received = read + reader.buffered().size(); }
    link& over;
    buffered_reader<tcp_stream> reader;
    std::size_t read = 0;
};
inline result read_exactly(link& over) {
    reading of(over);
    for (std::size_t const count : {4, 16, 6}) {
        auto const piece = co_await or_return(of.reader.read_exactly(count));
        of.read += piece.size();
    }
    co_return {};
}
inline result read_lines(link& over) {
    reading of(over);
    auto const line = co_await or_return(of.reader.read_line());
    of.read += line.size() + 2;
    auto const next = co_await or_return(of.reader.read_line());
    of.read += next.size() + 1;
    co_return {};
}
inline result read_until(link& over) {
    reading of(over);
    auto const first = co_await or_return(of.reader.read_until("\n"));
    of.read += first.size();
    auto const second = co_await or_return(of.reader.read_until("\n-"));
    of.read += second.size();
    co_return {};
}

/// A copy between two connections. What it holds has left the first and not entered the second.
struct copying {
    explicit copying(surroundings& of) : from(of, false), to(of), work(from.right, to.left, 8) {}
    copying(copying&&) = delete;
    ~copying() { to.sent = work.transferred(); }
    link from, to;
    stream_copy<tcp_stream, tcp_stream> work;
};
inline result copies(surroundings& at) {
    copying both(at);
    auto const sends = [&both]() -> result {
        co_await or_return(send_whole(both.from));
        co_await or_return(both.from.left.shutdown_send());
        co_return {};
    };
    auto const done = co_await when_all(receive_leases(both.to), both.work.run(), sends());
    co_return done.has_value() ? io_result<void>() : std::unexpected(done.error());
}
inline result sees_the_end(surroundings& at) {
    link over(at);
    auto const ends = [&over]() -> result {
        co_await sleep(1ms);
        co_await or_return(over.left.shutdown_send());
        co_return {};
    };
    auto const both = co_await when_all(over.right.closed(), ends());
    co_return both.has_value() ? io_result<void>() : std::unexpected(both.error());
}
inline result closes(surroundings& at) {
    link over(at);
    auto const body = [&over](tcp_stream& which) -> result {
        co_return co_await which.send_all(bytes_of(text), over.sent);
    };
    co_await or_return(with(std::move(over.left), body));
    link other(at, false);
    co_return co_await other.right.async_close();
}
inline result connects(surroundings&) {
    // A listener that is short of memory loses a connection and goes on: nobody comes a second time here.
    auto pair = co_await or_return(with_timeout(1min, connect_pair()));
    co_await or_return(pair.client.send_all(bytes_of(text)));
    std::array<std::byte, text.size()> into{};
    buffered_reader<tcp_stream> reader(pair.server, text.size());
    auto const whole = co_await or_return(reader.read_exactly(into.size()));
    (void)whole;
    co_await or_return(pair.client.async_close());
    co_return {};
}
inline result accepts_for_a_while(surroundings&) {
    auto listener = co_await or_return(tcp_listener::bind(endpoint::loopback(0)));
    auto const at = co_await or_return(listener.local_endpoint());
    auto const done = co_await when_any(sleep(1ms), listener.accept()); // nobody comes
    (void)done;
    auto const both = co_await when_any(listener.accept(), tcp_stream::connect(at));
    (void)both;
    co_return {};
}
inline result erased(surroundings& at) {
    link over(at);
    any_stream left(std::move(over.left)), right(std::move(over.right));
    auto const sends = [&]() -> result { co_return co_await left.send_all(bytes_of(text), over.sent); };
    auto const receives = [&]() -> result {
        std::array<std::byte, 5> into{};
        while (over.received < text.size()) {
            auto const count = co_await or_return(right.receive(into));
            if (count == 0) co_return std::unexpected(end_of_stream());
            over.received += count;
        }
        co_return {};
    };
    auto const both = co_await when_all(receives(), sends());
    co_return both.has_value() ? io_result<void>() : std::unexpected(both.error());
}
inline result receives_or_gives_up(surroundings& at) {
    link over(at);
    auto const first = co_await when_any(over.right.receive(), sleep(1ms)); // nothing comes
    auto const sent = co_await over.left.send(bytes_of(text));
    if (sent.has_value()) over.sent += *sent;
    auto const second = co_await when_any(sleep(1ms), over.right.receive());
    for (auto const* const got : {&std::get<0>(first), &std::get<1>(second)})
        if (got->has_value() && (*got)->has_value()) over.received += (**got)->size();
    co_return {};
}

} // namespace pitsaw::testing::subjects
