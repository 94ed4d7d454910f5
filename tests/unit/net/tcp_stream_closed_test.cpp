// What a stream shows of its peer's end, on every driver.
#include <pitsaw/net/tcp_stream.hpp>

#include <pitsaw/pitsaw.hpp>

#include "each_driver.hpp"
#include "stream_pair.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <system_error>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::bytes_of;
using ps::testing::text_of;

namespace {

using result = ps::task<ps::io_result<void>>;

using stream_end = ps::testing::on_a_driver;

ps::task<std::error_code> wait_for_the_end(ps::tcp_stream& of) {
    auto const seen = co_await of.closed();
    co_return seen.has_value() ? std::error_code() : seen.error();
}

result break_it(ps::tcp_stream& which) {
    co_await ps::or_return(which.set_option(ps::socket_option::reset_on_close, 1));
    co_return co_await which.async_close();
}

result finished_with_bytes_left() {
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    co_await ps::or_return(ends.client.send_all(bytes_of("bytes")));
    auto const early = co_await ps::with_timeout(5ms, ends.server.closed());
    EXPECT_EQ(early.error(), std::errc::timed_out); // bytes are no end
    co_await ps::or_return(ends.client.shutdown_send());
    auto const seen = co_await wait_for_the_end(ends.server);
    EXPECT_FALSE(seen);
    auto const again = co_await wait_for_the_end(ends.server); // it stays so
    EXPECT_FALSE(again);
    ps::buffered_reader reader{ends.server};
    auto const all = co_await ps::or_return(reader.read_exactly(5)); // it took none
    EXPECT_EQ(text_of(all), "bytes");
    co_return co_await ends.server.send_all(bytes_of("the other way still works"));
}

TEST_P(stream_end, a_finished_peer_is_seen_without_taking_a_byte) { // EP8
    run(finished_with_bytes_left());
}

result seen_while_waiting(bool is_broken) {
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    auto const ends_it = [](ps::tcp_stream& which, bool breaks) -> result {
        co_await ps::sleep(2ms);
        if (breaks) co_return co_await break_it(which);
        co_return co_await which.async_close();
    };
    auto const both =
        co_await ps::or_return(ps::when_all(wait_for_the_end(ends.server), ends_it(ends.client, is_broken)));
    if (is_broken) {
        EXPECT_EQ(std::get<0>(both), std::errc::connection_reset);
    }
    if (!is_broken) {
        EXPECT_FALSE(std::get<0>(both));
    }
    co_return {};
}

TEST_P(stream_end, a_close_wakes_who_waits_for_it) { run(seen_while_waiting(false)); } // EP8
TEST_P(stream_end, a_reset_wakes_who_waits_for_it) { run(seen_while_waiting(true)); }  // EP8

result seen_beside_a_receive() {
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    auto const receives = [](ps::tcp_stream& from) -> ps::task<std::size_t> {
        auto const chunk = co_await from.receive();
        co_return chunk.has_value() ? chunk->size() : 99;
    };
    auto const finishes = [](ps::tcp_stream& which) -> result {
        co_await ps::sleep(2ms);
        co_return co_await which.shutdown_send();
    };
    auto const all =
        co_await ps::or_return(ps::when_all(receives(ends.server), wait_for_the_end(ends.server),
                                            wait_for_the_end(ends.server), finishes(ends.client)));
    EXPECT_EQ(std::get<0>(all), 0u);
    co_return {};
}

TEST_P(stream_end, waits_beside_a_receive_and_another_wait) { run(seen_beside_a_receive()); }

ps::task<std::error_code> send_until_it_fails(ps::tcp_stream& to) {
    std::array<std::byte, 4096> const bytes{};
    for (;;) {
        auto const sent = co_await to.send_all(bytes);
        if (!sent.has_value()) co_return sent.error();
        co_await ps::sleep(100us);
    }
}

result broken_while_sending() {
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    auto const both =
        co_await ps::or_return(ps::when_all(send_until_it_fails(ends.server), break_it(ends.client)));
    auto const error = std::get<0>(both);
    EXPECT_TRUE(error == std::errc::connection_reset || error == std::errc::broken_pipe) << error;
    auto const after = co_await ends.server.receive();
    EXPECT_TRUE(!after.has_value() || after->empty());
    co_return {};
}

TEST_P(stream_end, sending_to_a_peer_that_broke_the_connection_is_an_error) { run(broken_while_sending()); }

INSTANTIATE_TEST_SUITE_P(drivers, stream_end, ps::testing::every_driver(), ps::testing::name_of_driver);

} // namespace
