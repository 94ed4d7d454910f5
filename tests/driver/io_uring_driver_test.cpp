#include "driver/io_uring/driver.hpp"
#include "driver/law_loop.hpp"
#include "driver/poor_process.hpp"
#include "driver/posix_subject.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>

namespace pitsaw::laws {
namespace {

constexpr std::uint32_t buffer_bytes = 16;

/// A stream into a pool of two buffers.
struct pooled_stream {
    explicit pooled_stream(io_uring_powers allowed)
        : subject(io_uring_driver::make({.allowed = allowed}).value(), {}), loop(subject),
          ends(subject.connected_pair()), pool(*loop.io().lend(memory, buffer_bytes)) {
        loop.before_run = [this](std::span<event const> events) {
            for (auto const& each : events)
                if (has(each.flags, event_flag::pooled)) {
                    got.append(reinterpret_cast<char const*>(&memory[each.buffer * buffer_bytes]),
                               static_cast<std::size_t>(each.result));
                    held.push_back(each.buffer);
                }
        };
    }
    auto receive(op_option more = op_option::none) -> tracked& {
        auto& op = loop.make(op_code::receive, ends.first);
        op.options = op_option::pooled | more;
        op.pool = pool;
        loop.submit(op);
        return op;
    }
    void send(std::string_view what) {
        auto const* const bytes = reinterpret_cast<std::byte const*>(what.data());
        auto& op = loop.make_send(ends.second, {bytes, bytes + what.size()});
        loop.submit(op);
        ASSERT_TRUE(loop.run_until_ended(op));
    }
    void give_all_back() {
        for (auto const each : std::exchange(held, {})) loop.io().give_back(pool, each);
    }

    posix_subject subject;
    std::array<std::byte, 2 * buffer_bytes> memory = {};
    law_loop loop;
    std::pair<descriptor, descriptor> ends;
    std::uint16_t pool;
    std::string got;
    std::vector<std::uint16_t> held;
};

class io_uring_pools : public ::testing::TestWithParam<bool> {
  protected:
    [[nodiscard]] static auto allowed() -> io_uring_powers { return {.buffer_rings = GetParam()}; }
};

TEST_P(io_uring_pools, an_empty_pool_ends_only_a_receive_that_has_something_to_receive) { // law 16
    pooled_stream stream(allowed());
    for (auto const* const text : {"one", "two"}) {
        auto& op = stream.receive();
        stream.send(text);
        ASSERT_TRUE(stream.loop.run_until_ended(op));
        EXPECT_EQ(op.result(), 3);
    }
    auto& waiting = stream.receive();
    stream.loop.run_for(law_loop::a_while);
    EXPECT_FALSE(waiting.ended()) << to_error(waiting.result()).message();
    stream.send("three");
    ASSERT_TRUE(stream.loop.run_until_ended(waiting));
    EXPECT_EQ(to_error(waiting.result()), std::errc::no_buffer_space);
    stream.give_all_back();
    auto& next = stream.receive(); // what there was is still there
    ASSERT_TRUE(stream.loop.run_until_ended(next));
    EXPECT_EQ(stream.got, "onetwothree");
    stream.give_all_back();
    auto& cancelled = stream.receive();
    stream.loop.cancel(cancelled);
    ASSERT_TRUE(stream.loop.run_until_ended(cancelled));
    EXPECT_TRUE(cancelled.was_cancelled());
    auto& last = stream.receive();
    stream.loop.submit(stream.loop.make(op_code::shutdown, stream.ends.second));
    ASSERT_TRUE(stream.loop.run_until_ended(last));
    EXPECT_EQ(last.result(), 0);
    EXPECT_TRUE(stream.held.empty()); // law 4
}

TEST_P(io_uring_pools, a_multishot_receive_loses_nothing_and_no_buffer) { // laws 1, 7, 16
    pooled_stream stream(allowed());
    std::string sent;
    auto* op = &stream.receive(op_option::multishot);
    for (int i = 0; i < 300; ++i) {
        auto const text = std::to_string(i) + "............................";
        sent += text;
        stream.send(text); // more than the pool holds
        stream.give_all_back();
        if (op->ended()) op = &stream.receive(op_option::multishot);
    }
    ASSERT_TRUE(stream.loop.run_until([&] {
        stream.give_all_back();
        if (op->ended()) op = &stream.receive(op_option::multishot);
        return stream.got.size() == sent.size();
    }));
    EXPECT_EQ(stream.got, sent);
}

INSTANTIATE_TEST_SUITE_P(each, io_uring_pools, ::testing::Bool(), [](auto const& which) {
    return which.param ? "with_buffer_rings" : "without_buffer_rings";
});

TEST(io_uring_driver, a_watch_ends_when_the_peer_has_finished_or_the_connection_is_broken) {
    posix_subject subject(io_uring_driver::make().value(), {});
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    auto& finished = loop.make(op_code::watch, left);
    auto& broken = loop.make(op_code::watch, left);
    broken.options = op_option::broken;
    loop.submit(finished);
    loop.submit(broken);
    ASSERT_TRUE(loop.send_all(right, 0, 8)); // data alone ends no watch
    loop.run_for(law_loop::a_while);
    EXPECT_FALSE(finished.ended());
    loop.submit(loop.make(op_code::shutdown, right));
    ASSERT_TRUE(loop.run_until_ended(finished));
    EXPECT_EQ(finished.result(), 0);
    loop.run_for(law_loop::a_while);
    EXPECT_FALSE(broken.ended());
    EXPECT_EQ(loop.receive_all(left, 0), 8U);

    auto const [one, other] = subject.connected_pair();
    auto& reset = loop.make(op_code::watch, one);
    loop.submit(reset);
    loop.turn(loop.io().now());
    subject.reset(other);
    ASSERT_TRUE(loop.run_until_ended(reset));
    EXPECT_EQ(to_error(reset.result()), std::errc::connection_reset);
    auto& receive = loop.make_receive(one, 1); // the watch took the error; the receive still hears of it
    loop.submit(receive);
    ASSERT_TRUE(loop.run_until_ended(receive));
    EXPECT_EQ(to_error(receive.result()), std::errc::connection_reset);
}

TEST(io_uring_driver, a_vectored_send_sends_its_pieces_in_order) {
    posix_subject subject(io_uring_driver::make().value(), {});
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    auto const bytes = pattern(0, 100);
    std::array const pieces{source_span{bytes.data(), 60}, source_span{nullptr, 0},
                            source_span{bytes.data() + 60, 40}};
    auto& send = loop.make(op_code::send, right);
    set_pieces(send, pieces);
    loop.submit(send);
    ASSERT_TRUE(loop.run_until_ended(send));
    EXPECT_EQ(send.result(), 100);
    EXPECT_EQ(loop.receive_all(left, 0, 100), 100U);
}

TEST(io_uring_driver, makes_and_destroys_without_leaving_descriptors) {
    auto const count = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
    auto const before = count();
    std::array<event, 4> out;
    for (int i = 0; i < 200; ++i) {
        auto const made = io_uring_driver::make({.allowed = {.message_wake = i % 2 == 0}});
        ASSERT_TRUE(made) << i << ": " << made.error().message();
        auto const stream = (*made)->open_stream(address_family::ipv4);
        ASSERT_TRUE(stream);
        (*made)->wake();
        EXPECT_EQ((*made)->poll(out, never), 0U);
    }
    EXPECT_EQ(count(), before);
}

TEST(io_uring_driver, works_within_64_KiB_of_locked_memory) {
    EXPECT_EQ(status_of_a_poor_process(RLIMIT_MEMLOCK, 64 << 10,
                                       [] {
                                           auto const made = io_uring_driver::make();
                                           if (!made) return made.error().value();
                                           // The pool's ring of 512 KiB does not fit: it goes without one.
                                           std::vector<std::byte> memory(pool_buffers_max);
                                           if (!(*made)->lend(memory, 1)) return 201;
                                           std::array<event, 4> out;
                                           operation nop(op_code::nop);
                                           (*made)->submit(nop);
                                           return (*made)->poll(out, never) == 1 ? 0 : 202;
                                       }),
              0);
}

TEST(io_uring_driver, is_woken_though_the_queue_was_full_when_it_was_to_arm_that) { // law 14
    posix_subject subject(
        io_uring_driver::make({.submissions = 4, .allowed = {.message_wake = false}}).value(), {});
    law_loop loop(subject);
    for (int i = 0; i < 4; ++i) loop.submit(loop.make_receive(subject.connected_pair().first, 1));
    std::jthread const waker([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        subject.io().wake();
    });
    std::array<event, 4> out;
    auto const patience = loop.io().now() + std::chrono::seconds(20);
    EXPECT_EQ(loop.io().poll(out, patience), 0U);
    EXPECT_LT(loop.io().now(), patience);
    EXPECT_TRUE(loop.end_all());
}

TEST(io_uring_driver, a_second_close_does_not_take_the_first_ones_end) { // laws 1, 12
    posix_subject subject(io_uring_driver::make({.submissions = 4, .completions = 64}).value(), {});
    law_loop loop(subject);
    std::array<descriptor, 4> streams;
    std::array<tracked*, 4> watches;
    for (std::size_t i = 0; i < 4; ++i) {
        streams[i] = subject.connected_pair().first;
        watches[i] = &loop.make(op_code::watch, streams[i]);
        loop.submit(*watches[i]);
    }
    loop.turn(loop.io().now());
    for (int i = 0; i < 4; ++i) loop.submit(loop.make(op_code::nop)); // the submission queue is full
    loop.cancel(*watches[0]);                                         // waits in the backlog
    auto& first = loop.make(op_code::close, streams[0]);
    loop.submit(first);
    loop.submit(loop.make(op_code::close, streams[1]));
    for (int i = 0; i < 2; ++i) loop.turn(loop.io().now());
    auto& second = loop.make(op_code::close, streams[0]);
    loop.submit(second);
    for (std::size_t i = 2; i < 4; ++i) loop.io().discard(streams[i]);
    ASSERT_TRUE(loop.run_until_ended(first));
    ASSERT_TRUE(loop.run_until_ended(second));
    EXPECT_EQ(first.result(), 0);
    EXPECT_EQ(to_error(second.result()), std::errc::bad_file_descriptor);
    EXPECT_TRUE(loop.end_all());
    EXPECT_EQ(loop.finding(), "");
}

TEST(io_uring_driver, uses_no_power_that_it_was_denied) {
    io_uring_powers const none{false, false, false, false, false};
    auto const driver = io_uring_driver::make({.allowed = none});
    ASSERT_TRUE(driver);
    EXPECT_EQ((*driver)->powers(), none);
}

TEST(io_uring_driver, a_turn_is_one_enter) {
    auto const made = io_uring_driver::make();
    ASSERT_TRUE(made);
    auto& driver = **made;
    std::array<operation, 100> nops;
    std::array<event, 100> out;
    for (auto& each : nops) driver.submit(each);
    auto const before = driver.enters();
    EXPECT_EQ(driver.poll(out, never), 100U);
    EXPECT_EQ(driver.enters(), before + 1);
}

TEST(io_uring_driver, says_why_there_is_no_ring) {
    auto const make = [] {
        auto const made = io_uring_driver::make();
        return made ? 0 : made.error().value();
    };
    ASSERT_EQ(make(), 0); // the sanitizers need descriptors to look at a type for the first time
    EXPECT_EQ(status_of_a_poor_process(RLIMIT_NOFILE, 0, make), EMFILE);
    auto const bad = io_uring_driver::make({.submissions = 1U << 30, .completions = 1U << 30});
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error(), std::errc::invalid_argument);
}

/// The sanitizers do not see what the kernel writes: canaries around each buffer do (law 2).
TEST(io_uring_driver, ten_thousand_cancelled_receives_write_nowhere_else) {
    posix_subject subject(io_uring_driver::make({.submissions = 16, .completions = 32}).value(), {});
    law_loop loop(subject, 16);
    auto const [left, right] = subject.connected_pair();
    auto random = random_source(11);
    constexpr std::size_t guard = 32;
    constexpr std::size_t room = 64;
    std::vector<std::byte> memory(64 * (guard + room), std::byte{0xAA});
    std::size_t sent = 0;
    for (int i = 0; i < 10'000; ++i) {
        auto const at = static_cast<std::size_t>(i) % 64;
        auto const place = std::span(memory).subspan(at * (guard + room));
        auto& receive = loop.make_receive(left, 0);
        set_buffer(receive, place.subspan(guard, room));
        loop.submit(receive);
        if (random.chance(0.3)) {
            auto& send = loop.make_send(right, pattern(sent, 1 + random.below(80)));
            loop.submit(send);
            ASSERT_TRUE(loop.run_until_ended(send));
            sent += static_cast<std::size_t>(std::max(send.result(), 0));
        }
        if (random.chance(0.5)) loop.turn(loop.io().now());
        loop.cancel(receive);
        ASSERT_TRUE(loop.run_until_ended(receive));
        std::ranges::fill(place.subspan(guard, room), std::byte{0xAA}); // ours again
        if (i % 64 == 0) {
            ASSERT_TRUE(std::ranges::all_of(memory, [](auto byte) { return byte == std::byte{0xAA}; }));
        }
    }
    EXPECT_TRUE(std::ranges::all_of(memory, [](auto byte) { return byte == std::byte{0xAA}; }));
}

} // namespace
} // namespace pitsaw::laws
