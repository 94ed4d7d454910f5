// Bytes that are moved while stops come at random on real drivers: none is lost or written after the end.
#include "stream_pair.hpp"
#include "stress/random_stops.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::is_timed_out;
using ps::testing::random_time;

namespace {

using result = ps::task<ps::io_result<void>>;

/// The byte at a place of a counting stream.
constexpr std::byte counter(std::size_t at) { return static_cast<std::byte>(at % 251); }

ps::tcp_stream_options small_buffers() {
    ps::tcp_stream_options how;
    how.send_buffer_bytes = 16 << 10;
    how.receive_buffer_bytes = 16 << 10;
    return how;
}

// ---- Sends that are stopped and resumed at `sent`

constexpr std::size_t counted_bytes = std::size_t{16} << 20;

ps::task<ps::io_result<int>> send_counter(ps::tcp_stream& to, ps::random_source& random) {
    std::vector<std::byte> bytes(1 << 20);
    int stops = 0;
    for (std::size_t base = 0; base < counted_bytes; base += bytes.size()) {
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = counter(base + i);
        for (std::size_t sent = 0; sent < bytes.size();) {
            auto const time = random_time(random, 500us);
            auto const done = co_await ps::with_timeout(time, to.send_all(bytes, sent));
            if (done.has_value()) continue;
            if (!is_timed_out(done.error())) co_return std::unexpected(done.error());
            ++stops;
        }
    }
    co_await ps::or_return(to.shutdown_send());
    co_return stops;
}

// As above, in pieces.
ps::task<ps::io_result<int>> send_counter_in_pieces(ps::tcp_stream& to, ps::random_source& random) {
    std::vector<std::byte> bytes(1 << 20);
    int stops = 0;
    for (std::size_t base = 0; base < counted_bytes; base += bytes.size()) {
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = counter(base + i);
        std::vector<ps::source_span> pieces;
        for (std::size_t at = 0; at < bytes.size(); at += 10'000)
            pieces.push_back({bytes.data() + at, std::min<std::size_t>(10'000, bytes.size() - at)});
        std::span<ps::source_span const> const all(pieces);
        for (std::size_t sent = 0; sent < bytes.size();) {
            auto const time = random_time(random, 500us);
            auto const done = co_await ps::with_timeout(time, to.send_all(all, sent));
            if (done.has_value()) continue;
            if (!is_timed_out(done.error())) co_return std::unexpected(done.error());
            ++stops;
        }
    }
    co_await ps::or_return(to.shutdown_send());
    co_return stops;
}

ps::task<ps::io_result<std::size_t>> read_slowly(ps::tcp_stream& from) {
    std::size_t total = 0;
    for (std::size_t chunks = 1;; ++chunks) {
        auto const chunk = co_await ps::or_return(from.receive());
        if (chunk.empty()) co_return total;
        for (auto const byte : chunk.bytes())
            if (byte != counter(total++))
                co_return std::unexpected(std::make_error_code(std::errc::bad_message));
        if (chunks % 16 == 0) co_await ps::sleep(100us);
    }
}

using sender = ps::task<ps::io_result<int>> (*)(ps::tcp_stream&, ps::random_source&);

result counters(sender sends, std::uint64_t seed) {
    ps::random_source random(seed);
    auto ends = co_await ps::or_return(ps::testing::connect_pair(small_buffers()));
    auto both = co_await ps::or_return(ps::when_all(sends(ends.client, random), read_slowly(ends.server)));
    EXPECT_GT(std::get<0>(both), 100);
    EXPECT_EQ(std::get<1>(both), counted_bytes);
    co_return {};
}

using bytes = ps::testing::on_a_driver;

TEST_P(bytes, sent_with_stops_at_random_and_resumed_at_the_count_are_unbroken) { // CA17
    auto const seed = ps::testing::stress_seed(17);
    SCOPED_TRACE(ps::testing::say_seed(seed));
    run(counters(send_counter, seed));
}

TEST_P(bytes, sent_in_pieces_with_stops_at_random_and_resumed_at_the_count_are_unbroken) { // CA17
    auto const seed = ps::testing::stress_seed(18);
    SCOPED_TRACE(ps::testing::say_seed(seed));
    run(counters(send_counter_in_pieces, seed));
}

// ---- Receives into the caller's bytes

constexpr int receives = 10'000;
constexpr std::byte poison{0xAA}, canary{0xC5};

/// A buffer between canaries, poisoned whenever it is not lent.
class guarded_buffer {
  public:
    guarded_buffer() {
        bytes_.fill(canary);
        std::ranges::fill(middle(), poison);
    }
    [[nodiscard]] std::span<std::byte> middle() { return std::span(bytes_).subspan(64, 48); }

    /// Whether nothing but the first `count` bytes of the middle was written.
    [[nodiscard]] bool is_untouched_after(std::size_t count) {
        auto const is = [](std::byte what) { return [what](std::byte one) { return one == what; }; };
        return std::ranges::all_of(middle().subspan(count), is(poison)) &&
               std::ranges::all_of(std::span(bytes_).first(64), is(canary)) &&
               std::ranges::all_of(std::span(bytes_).last(64), is(canary));
    }

  private:
    std::array<std::byte, 64 + 48 + 64> bytes_;
};

struct received_bytes {
    std::size_t reported = 0, left = 0;
    std::size_t sent = 0, piece_sent = 0; // whole pieces, and the one at work
    int stopped = 0;
    std::vector<guarded_buffer> buffers = std::vector<guarded_buffer>(64);
};

// Each receive has another buffer; a buffer's next turn comes 64 receives later: nobody wrote to it since.
result receive_stopped(ps::tcp_stream& from, received_bytes& books, ps::random_source& random) {
    for (int i = 0; i < receives; ++i) {
        auto& buffer = books.buffers[static_cast<std::size_t>(i) % books.buffers.size()];
        EXPECT_TRUE(buffer.is_untouched_after(0)) << "written after the receive had ended";
        auto const time = random_time(random, 100us);
        auto const got = co_await ps::with_timeout(time, from.receive(buffer.middle()));
        if (!got.has_value() && !is_timed_out(got.error())) co_return std::unexpected(got.error());
        auto const count = got.has_value() ? *got : 0;
        EXPECT_TRUE(buffer.is_untouched_after(count)) << "more was written than reported";
        for (std::size_t j = 0; j < count; ++j) EXPECT_EQ(buffer.middle()[j], counter(books.reported + j));
        books.reported += count;
        books.stopped += got.has_value() ? 0 : 1;
        std::ranges::fill(buffer.middle(), poison);
    }
    co_return {};
}

result send_at_random(ps::tcp_stream& to, received_bytes& books, ps::random_source& random) {
    std::array<std::byte, 100> sent_now{};
    for (;;) {
        auto const count = 1 + random.below(sent_now.size());
        for (std::size_t i = 0; i < count; ++i) sent_now[i] = counter(books.sent + i);
        books.piece_sent = 0;
        co_await ps::or_return(to.send_all(std::span(sent_now).first(count), books.piece_sent));
        books.sent += std::exchange(books.piece_sent, 0);
        co_await ps::sleep(random_time(random, 100us));
    }
}

result poisoned(std::uint64_t seed) {
    ps::random_source random(seed);
    auto const books = std::make_unique<received_bytes>();
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    auto both = co_await ps::when_any(receive_stopped(ends.server, *books, random),
                                      send_at_random(ends.client, *books, random));
    EXPECT_TRUE(std::get<0>(both).has_value());
    co_await ps::or_return(ends.client.shutdown_send());
    for (;;) {
        auto const chunk = co_await ps::or_return(ends.server.receive());
        if (chunk.empty()) break;
        books->left += chunk.size();
    }
    EXPECT_EQ(books->reported + books->left, books->sent + books->piece_sent);
    EXPECT_GT(books->stopped, receives / 100);
    EXPECT_LT(books->stopped, receives);
    for (auto& buffer : books->buffers) EXPECT_TRUE(buffer.is_untouched_after(0));
    co_return {};
}

TEST_P(bytes, received_into_callers_buffers_are_written_before_the_end_or_never) { // CA3
    auto const seed = ps::testing::stress_seed(3);
    SCOPED_TRACE(ps::testing::say_seed(seed));
    run(poisoned(seed));
}

INSTANTIATE_TEST_SUITE_P(drivers, bytes, ps::testing::real_drivers(), ps::testing::name_of_driver);

} // namespace
