#include "sim/fault_driver.hpp"

#include <pitsaw/io/buffer.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace pitsaw;

class fault_driver_with_a_stream : public ::testing::Test {
  protected:
    static void ended(operation&, event const&) noexcept {}

    void SetUp() override {
        auto own = std::make_unique<sim_driver>(sim_driver_options::calm());
        world = own.get();
        io = std::make_unique<sim::fault_driver>(std::move(own));
        std::tie(left, right) = world->make_stream_pair();
    }
    void TearDown() override {
        io->discard(left);
        io->discard(right);
        while (io->drain(out, never).remaining != 0) {
        }
    }
    /// What comes until the time is up.
    std::vector<event> poll_for(duration span) {
        std::vector<event> all;
        auto const until = saturating_add(io->now(), span);
        do {
            auto const count = io->poll(out, until);
            all.insert(all.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count));
        } while (io->now() < until);
        return all;
    }
    static std::error_code error_of(event const& done) {
        auto const result = to_result(done);
        return result.has_value() ? std::error_code() : result.error();
    }

    std::array<event, 8> out;
    std::array<std::byte, 4> bytes{};
    sim_driver* world = nullptr;
    std::unique_ptr<sim::fault_driver> io;
    descriptor left, right;
};

TEST_F(fault_driver_with_a_stream, a_call_that_fails_has_moved_nothing) {
    operation send(op_code::send, left, ended);
    set_source(send, bytes);
    io->faults.failing_call = 1;
    event done;
    ASSERT_TRUE(io->attempt(send, done));
    EXPECT_EQ(error_of(done), std::errc::not_enough_memory);
    EXPECT_EQ(world->readable_bytes(right), 0u);
    ASSERT_TRUE(io->attempt(send, done)); // the next one does not
    EXPECT_EQ(done.result, 4);
    EXPECT_EQ(io->faults.calls, 2u);
    EXPECT_EQ(io->faults.operations, 1u);
}

TEST_F(fault_driver_with_a_stream, a_submission_that_fails_has_its_final_event_in_the_next_poll) {
    operation receive(op_code::receive, left, ended);
    set_buffer(receive, bytes);
    io->faults.failing_call = 1;
    io->submit(receive);
    ASSERT_EQ(io->poll(out, never), 1u);
    EXPECT_EQ(out[0].op, &receive);
    EXPECT_EQ(error_of(out[0]), std::errc::not_enough_memory);
}

TEST_F(fault_driver_with_a_stream, an_operation_that_fails_takes_a_while_and_breaks_its_connection) {
    operation receive(op_code::receive, left, ended);
    set_buffer(receive, bytes);
    io->faults.failing_operation = 1;
    event done;
    ASSERT_FALSE(io->attempt(receive, done));
    io->submit(receive);
    EXPECT_EQ(io->poll(out, io->now()), 0u);
    ASSERT_EQ(io->poll(out, never), 1u);
    EXPECT_EQ(error_of(out[0]), std::errc::connection_reset);
    operation other(op_code::receive, right, ended);
    set_buffer(other, bytes);
    ASSERT_TRUE(io->attempt(other, done));
    EXPECT_EQ(error_of(done), std::errc::connection_reset);
}

TEST_F(fault_driver_with_a_stream, a_cancel_comes_before_the_failure) {
    operation receive(op_code::receive, left, ended);
    set_buffer(receive, bytes);
    io->faults.failing_operation = 1;
    io->submit(receive);
    io->cancel(receive);
    io->cancel(receive); // law 3: as often as one likes
    auto const events = poll_for(std::chrono::milliseconds(1));
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(error_of(events[0]), std::errc::operation_canceled);
    event done;
    operation send(op_code::send, right, ended); // the connection is whole
    set_source(send, bytes);
    EXPECT_TRUE(io->attempt(send, done));
    EXPECT_EQ(done.result, 4);
}

TEST_F(fault_driver_with_a_stream, a_close_ends_the_operation_that_was_to_fail_first) { // law 12
    operation receive(op_code::receive, left, ended);
    set_buffer(receive, bytes);
    operation close(op_code::close, left, ended);
    io->faults.failing_operation = 1;
    io->submit(receive);
    io->submit(close);
    auto const events = poll_for(std::chrono::milliseconds(1));
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].op, &receive);
    EXPECT_EQ(error_of(events[0]), std::errc::operation_canceled);
    EXPECT_EQ(events[1].op, &close);
    EXPECT_EQ(events[1].result, 0);
}

TEST_F(fault_driver_with_a_stream, a_drain_brings_the_operation_that_was_to_fail) { // law 15
    operation receive(op_code::receive, left, ended);
    set_buffer(receive, bytes);
    io->faults.failing_operation = 1;
    io->submit(receive);
    auto progress = io->drain(out, never);
    ASSERT_EQ(progress.events, 1u);
    EXPECT_EQ(error_of(out[0]), std::errc::operation_canceled);
    for (int calls = 0; progress.remaining != 0 && calls < 3; ++calls) progress = io->drain(out, never);
    EXPECT_EQ(progress.remaining, 0u);
}

TEST_F(fault_driver_with_a_stream, one_event_at_a_time_loses_none) { // law 8
    operation receive(op_code::receive, left, ended);
    set_buffer(receive, bytes);
    operation other(op_code::nop, {}, ended);
    io->faults.failing_call = 1;
    io->submit(receive);
    io->submit(other);
    std::array<event, 1> one;
    ASSERT_EQ(io->poll(one, never), 1u);
    EXPECT_EQ(one[0].op, &receive);
    ASSERT_EQ(io->poll(one, never), 1u);
    EXPECT_EQ(one[0].op, &other);
}

TEST_F(fault_driver_with_a_stream, a_socket_that_cannot_be_attached_is_closed) {
    auto const before = world->statistics().objects_open;
    io->faults.failing_call = 1;
    auto const refused = io->open_stream(address_family::ipv4);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error(), std::errc::too_many_files_open);
    EXPECT_EQ(world->statistics().objects_open, before);
    std::array<std::byte, 64> memory{};
    io->faults.failing_call = 2;
    EXPECT_FALSE(io->lend(memory, 32).has_value());
}

} // namespace
