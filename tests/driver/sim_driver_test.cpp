#include "driver/law_loop.hpp"
#include "driver/sim_subject.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

/// What the simulator promises beyond the laws: the same run for a seed, a watch on its users, its knobs.
namespace pitsaw::laws {
namespace {

using namespace std::chrono_literals;

/// One line for each event of a run in which everything happens, in terms that a second run can repeat.
auto run_of(sim_driver_options options) -> std::vector<std::string> {
    sim_subject subject(options);
    law_loop loop(subject, 5);
    auto const [left, right] = subject.connected_pair();
    auto const [listener, address] = subject.listen(4);
    auto random = random_source(99); // of the workload: the same for every seed of the driver
    std::vector<std::string> lines;
    std::vector<tracked*> all;
    loop.before_run = [&](std::span<event const> events) {
        for (auto const& e : events)
            lines.push_back(text(loop.io().now().time_since_epoch().count(), " ",
                                 static_cast<tracked&>(*e.op).serial, " ", name(e.op->code), " ", e.result,
                                 e.is_final() ? "" : " more"));
    };
    for (int i = 0; i < 200; ++i) {
        all.push_back(&loop.make_receive(left, 1 + random.below(50)));
        all.push_back(&loop.make_send(right, pattern(0, 1 + random.below(50))));
        all.push_back(&loop.make(op_code::accept, listener));
        if (i % 20 == 0) all.push_back(&loop.make_connect(subject.socket(), address));
        if (i % 50 == 0) all.back()->options = op_option::none;
    }
    for (auto* const op : all) {
        loop.start(*op);
        if (random.chance(0.3)) loop.turn(loop.io().now() + 3us);
        auto& other = *all[random.below(all.size())];
        if (random.chance(0.3) && !other.ended()) loop.cancel(other);
    }
    EXPECT_TRUE(loop.end_all());
    EXPECT_EQ(loop.finding(), "");
    return lines;
}

TEST(sim_driver, the_same_seed_gives_the_same_events) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        auto const once = run_of({.seed = seed});
        EXPECT_EQ(once, run_of({.seed = seed}));
        EXPECT_GT(once.size(), 300);
    }
}

TEST(sim_driver, another_seed_gives_other_events) { EXPECT_NE(run_of({.seed = 1}), run_of({.seed = 2})); }

TEST(sim_driver, calm_takes_no_liberties) {
    auto other_seed = sim_driver_options::calm();
    other_seed.seed = 77;
    EXPECT_EQ(run_of(sim_driver_options::calm()), run_of(other_seed));

    sim_subject subject(sim_driver_options::calm());
    law_loop loop(subject, 64);
    auto const [left, right] = subject.connected_pair();
    std::vector<tracked*> wanted;
    for (std::size_t i = 0; i < 10; ++i)
        loop.submit(*wanted.emplace_back(&loop.make_send(right, pattern(0, 100))));
    for (std::size_t i = 0; i < 10; ++i) loop.submit(*wanted.emplace_back(&loop.make(op_code::nop)));
    auto const start = loop.io().now();
    loop.turn(start);
    auto order = std::vector<tracked*>(loop.finals());
    std::ranges::sort(order, {}, &tracked::serial); // sends wait for each other, nops do not
    EXPECT_EQ(order, wanted);
    EXPECT_TRUE(
        std::ranges::all_of(order, [](auto* op) { return op->code == op_code::nop || op->result() == 100; }));
    EXPECT_EQ(loop.io().now(), start);
}

TEST(sim_driver, a_seed_takes_every_liberty) {
    bool late_cancel_lost = false;
    bool late_cancel_won = false;
    bool short_transfer = false;
    bool out_of_order = false;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        sim_subject subject({.seed = seed});
        law_loop loop(subject);
        auto const [left, right] = subject.connected_pair();
        auto& receive = loop.make_receive(left, 10);
        auto& send = loop.make_send(right, pattern(0, 10));
        auto& nop = loop.make(op_code::nop);
        for (auto* const op : {&receive, &send, &nop}) loop.submit(*op);
        loop.turn(loop.io().now() + 2us);
        loop.cancel(receive);
        ASSERT_TRUE(loop.run_until([&] { return loop.in_flight() == 0; }));
        (receive.was_cancelled() ? late_cancel_won : late_cancel_lost) = true;
        short_transfer |= send.result() < 10;
        out_of_order |= loop.finals().front() == &nop;
    }
    EXPECT_TRUE(late_cancel_lost && late_cancel_won && short_transfer && out_of_order);
}

TEST(sim_driver, time_passes_only_where_it_is_said) {
    sim_driver driver(sim_driver_options::calm());
    std::array<event, 4> out;
    auto const start = driver.now();
    EXPECT_EQ(driver.poll(out, start + 1h), 0); // costs no time of ours
    EXPECT_EQ(driver.now(), start + 1h);
    driver.advance(5ms);
    EXPECT_EQ(driver.now(), start + 1h + 5ms);
    driver.advance(-5ms); // time does not go back
    EXPECT_EQ(driver.poll(out, start), 0);
    EXPECT_EQ(driver.now(), start + 1h + 5ms);
}

TEST(sim_driver, books_balance_after_a_wild_run) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        sim_driver driver({.seed = seed, .stream_capacity = 100});
        auto const [left, right] = driver.make_stream_pair();
        std::array<event, 4> out;
        auto random = random_source(seed);
        for (int i = 0; i < 50; ++i) {
            std::array<std::byte, 64> bytes{};
            operation op(random.chance(0.6) ? op_code::send : op_code::receive,
                         random.chance(0.5) ? left : right);
            set_buffer(op, std::span(bytes).first(1 + random.below(64)));
            driver.submit(op);
            (void)driver.poll(out, driver.now() + 2us);
            driver.cancel(op);
            while (op.state != 0) (void)driver.poll(out, never);
            EXPECT_TRUE(driver.statistics().traffic.balances());
        }
        driver.discard(left);
        driver.discard(right);
        while (driver.drain(out, never).remaining != 0) {
        }
        auto const books = driver.statistics();
        EXPECT_TRUE(books.traffic.balances());
        EXPECT_EQ(books.traffic.readable, 0);
        EXPECT_EQ(books.submitted, 50);
        EXPECT_EQ(books.completed, 50);
        EXPECT_EQ(books.descriptors_open, 0);
        EXPECT_EQ(books.objects_open, 0);
    }
}

TEST(sim_driver, a_full_stream_blocks_its_sender_until_somebody_reads) {
    auto options = sim_driver_options::calm();
    options.stream_capacity = 8;
    sim_subject subject(options);
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    ASSERT_TRUE(loop.send_all(right, 0, 8));
    auto& blocked = loop.make_send(right, pattern(8, 8));
    EXPECT_FALSE(loop.attempt(blocked));
    loop.submit(blocked);
    loop.run_for(1s);
    EXPECT_FALSE(blocked.ended());
    EXPECT_EQ(loop.receive_all(left, 0, 3), 3);
    EXPECT_TRUE(loop.run_until_ended(blocked));
    EXPECT_EQ(blocked.result(), 3);
}

TEST(sim_driver, close_with_unread_bytes_resets_the_peer) {
    sim_subject subject(sim_driver_options::calm());
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    ASSERT_TRUE(loop.send_all(right, 0, 8));
    loop.io().discard(left);
    auto& receive = loop.make_receive(right, 1);
    loop.submit(receive);
    ASSERT_TRUE(loop.run_until_ended(receive));
    EXPECT_EQ(to_error(receive.result()), std::errc::connection_reset);
}

TEST(sim_driver, bytes_before_a_reset_come_before_it) { // EP2
    sim_subject subject(sim_driver_options::calm());
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    ASSERT_TRUE(loop.send_all(right, 0, 8));
    subject.reset(right);
    auto const receive_next = [&] {
        auto& receive = loop.make_receive(left, 8);
        loop.submit(receive);
        EXPECT_TRUE(loop.run_until_ended(receive));
        return receive.result();
    };
    EXPECT_EQ(receive_next(), 8);
    EXPECT_EQ(to_error(receive_next()), std::errc::connection_reset);
    EXPECT_EQ(receive_next(), 0); // as on Linux, one call hears of it
}

TEST(sim_driver, late_means_that_it_took_place_before_it_was_reported) {
    auto options = sim_driver_options::calm();
    options.late_percent = 100;
    options.late_max = 1ms;
    sim_driver driver(options);
    auto const [left, right] = driver.make_stream_pair();
    std::array<std::byte, 4> const bytes{};
    operation send(op_code::send, right);
    set_source(send, bytes);
    driver.submit(send);
    std::array<event, 4> out;
    EXPECT_EQ(driver.poll(out, driver.now()), 0);
    EXPECT_EQ(driver.readable_bytes(left), 4);
    driver.cancel(send); // too late to choose
    ASSERT_EQ(driver.poll(out, driver.now() + 1s), 1);
    EXPECT_EQ(to_result(out[0]), 4);
    EXPECT_GT(driver.now(), time_point{});
    EXPECT_LE(driver.now(), time_point{1ms});
}

TEST(sim_driver, a_listener_that_closes_leaves_no_half_of_a_connection) {
    sim_subject subject(sim_driver_options::calm());
    sim_driver& driver = subject.simulator();
    law_loop loop(subject);
    auto const [listener, address] = subject.listen(4);
    auto& connect = loop.make_connect(subject.socket(), address);
    loop.start(connect);
    ASSERT_TRUE(loop.run_until_ended(connect));
    ASSERT_TRUE(loop.send_all(connect.target, 0, 5)); // to somebody who is never accepted
    loop.io().discard(listener);
    loop.io().discard(connect.target);
    loop.run_for(1ms);
    EXPECT_EQ(driver.statistics().objects_open, 0);
    EXPECT_EQ(driver.statistics().traffic.discarded, 5);
    EXPECT_TRUE(driver.statistics().traffic.balances());
}

TEST(sim_driver, a_full_backlog_keeps_connects_waiting) {
    sim_subject subject(sim_driver_options::calm());
    law_loop loop(subject);
    auto const [listener, address] = subject.listen(1);
    auto& first = loop.make_connect(subject.socket(), address);
    auto& second = loop.make_connect(subject.socket(), address);
    loop.submit(first);
    loop.submit(second);
    loop.run_for(1s);
    EXPECT_EQ(loop.finals(), std::vector{&first});
    auto& accept = loop.make(op_code::accept, listener);
    loop.submit(accept);
    EXPECT_TRUE(loop.run_until_ended(accept) && loop.run_until_ended(second));
    EXPECT_EQ(second.result(), 0);
    loop.io().discard(listener); // and the one that nobody took is reset
    auto& orphan = loop.make_receive(second.target, 1);
    loop.submit(orphan);
    EXPECT_TRUE(loop.run_until_ended(orphan));
    EXPECT_EQ(to_error(orphan.result()), std::errc::connection_reset);
}

TEST(sim_driver, a_handle_of_nobody_cannot_be_attached) {
    sim_driver driver;
    EXPECT_EQ(driver.attach(native_handle(7)).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ(driver.attach(native_handle::none).error(), std::errc::bad_file_descriptor);
}

TEST(sim_driver, says_what_it_is) {
    EXPECT_STREQ(sim_driver().features().name, "sim");
    EXPECT_TRUE(sim_driver().features().virtual_time);
}

struct deciding final : sim_observer {
    sim_driver* driver = nullptr;
    duration takes{};
    int stuck_seen = 0;

    auto cancel_takes(operation const&) noexcept -> std::optional<duration> override { return takes; }
    void stuck() noexcept override {
        ++stuck_seen;
        driver->wake();
    }
};

TEST(sim_driver, an_observer_decides_whether_stop_or_completion_wins) {
    for (auto const takes : {0us, 1us}) {
        deciding observer;
        observer.takes = takes;
        sim_driver driver(sim_driver_options::calm(), &observer);
        auto const [left, right] = driver.make_stream_pair();
        std::array<std::byte, 4> bytes{};
        operation send(op_code::send, right);
        set_source(send, bytes);
        event done;
        ASSERT_TRUE(driver.attempt(send, done)); // so that the receive can complete at once
        operation receive(op_code::receive, left);
        set_buffer(receive, bytes);
        driver.submit(receive);
        driver.cancel(receive);
        std::array<event, 4> out;
        ASSERT_EQ(driver.poll(out, never), 1);
        EXPECT_EQ(driver.readable_bytes(left), takes == 0us ? 4 : 0);
        EXPECT_EQ(to_result(out[0]).has_value(), takes != 0us);
    }
}

TEST(sim_driver, an_observer_learns_that_nothing_can_happen) {
    deciding observer;
    auto options = sim_driver_options::calm();
    options.deadlock_is_error = true;
    sim_driver driver(options, &observer);
    observer.driver = &driver;
    EXPECT_TRUE(driver.is_stuck());
    std::array<event, 4> out;
    EXPECT_EQ(driver.poll(out, never), 0);
    EXPECT_EQ(observer.stuck_seen, 1);
}

class sim_driver_death : public ::testing::Test {
  protected:
    sim_driver_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

    /// Submits, lets `act` misbehave, and polls until the event would come.
    template <class Act> static void with_loan(op_code code, Act act) {
        sim_driver driver(sim_driver_options::calm());
        auto const [left, right] = driver.make_stream_pair();
        std::array<std::byte, 32> bytes{};
        operation op(code, left);
        set_buffer(op, bytes);
        driver.submit(op);
        act(op, bytes);
        driver.cancel(op);
        std::array<event, 4> out;
        while (op.state != 0) (void)driver.poll(out, never);
    }
};

TEST_F(sim_driver_death, writing_to_a_buffer_on_loan) { // law 2
    EXPECT_DEATH(with_loan(op_code::receive, [](auto&, auto& bytes) { bytes[31] = std::byte{1}; }),
                 "loan.*wrote to the buffer of a receive on descriptor 0.1");
    EXPECT_DEATH(with_loan(op_code::receive, [](auto&, auto& bytes) { bytes[0] = std::byte{1}; }), "loan");
}

TEST_F(sim_driver_death, changing_bytes_that_are_being_sent) { // law 2
    EXPECT_DEATH(with_loan(op_code::send, [](auto&, auto& bytes) { bytes[7] = std::byte{1}; }),
                 "loan.*changed the bytes of a send on descriptor 0.1");
}

TEST_F(sim_driver_death, changing_an_operation_in_flight) { // law 2
    EXPECT_DEATH(with_loan(op_code::receive, [](auto& op, auto&) { op.length = 4; }),
                 "loan.*changed a field of a receive");
    EXPECT_DEATH(with_loan(op_code::receive,
                           [](auto& op, auto&) { op.on_event = [](operation&, event const&) noexcept {}; }),
                 "loan.*changed a field of a receive");
}

TEST_F(sim_driver_death, submitting_an_operation_twice) { // law 2
    EXPECT_DEATH(
        {
            sim_driver driver;
            operation op;
            driver.submit(op);
            driver.submit(op);
        },
        "in flight was submitted again");
}

TEST_F(sim_driver_death, a_call_from_another_thread) { // law 11
    EXPECT_DEATH(
        {
            sim_driver driver;
            operation op;
            driver.submit(op);
            std::thread([&] { driver.cancel(op); }).join();
        },
        "law 11 .home.: only wake");
}

TEST_F(sim_driver_death, an_operation_of_another_driver) { // law 11
    EXPECT_DEATH(
        {
            sim_driver one;
            sim_driver other;
            operation op;
            one.submit(op);
            other.cancel(op);
        },
        "law 11 .home.: the operation was submitted to another driver");
}

TEST_F(sim_driver_death, destroying_a_driver_with_operations_in_flight) { // law 15
    auto const destroy = [] {
        operation op;
        auto driver = std::make_unique<sim_driver>();
        auto const [left, right] = driver->make_stream_pair();
        op.code = op_code::accept;
        op.target = right;
        driver->submit(op);
        driver.reset();
    };
    EXPECT_DEATH(destroy(), "law 15 .teardown.: 1 in flight, the oldest: accept on descriptor 1");
}

TEST_F(sim_driver_death, a_deadlock_where_the_options_call_it_an_error) {
    auto const wait = [] {
        auto options = sim_driver_options::calm();
        options.deadlock_is_error = true;
        sim_driver driver(options);
        std::array<event, 4> out;
        (void)driver.poll(out, never);
    };
    EXPECT_DEATH(wait(), "deadlock");
}

} // namespace
} // namespace pitsaw::laws
