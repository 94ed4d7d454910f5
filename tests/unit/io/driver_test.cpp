#include "driver/sim/driver.hpp"

#include <pitsaw/io/buffer.hpp>
#include <pitsaw/io/driver.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string_view>

/// The examples of driver.hpp, operation.hpp and descriptor.hpp as they stand there, on a simulated driver.
/// The laws are tested in tests/driver.
namespace pitsaw {
namespace {

struct greeting : operation {
    using operation::operation;
    std::size_t received = 0;
};

void on_received(operation& op, event const& done) noexcept {
    static_cast<greeting&>(op).received = to_result(done).value_or(0);
}

TEST(driver, the_loop_of_the_example_runs_on_event) {
    sim_driver driver(sim_driver_options::calm());
    auto const [stream, peer] = driver.make_stream_pair();
    std::string_view const hello = "hello";
    operation send(op_code::send, peer);
    set_source(send, std::as_bytes(std::span(hello)));
    event sent;
    ASSERT_TRUE(driver.attempt(send, sent));

    std::array<std::byte, 16> bytes{};
    greeting op(op_code::receive, stream, &on_received);
    set_buffer(op, bytes);
    driver.submit(op);

    auto const next_timer = driver.now();
    std::array<event, 64> out;
    while (op.received == 0) {
        auto const count = driver.poll(out, next_timer);
        for (auto const& e : std::span(out).first(count)) e.op->on_event(*e.op, e);
    }
    EXPECT_EQ(op.received, hello.size());
    EXPECT_EQ(bytes[4], std::byte{'o'});
}

TEST(driver, an_attempt_that_succeeds_leaves_on_event_alone) {
    sim_driver driver(sim_driver_options::calm());
    auto const [stream, peer] = driver.make_stream_pair();
    std::array<std::byte, 16> bytes{};
    greeting op(op_code::send, stream, &on_received);
    set_source(op, bytes);
    event done;
    if (!driver.attempt(op, done)) driver.submit(op);
    EXPECT_EQ(to_result(done), 16);
    EXPECT_EQ(op.received, 0);
    EXPECT_EQ(op.state, 0);
}

TEST(driver, attach_gives_a_handle_an_identity) {
    sim_driver driver(sim_driver_options::calm());
    auto const listener = driver.listen({.family = address_family::ipv4, .port = 80});
    auto const client = driver.make_socket();
    socket_address const address{.family = address_family::ipv4, .port = 80};
    wide_operation op(op_code::connect, client);
    set_source(op, std::as_bytes(std::span(&address, 1)));
    event done;
    ASSERT_TRUE(driver.attempt(op, done));
    operation accept(op_code::accept, listener);
    ASSERT_TRUE(driver.attempt(accept, done));

    auto const handle = native_handle(done.result);
    auto const attached = driver.attach(handle);
    ASSERT_TRUE(attached);
    EXPECT_TRUE(*attached);
    EXPECT_NE(*attached, client);
    EXPECT_EQ(driver.statistics().descriptors_open, 3);
}

} // namespace
} // namespace pitsaw
