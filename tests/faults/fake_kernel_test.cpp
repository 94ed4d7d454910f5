#include "driver/io_uring/driver.hpp"
#include "faults/fake_kernel.hpp"

#include <pitsaw/base/random.hpp>
#include <pitsaw/io/buffer.hpp>

#include <gtest/gtest.h>

#include <array>

/// What no kernel does soon, or ever: queues whose numbers wrap around, and completions that nobody waits
/// for.
namespace pitsaw::faults {
namespace {

TEST(fake_kernel, a_ring_counts_on_past_2_to_the_32) { // IU13
    for (auto const first : {0U, 0xFFFF'FFF0U, 0xFFFF'FFFFU, 0x7FFF'FFFCU}) {
        fake_kernel kernel(first);
        io_uring ring;
        ASSERT_EQ(ring.open(8, 16), 0);
        auto random = random_source(first);
        std::uint64_t asked = 0;
        std::uint64_t seen = 0;
        while (seen < 500) {
            auto const batch = static_cast<std::uint32_t>(random.below(9));
            for (std::uint32_t i = 0; i < batch; ++i) {
                ASSERT_EQ(ring.free_entries(), 8 - i);
                auto* const entry = ring.next_entry();
                ASSERT_NE(entry, nullptr);
                entry->opcode = IORING_OP_NOP;
                entry->user_data = ++asked;
            }
            EXPECT_EQ(ring.unsubmitted(), batch);
            if (batch == 8) {
                EXPECT_EQ(ring.next_entry(), nullptr);
            }
            ASSERT_EQ(ring.enter(false, {}), 0);
            EXPECT_EQ(ring.unsubmitted(), 0U);
            while (auto const* const done = ring.completion()) {
                ASSERT_EQ(done->user_data, ++seen);
                ring.pop_completion();
            }
            ASSERT_EQ(seen, asked);
        }
    }
}

TEST(fake_kernel, a_driver_works_past_2_to_the_32) { // IU13
    fake_kernel kernel(0xFFFF'FFF0U);
    auto const driver = io_uring_driver::make().value();
    std::array<operation, 300> nops;
    for (auto& each : nops) driver->submit(each);
    std::array<event, 32> out;
    std::size_t seen = 0;
    for (int turns = 0; seen < nops.size() && turns < 1'000; ++turns)
        seen += driver->poll(out, driver->now());
    EXPECT_EQ(seen, nops.size());
}

/// A receive, or what else, that the fake kernel keeps.
struct kept_operation {
    kept_operation() {
        on = driver->open_stream(address_family::ipv4).value();
        receive.target = on;
        set_buffer(receive, bytes);
        (void)turn(); // the driver's own poll for wakes comes first
        submit();
    }
    void submit() {
        driver->submit(receive);
        (void)driver->poll(out, driver->now());
    }
    auto turn() -> std::size_t { return driver->poll(out, driver->now()); }
    [[nodiscard]] auto last() const -> std::uint64_t { return kernel.kept.back().user_data; }

    fake_kernel kernel;
    std::unique_ptr<io_uring_driver> driver = io_uring_driver::make().value();
    descriptor on;
    std::array<std::byte, 8> bytes = {};
    operation receive{op_code::receive};
    std::array<event, 8> out;
};

constexpr auto const* nobody_waits = "law 10 \\(identity\\): a completion that nobody waits for";

TEST(fake_kernel, a_second_completion_is_noticed) { // CA12
    kept_operation one;
    auto const mark = one.last();
    one.kernel.complete(mark, 3);
    ASSERT_EQ(one.turn(), 1U);
    EXPECT_EQ(one.out[0].result, 3);
    one.kernel.complete(mark, 3);
    EXPECT_DEATH((void)one.turn(), nobody_waits);
}

TEST(fake_kernel, a_late_completion_does_not_reach_the_next_use_of_an_operation) { // CA12
    kept_operation one;
    auto const old = one.last();
    one.kernel.complete(old, 3);
    ASSERT_EQ(one.turn(), 1U);
    one.submit();
    EXPECT_DEATH(
        {
            one.kernel.complete(old, 5);
            (void)one.turn();
        },
        nobody_waits);
    one.kernel.complete(one.last(), 4);
    ASSERT_EQ(one.turn(), 1U);
    EXPECT_EQ(one.out[0].result, 4);
}

TEST(fake_kernel, the_end_of_a_cancel_that_nobody_asked_for_is_noticed) { // CA12
    kept_operation one;
    auto const receive = one.last();
    EXPECT_DEATH(
        {
            one.kernel.complete(receive + 1, 0); // the tag of a cancel
            (void)one.turn();
        },
        nobody_waits);
    one.driver->cancel(one.receive);
    (void)one.turn();
    auto const cancel = one.last();
    one.kernel.complete(cancel, 0);
    one.kernel.complete(receive, -ECANCELED);
    ASSERT_EQ(one.turn(), 1U);
    EXPECT_EQ(one.out[0].result, -ECANCELED);
    one.kernel.complete(cancel, 0);
    EXPECT_DEATH((void)one.turn(), nobody_waits);
}

TEST(fake_kernel, a_second_end_of_a_close_is_noticed) { // CA12
    kept_operation one;
    one.kernel.complete(one.last(), 1);
    ASSERT_EQ(one.turn(), 1U);
    operation close(op_code::close, one.on);
    one.driver->submit(close);
    (void)one.turn();
    auto const mark = one.last();
    one.kernel.complete(mark, 0);
    ASSERT_EQ(one.turn(), 1U);
    EXPECT_EQ(one.out[0].op, &close);
    one.kernel.complete(mark, 0);
    EXPECT_DEATH((void)one.turn(), nobody_waits);
}

} // namespace
} // namespace pitsaw::faults
