#include <pitsaw/io/await_operation.hpp>

#include "driver/sim/driver.hpp"
#include "stream_leaves.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::receive_some;
using ps::testing::send_some;

namespace {

// A runtime over a simulated driver whose cancels take as long as the test says.
struct simulated : ps::sim_observer {
    explicit simulated(ps::sim_driver_options options = ps::sim_driver_options::calm())
        : rt([&] {
              auto made = std::make_unique<ps::sim_driver>(options, this);
              driver = made.get();
              return made;
          }()) {
        ends = driver->make_stream_pair();
    }
    ~simulated() override {
        driver->discard(ends.first);
        driver->discard(ends.second);
        std::array<ps::event, 8> out;
        while (driver->drain(out, ps::never).remaining != 0) {
        }
    }
    std::optional<ps::duration> cancel_takes(ps::operation const&) noexcept override { return cancel_time; }

    void stuck() noexcept override { ADD_FAILURE() << "nothing can happen any more"; }

    ps::sim_driver* driver = nullptr;
    ps::runtime rt;
    std::pair<ps::descriptor, ps::descriptor> ends;
    ps::duration cancel_time{0};
};

ps::task<ps::io_result<std::size_t>> receive(ps::descriptor from) {
    std::array<std::byte, 8> into{};
    co_return co_await receive_some(from, into);
}

ps::task<> send_after(ps::descriptor to, ps::duration wait) {
    std::array<std::byte, 5> const bytes{};
    co_await ps::sleep(wait);
    (void)co_await send_some(to, bytes);
}

TEST(await_operation, completes_inline_when_the_driver_can) {
    simulated s;
    (void)ps::sync_wait(s.rt, send_after(s.ends.first, 0ns));
    auto const before = s.driver->statistics().submitted;
    auto end = ps::sync_wait(s.rt, receive(s.ends.second));
    EXPECT_EQ(end.value().value(), 5u);
    EXPECT_EQ(s.driver->statistics().submitted, before);
}

ps::task<ps::io_result<std::size_t>> receive_within(ps::duration limit, ps::descriptor from) {
    co_return co_await ps::with_timeout(limit, receive(from));
}
ps::task<ps::io_result<std::size_t>> beside(ps::task<ps::io_result<std::size_t>> receives, ps::task<> other) {
    co_return std::get<0>(co_await ps::when_all(ps::as_outcome(std::move(receives)), std::move(other)))
        .value();
}

TEST(await_operation, waits_for_its_final_event) {
    simulated s;
    auto end = ps::sync_wait(s.rt, beside(receive(s.ends.second), send_after(s.ends.first, 3ms)));
    EXPECT_EQ(end.value().value(), 5u);
}

TEST(await_operation, a_stop_cancels_it_and_moves_no_byte) {
    simulated s;
    auto end = ps::sync_wait(s.rt, receive_within(2ms, s.ends.second));
    EXPECT_EQ(end.value().error(), std::errc::timed_out);
    EXPECT_EQ(s.driver->statistics().in_flight, 0u);
    (void)ps::sync_wait(s.rt, send_after(s.ends.first, 0ns));
    EXPECT_EQ(s.driver->readable_bytes(s.ends.second), 5u);
}

TEST(await_operation, delivers_what_completed_in_spite_of_the_cancel) { // CA3
    simulated s;
    s.cancel_time = 1h;
    auto end =
        ps::sync_wait(s.rt, beside(receive_within(2ms, s.ends.second), send_after(s.ends.first, 50ms)));
    EXPECT_EQ(end.value().value(), 5u);
}

TEST(await_operation,
     the_frame_outlives_a_cancel_that_takes_long) { // the loan: the simulator checks the buffer
    simulated s;
    s.cancel_time = 10s;
    auto const before = s.driver->now();
    auto end = ps::sync_wait(s.rt, receive_within(2ms, s.ends.second));
    EXPECT_EQ(end.value().error(), std::errc::timed_out);
    EXPECT_EQ(s.driver->now() - before, 10s + 2ms);
}

ps::task<> close_after(ps::sim_driver& driver, ps::descriptor which, ps::duration wait) {
    co_await ps::sleep(wait);
    driver.discard(which);
}

TEST(await_operation, a_close_by_somebody_else_is_an_error_and_no_stop) { // CA5
    simulated s;
    auto end =
        ps::sync_wait(s.rt, beside(receive(s.ends.second), close_after(*s.driver, s.ends.second, 1ms)));
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end.value().error(), std::errc::operation_canceled);
}

} // namespace
