#include "driver/law_loop.hpp"
#include "driver/laws.hpp"

#include <algorithm>

namespace pitsaw::laws {

auto stale_cancels_reach_nobody(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    auto const [other_left, other_right] = subject.connected_pair();
    std::vector<tracked*> old;
    for (std::size_t i = 0; i < 20; ++i) {
        old.push_back(&loop.make_receive(left, 1));
        loop.submit(*old.back());
        if (!loop.send_all(right, i, 1) || !loop.run_until_ended(*old.back()))
            return "law 1: a receive never ended";
        // A new one, which takes over whatever the driver kept of the old.
        auto& fresh = loop.make_receive(i % 2 == 0 ? other_left : left, 1);
        loop.submit(fresh);
        for (auto* const op : old) loop.cancel(*op);
        loop.run_for(law_loop::a_while);
        if (fresh.ended()) return "law 10: a stale cancel ended another operation";
        for (auto const* const op : old)
            if (op->finals != op->submitted) return "law 10: a stale cancel made an event";
        if (!loop.send_all(i % 2 == 0 ? other_right : right, 0, 1) || !loop.run_until_ended(fresh) ||
            fresh.result() != 1)
            return "law 10: after stale cancels an operation does not work any more";
    }
    return loop.finding();
}

TEST_P(driver_laws, stale_cancels_reach_nobody) { expect(stale_cancels_reach_nobody); } // law 10, CA12

auto stale_descriptors_reach_nobody(law_subject& subject) -> finding {
    law_loop loop(subject);
    std::vector<descriptor> stale;
    for (int i = 0; i < 10; ++i) {
        auto const [left, right] = subject.connected_pair();
        for (auto const mine : {left, right})
            if (std::ranges::find(stale, mine) != stale.end())
                return "law 10: a descriptor was given out twice";
        std::vector<tracked*> late;
        for (auto const old : stale) {
            late.push_back(&loop.make_receive(old, 4));
            late.push_back(&loop.make_send(old, pattern(100, 4)));
            late.push_back(&loop.make(op_code::close, old));
            loop.io().discard(old);
        }
        for (auto* const op : late) loop.start(*op);
        if (!loop.run_until([&] { return loop.in_flight() == 0; }))
            return "law 7: a stale descriptor: no final event";
        for (auto const* const op : late)
            if (to_error(op->result()) != std::errc::bad_file_descriptor)
                return text("law 10: a ", name(op->code), " on a stale descriptor ended with ", op->result());
        for (std::size_t at = 0; at < 3; ++at)
            if (!loop.send_all(right, at, 1) || loop.receive_all(left, at, 1) != 1)
                return "law 10: an operation on a stale descriptor reached the new tenant of its number";
        for (auto const old : {left, right}) {
            auto& close = loop.make(op_code::close, old);
            loop.start(close);
            if (!loop.run_until_ended(close) || close.result() != 0) return "law 12: a close failed";
            stale.push_back(old);
        }
    }
    return loop.finding();
}

TEST_P(driver_laws, stale_descriptors_reach_nobody) {
    expect(stale_descriptors_reach_nobody);
} // law 10, CA12

auto events_arrive_home(law_subject& subject, law_subject& other) -> finding {
    law_loop here(subject);
    law_loop there(other);
    auto const [left, right] = subject.connected_pair();
    auto const [far_left, far_right] = other.connected_pair();
    for (std::size_t i = 0; i < 50; ++i) {
        auto& receive = here.make_receive(left, 1);
        auto& far_receive = there.make_receive(far_left, 1);
        here.submit(receive);
        there.submit(far_receive);
        here.submit(here.make_send(right, pattern(i, 1)));
        there.submit(there.make_send(far_right, pattern(i + 7, 1)));
        auto const home = [](law_loop& loop) {
            loop.before_run = [&loop](std::span<event const> events) {
                for (auto const& e : events)
                    if (&static_cast<tracked&>(*e.op).loop != &loop)
                        loop.found("law 11: an event of another driver's operation");
            };
            return loop.run_until([&loop] { return loop.in_flight() == 0 || !loop.finding().empty(); });
        };
        if (!home(there)) return "law 11: an operation has no final event where it was submitted";
        if (!home(here)) return "law 11: an operation has no final event where it was submitted";
        if (!here.finding().empty() || !there.finding().empty()) break;
        if (receive.bytes[0] != pattern(i) || far_receive.bytes[0] != pattern(i + 7))
            return "law 11: bytes went astray";
    }
    return here.finding() + there.finding();
}

TEST_P(driver_laws, events_arrive_home) { // law 11
    auto const one = make();
    auto const other = make();
    EXPECT_EQ(events_arrive_home(*one, *other), "");
}

auto foreign_descriptors_reach_nobody(law_subject& subject, law_subject& other) -> finding {
    law_loop loop(subject);
    for (std::size_t i = 0; i < 3; ++i) {
        auto const [left, right] = subject.connected_pair();
        auto const [far_left, far_right] = other.connected_pair();
        tracked* const late[] = {&loop.make_receive(far_left, 4), &loop.make_send(far_left, pattern(100, 4)),
                                 &loop.make(op_code::close, far_right)};
        for (auto* const op : late) loop.start(*op);
        loop.io().discard(far_left);
        if (!loop.run_until([&] { return loop.in_flight() == 0; }))
            return "law 7: a descriptor of another driver: no final event";
        for (auto const* const op : late)
            if (to_error(op->result()) != std::errc::bad_file_descriptor)
                return text("law 11: a ", name(op->code), " on another's descriptor ended with ",
                            op->result());
        if (!loop.send_all(right, i, 1) || loop.receive_all(left, i, 1) != 1)
            return "law 11: an operation on another driver's descriptor reached one of this driver";
    }
    return loop.finding();
}

TEST_P(driver_laws, foreign_descriptors_reach_nobody) { // law 11
    auto const one = make();
    auto const other = make();
    EXPECT_EQ(foreign_descriptors_reach_nobody(*one, *other), "");
}

auto close_ends_every_other_operation_first(law_subject& subject) -> finding {
    for (int round = 0; round < 10; ++round) {
        law_loop loop(subject);
        auto const [left, right] = subject.connected_pair();
        std::vector<tracked*> others;
        for (int i = 0; i < 20; ++i) {
            loop.submit(*others.emplace_back(&loop.make_receive(left, 4)));
            loop.submit(*others.emplace_back(&loop.make_send(left, pattern(0, 64 << 10))));
        }
        if (round % 2 == 0) loop.turn(loop.io().now());
        auto& close = loop.make(op_code::close, left);
        loop.submit(close);
        loop.cancel(close); // does not reach a close
        auto& late = loop.make_receive(left, 4);
        loop.submit(late);
        if (!loop.run_until_ended(late)) return "law 12: an operation after close never ended";
        if (to_error(late.result()) != std::errc::bad_file_descriptor)
            return "law 12: an operation after close did something";
        while (!close.ended()) { // nobody gets the number meanwhile
            auto const [fresh, peer] = subject.connected_pair();
            if (fresh.index == left.index || peer.index == left.index)
                return "law 12: the number was reused before the close had ended";
            if (loop.turn(loop.io().now() + std::chrono::seconds(1)) == 0)
                return "law 12: a close never ended";
        }
        if (close.result() != 0) return text("law 12: close ended with ", to_error(close.result()).message());
        auto const order = loop.finals();
        auto const closed = std::ranges::find(order, &close);
        for (auto* const op : others)
            if (std::find(order.begin(), closed, op) == closed)
                return text("law 12: close ended before a ", name(op->code), " on its descriptor");
    }
    return {};
}

TEST_P(driver_laws, close_ends_every_other_operation_first) { // law 12, CA5
    expect(close_ends_every_other_operation_first);
}

auto close_lets_sent_bytes_arrive(law_subject& subject) -> finding {
    law_loop loop(subject);
    for (std::size_t i = 0; i < 20; ++i) {
        auto const [left, right] = subject.connected_pair();
        std::size_t sent = 0;
        while (sent < 200) { // as much as the stream takes without a reader
            auto& send = loop.make_send(right, pattern(sent, 50));
            loop.start(send);
            if (!loop.run_until([&] { return send.ended(); }, law_loop::a_while)) loop.cancel(send);
            if (!loop.run_until_ended(send)) return "law 3: a cancel was lost";
            if (send.result() <= 0) break;
            sent += static_cast<std::size_t>(send.result());
        }
        auto& close = loop.make(op_code::close, right);
        loop.start(close);
        if (i % 2 == 0 && !loop.run_until_ended(close)) return "law 12: a close never ended";
        auto const received = loop.receive_all(left, 0);
        if (!received || *received != sent)
            return text("law 12: of ", sent, " bytes sent before close some were lost");
        if (!loop.run_until_ended(close)) return "law 12: a close never ended";
        auto& end = loop.make_receive(left, 1);
        loop.start(end);
        if (!loop.run_until_ended(end) || end.result() != 0)
            return "law 12: the peer of a close sees no end of stream";
    }
    return loop.finding();
}

TEST_P(driver_laws, close_lets_sent_bytes_arrive) { expect(close_lets_sent_bytes_arrive); } // law 12, EP2

auto a_detached_object_is_attached_again(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto& io = loop.io();
    auto const [left, right] = subject.connected_pair();
    auto const before = subject.open_objects();
    auto& waits = loop.make_receive(left, 1);
    loop.submit(waits);
    if (auto const early = io.detach(left); early || early.error() != std::errc::device_or_resource_busy)
        return "law 11: an object left its driver with an operation in flight";
    loop.cancel(waits);
    if (!loop.run_until_ended(waits)) return "law 3: a cancel was lost";
    auto mine = left;
    for (std::size_t i = 0; i < 5; ++i) {
        if (!loop.send_all(right, i, 1)) return "law 11: a send to what will move failed";
        auto const handle = io.detach(mine);
        if (!handle) return "law 11: an object on which nothing is in flight was not let go";
        if (auto const twice = io.detach(mine); twice || twice.error() != std::errc::bad_file_descriptor)
            return "law 11: an object left twice";
        auto& late = loop.make_receive(mine, 1);
        loop.start(late);
        if (!loop.run_until_ended(late) || to_error(late.result()) != std::errc::bad_file_descriptor)
            return "law 11: a descriptor outlived the leaving of its object";
        auto const again = io.attach(*handle);
        if (!again) return "law 11: what left cannot be attached";
        if (*again == mine) return "law 10: a descriptor was given out twice";
        mine = *again;
        if (loop.receive_all(mine, i, 1) != 1) return "law 11: bytes were lost on the way";
    }
    if (subject.open_objects() != before) return "law 11: moving opened or closed something";
    io.discard(mine);
    if (!loop.run_until_seen([&] { return subject.open_objects() == before - 1; }))
        return "law 12: what had moved was not closed";
    return loop.finding();
}

TEST_P(driver_laws, a_detached_object_is_attached_again) {
    expect(a_detached_object_is_attached_again);
} // law 11

auto discard_closes(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const before = subject.open_objects();
    for (int i = 0; i < 20; ++i) {
        auto const [left, right] = subject.connected_pair();
        auto& receive = loop.make_receive(right, 4);
        loop.submit(receive);
        if (i % 2 == 0) loop.turn(loop.io().now());
        loop.io().discard(left);
        loop.io().discard(left); // stale by now
        if (!loop.run_until_ended(receive) || receive.result() != 0)
            return "law 12: the peer of a discarded descriptor";
        loop.io().discard(right);
    }
    if (!loop.run_until_seen([&] { return subject.open_objects() == before; }))
        return text("law 12: ", subject.open_objects(), " objects are open, ", before, " were before");
    return loop.finding();
}

TEST_P(driver_laws, discard_closes) { expect(discard_closes); } // law 12

auto reset_comes_after_the_bytes_before_it(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    if (!loop.send_all(right, 0, 1)) return "nothing can be sent";
    auto const received = loop.receive_all(left, 0, 1);
    auto& waiting = loop.make_receive(left, 4);
    loop.submit(waiting);
    loop.turn(loop.io().now());
    subject.reset(right);
    if (!received || *received != 1) return "law 12: a byte sent before a reset was lost";
    if (!loop.run_until_ended(waiting) || to_error(waiting.result()) != std::errc::connection_reset)
        return text("law 9: a receive on a reset connection ended with ", waiting.result());
    return loop.finding();
}

TEST_P(driver_laws, reset_comes_after_the_bytes_before_it) {
    expect(reset_comes_after_the_bytes_before_it);
} // EP2

auto receives_end_in_order(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    for (int i = 0; i < 60; ++i) loop.submit(loop.make_receive(left, 3));
    for (std::size_t at = 0; at < 60 * 3 && loop.in_flight() > 0; ++at)
        if (!loop.send_all(right, at, 1)) return "law 13: nothing can be sent";
    if (!loop.run_until([&] { return loop.in_flight() == 0; })) return "law 1: a final event is missing";
    std::size_t received = 0;
    tracked const* previous = nullptr;
    for (auto const* const op : loop.finals()) {
        if (op->code != op_code::receive) continue;
        if (previous != nullptr && op->serial < previous->serial) return "law 13: a receive overtook another";
        previous = op;
        auto const count = static_cast<std::size_t>(std::max(op->result(), 0));
        if (!follows_pattern(std::span(op->bytes).first(count), received))
            return "law 13: bytes out of order";
        received += count;
    }
    return loop.finding();
}

TEST_P(driver_laws, receives_end_in_order) { expect(receives_end_in_order); } // law 13

auto sends_and_shutdown_go_out_in_order(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    std::vector<tracked*> sends;
    for (std::size_t i = 0; i < 60; ++i)
        loop.submit(*sends.emplace_back(&loop.make_send(right, pattern(i * 40, 40))));
    loop.submit(loop.make(op_code::shutdown, right));
    std::vector<std::byte> got;
    for (;;) {
        auto& receive = loop.make_receive(left, 30);
        loop.start(receive);
        if (!loop.run_until_ended(receive) || receive.result() < 0) return "law 13: a receive failed";
        if (receive.result() == 0) break;
        got.insert(got.end(), receive.bytes.begin(), receive.bytes.begin() + receive.result());
    }
    if (!loop.run_until([&] { return loop.in_flight() == 0; })) return "law 1: a final event is missing";
    std::vector<std::byte>
        wanted; // each send may be short, none may come before one that was submitted earlier
    for (auto const* const op : sends) {
        if (op->result() <= 0) return text("law 13: a send before the shutdown ended with ", op->result());
        wanted.insert(wanted.end(), op->bytes.begin(), op->bytes.begin() + std::max(op->result(), 0));
    }
    if (got != wanted)
        return text("law 13: ", wanted.size(), " bytes sent in order, ", got.size(), " received otherwise");
    return loop.finding();
}

TEST_P(driver_laws, sends_and_shutdown_go_out_in_order) {
    expect(sends_and_shutdown_go_out_in_order);
} // law 13

auto attempt_does_not_overtake(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    for (std::size_t i = 0; i < 100; ++i) {
        auto& first = loop.make_receive(left, 1);
        auto& second = loop.make_receive(left, 1);
        if (!loop.send_all(right, 0, 1)) return "nothing can be sent";
        loop.submit(first);
        if (loop.attempt(second))
            return "law 13: an attempt overtook an operation that was submitted earlier";
        if (!loop.run_until_ended(first) || first.result() != 1) return "law 1: a receive never ended";
    }
    return loop.finding();
}

TEST_P(driver_laws, attempt_does_not_overtake) { expect(attempt_does_not_overtake); } // law 13

auto directions_do_not_wait_for_each_other(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    auto& blocked = loop.make_receive(left, 1);
    loop.submit(blocked);
    if (!loop.send_all(left, 0, 1)) return "law 13: a send waits for a receive of the same descriptor";
    if (blocked.ended()) return "law 1: a receive ended out of nothing";
    if (!loop.end_all()) return "law 3: a cancel was lost";
    return loop.finding();
}

TEST_P(driver_laws, directions_do_not_wait_for_each_other) {
    expect(directions_do_not_wait_for_each_other);
} // law 13

} // namespace pitsaw::laws
