// Reads with timeouts that come in the middle of what is read, on every driver.
#include "stream_pair.hpp"
#include "stress/random_stops.hpp"

#include <cstddef>
#include <string>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::bytes_of;
using ps::testing::driver_name;
using ps::testing::is_timed_out;
using ps::testing::random_time;
using ps::testing::text_of;

namespace {

using result = ps::task<ps::io_result<void>>;

class reader : public ::testing::TestWithParam<driver_name> {
  protected:
    void run(result work, std::uint64_t seed) {
        ps::runtime rt(ps::testing::make_driver(GetParam(), seed));
        auto const end = ps::sync_wait(rt, std::move(work));
        ASSERT_TRUE(end.has_value());
        EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
    }
};

// ---- Half a header, a timeout, the other half

result half_a_header() {
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    ps::buffered_reader from{ends.server};

    co_await ps::or_return(ends.client.send_all(bytes_of("he")));
    auto const exactly = co_await ps::with_timeout(5ms, from.read_exactly(4));
    EXPECT_EQ(exactly.error(), std::errc::timed_out);
    co_await ps::or_return(ends.client.send_all(bytes_of("ad")));
    auto const header = co_await ps::or_return(from.read_exactly(4));
    EXPECT_EQ(text_of(header), "head");

    co_await ps::or_return(ends.client.send_all(bytes_of("a li")));
    auto const line = co_await ps::with_timeout(5ms, from.read_line());
    EXPECT_EQ(line.error(), std::errc::timed_out);
    co_await ps::or_return(ends.client.send_all(bytes_of("ne\r\n")));
    auto const whole_line = co_await ps::or_return(from.read_line());
    EXPECT_EQ(whole_line, "a line");

    co_await ps::or_return(ends.client.send_all(bytes_of("to a mark-")));
    auto const part = co_await ps::with_timeout(5ms, from.read_until("--"));
    EXPECT_EQ(part.error(), std::errc::timed_out);
    co_await ps::or_return(ends.client.send_all(bytes_of("-rest")));
    auto const whole_part = co_await ps::or_return(from.read_until("--"));
    EXPECT_EQ(whole_part, "to a mark--");
    EXPECT_EQ(text_of(from.buffered()).substr(0, 4),
              std::string_view("rest").substr(0, from.buffered().size()));
    co_return {};
}

TEST_P(reader, gives_the_whole_piece_after_a_timeout_in_its_middle) { // CA11
    run(half_a_header(), 1);
}

// ---- Thousands of frames: a line with a length, then so many letters, then a mark; timeouts anywhere

constexpr int frames = 2000;

std::string frame(int number) {
    auto const size = static_cast<std::size_t>(number * 37 % 91);
    return std::to_string(size) + "\r\n" + std::string(size, static_cast<char>('a' + number % 26)) + "--";
}

result send_frames(ps::tcp_stream& to, ps::random_source& random) {
    std::string text;
    for (int i = 0; i < frames; ++i) text += frame(i);
    std::size_t sent = 0;
    while (sent < text.size()) {
        auto const piece = std::string_view(text).substr(0, sent + 1 + random.below(400));
        co_await ps::or_return(to.send_all(bytes_of(piece), sent));
        co_await ps::sleep(random_time(random, 100us));
    }
    co_return {};
}

struct pieces {
    ps::buffered_reader<ps::tcp_stream> from;
    ps::random_source& random;
    int timeouts = 0;

    pieces(ps::tcp_stream& stream, ps::random_source& numbers) : from(stream, 256), random(numbers) {}

    // Asks again and again.
    template <class Ask> auto patiently(Ask ask) -> decltype(ask(from)) {
        for (;;) {
            auto const time = random_time(random, 100us);
            auto got = co_await ps::with_timeout(time, ask(from));
            if (got.has_value() || !is_timed_out(got.error())) co_return got;
            ++timeouts;
        }
    }
};

result read_frames(pieces& with) {
    for (int i = 0; i < frames; ++i) {
        auto const line = co_await ps::or_return(with.patiently([](auto& from) { return from.read_line(); }));
        auto const size = static_cast<std::size_t>(std::stoul(std::string(line)));
        auto const wanted = frame(i);
        EXPECT_EQ(wanted.substr(0, line.size()), line);
        auto const exactly = [size](auto& from) { return from.read_exactly(size); };
        auto const letters = co_await ps::or_return(with.patiently(exactly));
        EXPECT_EQ(text_of(letters), wanted.substr(wanted.size() - 2 - size, size));
        auto const mark =
            co_await ps::or_return(with.patiently([](auto& from) { return from.read_until("--"); }));
        EXPECT_EQ(mark, "--");
        if (::testing::Test::HasFailure()) co_return {};
    }
    co_return {};
}

result exchange_frames(std::uint64_t seed) {
    ps::random_source random(seed);
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    pieces with(ends.server, random);
    co_await ps::or_return(ps::when_all(send_frames(ends.client, random), read_frames(with)));
    EXPECT_GT(with.timeouts, 10);
    co_return {};
}

TEST_P(reader, goes_on_after_timeouts_at_random_without_losing_a_byte) { // CA11
    auto const seed = ps::testing::stress_seed(21);
    SCOPED_TRACE(ps::testing::say_seed(seed));
    run(exchange_frames(seed), seed);
}

INSTANTIATE_TEST_SUITE_P(drivers, reader, ps::testing::every_driver(), ps::testing::name_of_driver);

} // namespace
