#include "driver/epoll/driver.hpp"
#include "driver/io_uring/driver.hpp"
#include "driver/law_loop.hpp"
#include "driver/poor_process.hpp"
#include "driver/posix_subject.hpp"

#include <gtest/gtest.h>

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <set>
#include <thread>

/// What went wrong in other users of io_uring. Where it could in epoll as well, both are tried.
namespace pitsaw::laws {
namespace {

auto make_subject(io_uring_options options = {}) -> std::unique_ptr<posix_subject> {
    return std::make_unique<posix_subject>(io_uring_driver::make(options).value(), posix_options{});
}

/// Many streams into one small pool, whose consumers hold each buffer until no more comes.
struct crowd {
    static constexpr std::size_t streams = 16;
    static constexpr std::size_t buffers = 8;
    static constexpr std::uint32_t buffer_bytes = 16 << 10;

    struct stream {
        descriptor here, there;
        tracked* receive = nullptr;
        tracked* send = nullptr;
        std::size_t sent = 0, received = 0;
    };

    explicit crowd(posix_subject& subject) : loop(subject, 64), pool(*loop.io().lend(memory, buffer_bytes)) {
        for (auto& each : all) std::tie(each.here, each.there) = subject.connected_pair();
        loop.before_run = [this](std::span<event const> events) {
            for (auto const& e : events) {
                if (!has(e.flags, event_flag::pooled)) continue;
                auto const to =
                    std::ranges::find(all, e.op, [](stream const& s) -> operation* { return s.receive; });
                auto const bytes = std::span(memory).subspan(std::size_t{e.buffer} * buffer_bytes,
                                                             static_cast<std::size_t>(e.result));
                if (!follows_pattern(bytes, to->received)) loop.found("bytes were lost, doubled or moved");
                if (!held.insert(e.buffer).second) loop.found("a buffer is in two events at a time");
                to->received += bytes.size();
            }
        };
    }
    void arm(stream& on) {
        if (on.receive != nullptr && !on.receive->ended()) return;
        on.receive = &loop.make(op_code::receive, on.here);
        on.receive->options = op_option::pooled | op_option::multishot;
        on.receive->pool = pool;
        loop.submit(*on.receive);
        ++receives;
    }
    void send(stream& on, std::size_t total) {
        if (on.send != nullptr && !on.send->ended()) return;
        if (on.send != nullptr)
            on.sent += static_cast<std::size_t>(std::exchange(on.send, nullptr)->result());
        if (on.sent == total) return;
        on.send =
            &loop.make_send(on.there, pattern(on.sent, std::min<std::size_t>(total - on.sent, 64 << 10)));
        loop.submit(*on.send);
    }
    [[nodiscard]] auto received() const -> std::size_t {
        std::size_t sum = 0;
        for (auto const& each : all) sum += each.received;
        return sum;
    }

    std::vector<std::byte> memory = std::vector<std::byte>(buffers * buffer_bytes);
    law_loop loop;
    std::uint16_t pool;
    std::array<stream, streams> all;
    std::set<std::uint16_t> held;
    std::size_t receives = 0;
};

TEST(io_uring_cases, a_crowd_at_a_small_pool_gets_every_byte_and_nobody_spins) { // IU1
    auto const subject = make_subject();
    auto const& driver = dynamic_cast<io_uring_driver&>(subject->io());
    crowd of(*subject);
    constexpr std::size_t total = 1 << 20;
    auto const enters_before = driver.enters();
    std::size_t rounds = 0;
    while (of.received() != of.all.size() * total && of.loop.finding().empty() && ++rounds < 20'000) {
        for (auto& each : of.all) of.arm(each); // only here, where buffers have come back
        for (auto& each : of.all) of.send(each, total);
        auto const before = of.received();
        // Held until nothing more comes: the pool is empty, or everybody waits.
        while (of.loop.turn(of.loop.io().now() + std::chrono::milliseconds(1)) != 0) {
        }
        EXPECT_NE(of.received() + of.held.size(), before) << "nobody got on";
        for (auto const each : std::exchange(of.held, {})) of.loop.io().give_back(of.pool, each);
    }
    EXPECT_EQ(of.loop.finding(), "");
    for (auto const& each : of.all) EXPECT_EQ(each.received, total);
    // A round lets each stream's receive and send end once and fills each buffer once: so many completions,
    // each of which may have an enter to itself, the looks at an empty pool included.
    EXPECT_LT(driver.enters() - enters_before, rounds * (of.streams * 4 + of.buffers));
    EXPECT_LE(of.receives, (rounds + 1) * of.streams);
    ASSERT_TRUE(of.loop.end_all());
}

TEST(io_uring_cases, an_empty_pool_costs_a_waiting_loop_nothing) { // IU1
    auto const subject = make_subject();
    auto const& driver = dynamic_cast<io_uring_driver&>(subject->io());
    crowd of(*subject);
    for (auto& each : of.all) of.arm(each);
    for (auto& each : of.all) of.send(each, 256 << 10);
    of.loop.run_for(law_loop::a_while); // takes all the buffers; what waits then is nobody's to hurry
    EXPECT_EQ(of.held.size(), of.buffers);
    auto const before = driver.enters();
    of.loop.run_for(law_loop::a_while);
    EXPECT_LE(driver.enters() - before, 2U);
    EXPECT_TRUE(of.loop.end_all());
    for (auto const each : std::exchange(of.held, {})) of.loop.io().give_back(of.pool, each);
}

TEST(io_uring_cases, every_buffer_comes_back_and_none_twice) { // IU12
    auto const subject = make_subject();
    crowd of(*subject);
    auto random = random_source(12);
    constexpr std::size_t total = 200'000;
    while (of.received() != of.all.size() * total && of.loop.finding().empty()) {
        for (auto& each : of.all) {
            of.arm(each);
            of.send(each, total);
            if (random.chance(0.05)) of.loop.cancel(*each.receive);
        }
        of.loop.turn(of.loop.io().now() + std::chrono::microseconds(50));
        while (!of.held.empty() && random.chance(0.8)) {
            of.loop.io().give_back(of.pool, *of.held.begin());
            of.held.erase(of.held.begin());
        }
    }
    EXPECT_EQ(of.loop.finding(), "");
    ASSERT_TRUE(of.loop.end_all());
    for (auto const each : std::exchange(of.held, {})) of.loop.io().give_back(of.pool, each);
    // All are there: as many as there are can be held at a time, and no two are the same.
    for (auto& each : of.all) each.sent = each.received = 0;
    for (std::size_t i = 0; i < of.buffers; ++i) {
        of.arm(of.all[i]);
        of.send(of.all[i], 1);
    }
    ASSERT_TRUE(of.loop.run_until([&] { return of.held.size() == of.buffers; }));
    EXPECT_TRUE(of.loop.end_all());
    EXPECT_EQ(of.loop.finding(), "");
}

TEST(io_uring_cases, ten_thousand_completions_at_once_in_a_queue_of_16_are_all_seen) { // IU3
    auto const subject = make_subject({.submissions = 4, .completions = 16});
    law_loop loop(*subject, 8);
    auto const [left, right] = subject->connected_pair();
    for (int i = 0; i < 10'000; ++i) loop.submit(loop.make(op_code::watch, left));
    loop.run_for(law_loop::a_while);
    ASSERT_EQ(loop.in_flight(), 10'000U);
    loop.submit(loop.make(op_code::shutdown, right));
    ASSERT_TRUE(loop.run_until([&] { return loop.in_flight() == 0; })) << loop.in_flight();
    EXPECT_EQ(loop.finding(), "");
}

TEST(io_uring_cases, a_ring_tells_of_completions_that_the_kernel_holds_back) { // IU3
    io_uring ring;
    ASSERT_EQ(ring.open(64, 64), 0);
    ASSERT_EQ(ring.enable(), 0);
    auto const fd = eventfd(0, EFD_CLOEXEC);
    constexpr int all = 192;
    for (int i = 0; i < all; ++i) {
        if (ring.free_entries() == 0) {
            ASSERT_EQ(ring.enter(false, {}), 0);
        }
        auto& entry = *ring.next_entry();
        entry.opcode = IORING_OP_POLL_ADD;
        entry.fd = fd;
        entry.poll32_events = POLLIN;
    }
    ASSERT_EQ(ring.enter(false, {}), 0);
    EXPECT_FALSE(ring.has_deferred());
    std::uint64_t const one = 1;
    ASSERT_EQ(::write(fd, &one, sizeof one), 8);
    EXPECT_TRUE(ring.has_deferred()); // the thread's own work waits for its next enter
    int seen = 0;
    for (int turns = 0; seen < all && turns < 100; ++turns) {
        if (ring.has_deferred()) {
            ASSERT_EQ(ring.enter(false, {}), 0);
        }
        for (; ring.completion() != nullptr; ++seen) ring.pop_completion();
    }
    EXPECT_EQ(seen, all);
    EXPECT_FALSE(ring.has_deferred());
    ::close(fd);
}

TEST(io_uring_cases, rings_come_and_go_within_64_KiB_of_locked_memory) { // IU8
    auto const make_sixteen = [] {
        std::array<event, 4> out;
        for (int i = 0; i < 16; ++i) { // two fit at a time
            // The kernel gives a ring's memory back some time after its close; see io_uring_options. What
            // fails meanwhile queues for that too, so who asks every millisecond waits for his own failures.
            auto made = io_uring_driver::make();
            for (std::chrono::milliseconds wait(20);
                 !made && made.error() == std::errc::not_enough_memory && wait.count() < 30'000; wait *= 2) {
                std::this_thread::sleep_for(wait);
                made = io_uring_driver::make();
            }
            if (!made) return made.error().value();
            operation nop(op_code::nop);
            (*made)->submit(nop);
            if ((*made)->poll(out, never) != 1) return 201;
        }
        return 0;
    };
    EXPECT_EQ(status_of_a_poor_process(RLIMIT_MEMLOCK, 64 << 10, make_sixteen), 0);
}

TEST(io_uring_cases, a_worker_that_ends_before_its_operations_is_a_failed_check) { // IU10
    auto const poll_elsewhere = [] {
        auto const subject = make_subject();
        auto const [left, right] = subject->connected_pair();
        operation receive(op_code::receive, left);
        std::array<event, 1> out;
        std::thread([&] {
            subject->io().submit(receive);
            (void)subject->io().poll(out, subject->io().now());
        }).join();
        (void)subject->io().poll(out, subject->io().now() + std::chrono::milliseconds(1));
    };
    // Linux ends what a thread had submitted when the thread ends; law 11 is what keeps that away.
    EXPECT_DEATH(poll_elsewhere(), "law 11 .home.: only wake");
}

struct real_driver {
    char const* name;
    std::unique_ptr<driver> (*make)();
};
class real_drivers : public ::testing::TestWithParam<real_driver> {};

/// In calls and context switches, not in time.
void expect_idleness(std::unique_ptr<driver> made) {
    posix_subject subject(std::move(made), {});
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    loop.submit(loop.make_receive(left, 8));
    loop.submit(loop.make(op_code::watch, left));
    loop.turn(loop.io().now());
    auto* const ring = dynamic_cast<io_uring_driver*>(&subject.io());
    auto const enters = ring == nullptr ? 0 : ring->enters();
    rusage before = {};
    rusage after = {};
    EXPECT_EQ(getrusage(RUSAGE_THREAD, &before), 0);
    loop.run_for(std::chrono::milliseconds(200));
    EXPECT_EQ(getrusage(RUSAGE_THREAD, &after), 0);
    EXPECT_LE(after.ru_nvcsw - before.ru_nvcsw, 5) << "it woke although nothing happened";
    EXPECT_LE(ring == nullptr ? 0 : ring->enters() - enters, 2U);
    for (auto const& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::getline(std::ifstream(thread.path() / "comm"), name);
        EXPECT_FALSE(name.starts_with("iou-sqp")) << "a thread of the kernel polls";
    }
    EXPECT_TRUE(loop.end_all());
}

/// On a thread of its own: one that has destroyed rings, as the tests before this one did, was seen to be
/// woken inside a single enter.
TEST_P(real_drivers, cost_nothing_while_they_are_idle) { // IU11
    std::thread([] { expect_idleness(GetParam().make()); }).join();
}

TEST_P(real_drivers, a_send_of_more_than_fits_is_short_and_the_rest_goes_on) { // IU5
    posix_subject subject(GetParam().make(), {});
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    constexpr std::size_t total = 12 << 20; // more than the kernel keeps for both ends
    std::size_t sent = 0;
    std::size_t received = 0;
    std::size_t sends = 0;
    tracked* send = nullptr;
    tracked* receive = nullptr;
    while (received < total && loop.finding().empty()) {
        if (send == nullptr && sent < total) {
            loop.submit(*(send = &loop.make_send(right, pattern(sent, total - sent))));
            ++sends;
        }
        if (receive == nullptr) loop.submit(*(receive = &loop.make_receive(left, 64 << 10)));
        ASSERT_TRUE(loop.run_until([&] { return (send != nullptr && send->ended()) || receive->ended(); }));
        if (send != nullptr && send->ended()) {
            ASSERT_GT(send->result(), 0);
            sent += static_cast<std::size_t>(std::exchange(send, nullptr)->result());
        }
        if (!receive->ended()) continue;
        ASSERT_GT(receive->result(), 0);
        auto const count = static_cast<std::size_t>(receive->result());
        ASSERT_TRUE(follows_pattern(std::span(receive->bytes).first(count), received));
        received += count;
        receive = nullptr;
    }
    EXPECT_EQ(received, total);
    EXPECT_GT(sends, 1U);
    // A peer that closes after less than was asked for: what there was, then the end.
    ASSERT_TRUE(loop.send_all(right, 0, 10));
    loop.io().discard(right);
    EXPECT_EQ(loop.receive_all(left, 0, 100), 10U);
}

INSTANTIATE_TEST_SUITE_P(
    each, real_drivers,
    ::testing::Values(
        real_driver{"io_uring", []() -> std::unique_ptr<driver> { return io_uring_driver::make().value(); }},
        real_driver{"epoll", []() -> std::unique_ptr<driver> { return epoll_driver::make().value(); }}),
    [](auto const& which) { return which.param.name; });

} // namespace
} // namespace pitsaw::laws
