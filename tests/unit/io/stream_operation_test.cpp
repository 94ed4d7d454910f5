#include <pitsaw/io/stream_operation.hpp>

#include <pitsaw/pitsaw.hpp>

#include "driver/sim/driver.hpp"
#include "run_stopped.hpp"
#include "stream_pair.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::bytes_of;
using ps::testing::run_stopped;
using ps::testing::text_of;

namespace {

// Two connected streams of a calm world that nobody owns.
struct ends_of_a_world {
    explicit ends_of_a_world(std::uint32_t pool_buffers = 2) {
        ps::runtime_options options;
        options.pool_buffers = pool_buffers;
        auto made = std::make_unique<ps::sim_driver>(ps::sim_driver_options::calm());
        driver = made.get();
        rt.emplace(std::move(made), options);
        ends = driver->make_stream_pair();
    }
    ps::sim_driver* driver = nullptr;
    std::optional<ps::runtime> rt;
    std::pair<ps::descriptor, ps::descriptor> ends;
};

ps::task<ps::io_result<std::size_t>> send(ps::descriptor to, std::string_view text) {
    co_return co_await ps::send_operation(to, bytes_of(text));
}

ps::task<ps::io_result<std::size_t>> send_two(ps::descriptor to) {
    std::array<ps::source_span, 2> const pieces{ps::source_span{"ab", 2}, {"cde", 3}};
    co_return co_await ps::vectored_send_operation(to, pieces);
}

ps::task<ps::io_result<std::string>> receive(ps::descriptor from) {
    std::array<std::byte, 16> into{};
    auto const got = co_await ps::or_return(ps::receive_operation(from, into));
    co_return std::string(text_of(std::span(into).first(got)));
}

TEST(stream_operation, sends_bytes_and_pieces_and_receives_them) {
    ends_of_a_world w;
    EXPECT_EQ(ps::sync_wait(*w.rt, send(w.ends.first, "text ")).value().value(), 5u);
    EXPECT_EQ(ps::sync_wait(*w.rt, send_two(w.ends.first)).value().value(), 5u);
    EXPECT_EQ(ps::sync_wait(*w.rt, receive(w.ends.second)).value().value(), "text abcde");
}

ps::task<ps::io_result<void>> plain(ps::op_code what, ps::descriptor on) {
    co_return co_await ps::plain_operation(what, on);
}

TEST(stream_operation, a_plain_one_gives_nothing_or_the_error) {
    ends_of_a_world w;
    EXPECT_TRUE(ps::sync_wait(*w.rt, plain(ps::op_code::shutdown, w.ends.first)).value().has_value());
    EXPECT_TRUE(ps::sync_wait(*w.rt, plain(ps::op_code::watch, w.ends.second)).value().has_value());
    EXPECT_EQ(ps::sync_wait(*w.rt, receive(w.ends.second)).value().value(), "");
    w.driver->reset(w.ends.second);
    EXPECT_EQ(ps::sync_wait(*w.rt, plain(ps::op_code::watch, w.ends.second)).value().error(),
              std::errc::connection_reset);
    EXPECT_FALSE(ps::sync_wait(*w.rt, send(w.ends.second, "text")).value().has_value());
}

ps::task<ps::io_result<void>> connect(ps::descriptor which, ps::endpoint to) {
    co_return co_await ps::connect_operation(which, to.as_socket_address());
}

TEST(stream_operation, a_connect_owns_its_address_and_is_refused_where_nobody_listens) {
    ends_of_a_world w;
    auto const socket = w.driver->make_socket();
    auto const nowhere = ps::endpoint::loopback(9);
    EXPECT_EQ(ps::sync_wait(*w.rt, connect(socket, nowhere)).value().error(), std::errc::connection_refused);
}

TEST(stream_operation, of_a_descriptor_that_is_none_is_an_error) {
    ends_of_a_world w;
    EXPECT_EQ(ps::sync_wait(*w.rt, receive({})).value().error(), std::errc::bad_file_descriptor);
    EXPECT_EQ(ps::sync_wait(*w.rt, send({}, "text")).value().error(), std::errc::bad_file_descriptor);
}

// ---- Pooled receives

ps::task<ps::io_result<ps::lease>> lease_of(ps::descriptor from) {
    co_return co_await ps::pooled_receive_operation(from);
}

TEST(pooled_receive_operation, holds_no_buffer_while_it_waits) {
    ends_of_a_world w;
    (void)run_stopped(*w.rt, 1ms, lease_of(w.ends.second));
    EXPECT_EQ(w.driver->statistics().buffers_out, 0u);
}

ps::task<ps::io_result<std::size_t>> receive_beside_a_send(ps::sim_driver& driver,
                                                           std::pair<ps::descriptor, ps::descriptor> ends) {
    auto const sends = [](ps::descriptor to) -> ps::task<ps::io_result<std::size_t>> {
        co_await ps::sleep(1ms);
        co_return co_await send(to, "late");
    };
    auto both = co_await ps::or_return(ps::when_all(lease_of(ends.second), sends(ends.first)));
    auto const& got = std::get<0>(both);
    EXPECT_EQ(driver.statistics().buffers_out, got.is_pooled() ? 1u : 0u);
    co_return got.size();
}

TEST(pooled_receive_operation, takes_a_buffer_when_bytes_come_and_the_heap_without_a_pool) {
    for (std::uint32_t const buffers : {2u, 0u}) {
        ends_of_a_world w(buffers);
        EXPECT_EQ(ps::sync_wait(*w.rt, receive_beside_a_send(*w.driver, w.ends)).value().value(), 4u);
        EXPECT_EQ(w.driver->statistics().buffers_out, 0u);
    }
}

ps::task<bool> drop_what_came(ps::descriptor from) {
    auto first = co_await ps::when_any(lease_of(from), lease_of(from)); // each takes what is there
    co_return std::get<0>(first).has_value() || std::get<1>(first).has_value();
}

TEST(pooled_receive_operation, what_nobody_takes_goes_back_to_the_pool) {
    ends_of_a_world w;
    (void)ps::sync_wait(*w.rt, send(w.ends.first, "text"));
    EXPECT_TRUE(ps::sync_wait(*w.rt, drop_what_came(w.ends.second)).value());
    EXPECT_EQ(w.driver->statistics().buffers_out, 0u);
}

} // namespace
