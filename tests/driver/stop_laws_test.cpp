#include "driver/law_loop.hpp"
#include "driver/laws.hpp"

#include <algorithm>

namespace pitsaw::laws {
namespace {

constexpr auto moment = std::chrono::microseconds(5);

/// Some turns of the loop, so that a cancel meets operations at every stage of their lives.
void let_pass(law_loop& loop, random_source& random) {
    for (auto turns = random.below(4); turns > 0; --turns)
        loop.turn(loop.io().now() + random.below(3) * moment);
}

} // namespace

auto nothing_writes_after_the_final_event(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    auto random = random_source(2);
    std::vector<tracked*> receives;
    std::size_t sent = 0;
    for (int i = 0; i < 200; ++i) {
        auto& receive = loop.make_receive(left, 64);
        loop.submit(receive);
        let_pass(loop, random);
        auto& send = loop.make_send(right, pattern(sent, 16));
        loop.submit(send);
        let_pass(loop, random);
        loop.cancel(receive);
        if (!loop.run_until_ended(receive)) return "law 3: a cancel was lost";
        std::ranges::fill(receive.bytes, std::byte{0xAA});
        receives.push_back(&receive);
        loop.cancel(send);
        if (!loop.run_until_ended(send)) return "law 3: a cancel was lost";
        sent += static_cast<std::size_t>(std::max(send.result(), 0));
    }
    loop.run_for(law_loop::a_while);
    for (auto const* const receive : receives)
        if (std::ranges::any_of(receive->bytes, [](auto byte) { return byte != std::byte{0xAA}; }))
            return "law 2: a buffer was written after the final event of its receive";
    return loop.finding();
}

TEST_P(driver_laws, nothing_writes_after_the_final_event) {
    expect(nothing_writes_after_the_final_event);
} // law 2, CA3

auto cancel_is_never_lost(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    auto const [listener, address] = subject.listen(4);
    std::vector<tracked*> all;
    for (int i = 0; i < 300; ++i) {
        all.push_back(&loop.make_receive(left, 8));
        if (i % 10 == 0) all.push_back(&loop.make(op_code::accept, listener));
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        loop.submit(*all[i]);
        if (i % 3 == 0) loop.cancel(*all[i]); // before any poll
    }
    loop.turn(loop.io().now());
    for (auto* const op : all)
        for (int i = 0; i < 3; ++i) loop.cancel(*op);
    if (!loop.run_until([&] { return loop.in_flight() == 0; }))
        return text("law 3: ", loop.in_flight(), " cancelled operations never ended");
    for (auto const* const op : all)
        if (!op->was_cancelled())
            return text("law 3: a ", name(op->code), " without a cause ended with ", op->result());
    return loop.finding();
}

TEST_P(driver_laws, cancel_is_never_lost) { expect(cancel_is_never_lost); } // law 3, CA3

auto cancel_in_a_queue_leaves_the_others(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    std::vector<tracked*> receives;
    for (int i = 0; i < 9; ++i) loop.submit(*receives.emplace_back(&loop.make_receive(left, 1)));
    for (std::size_t const i : {0, 4, 8}) loop.cancel(*receives[i]); // first, middle, last
    if (!loop.run_until([&] { return loop.in_flight() == 6; })) return "law 3: a cancel was lost";
    if (!loop.send_all(right, 0, 6)) return "law 13: nothing can be sent";
    if (!loop.run_until([&] { return loop.in_flight() == 0; }))
        return text("law 13: ", loop.in_flight(), " receives are stuck behind cancelled ones");
    std::size_t at = 0;
    for (std::size_t const i : {1, 2, 3, 5, 6, 7})
        if (receives[i]->result() != 1 || receives[i]->bytes[0] != pattern(at++))
            return text("law 3: receive ", i, " was not cancelled and ended with ", receives[i]->result());
    return loop.finding();
}

TEST_P(driver_laws, cancel_in_a_queue_leaves_the_others) {
    expect(cancel_in_a_queue_leaves_the_others);
} // laws 3, 13

auto cancel_after_the_final_event_is_harmless(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    loop.before_run = [&](std::span<event const> events) {
        for (auto const& e : events)
            for (int i = 0; i < 2; ++i)
                if (e.is_final()) loop.cancel(static_cast<tracked&>(*e.op));
    };
    auto& receive = loop.make_receive(left, 1); // the same object, again and again
    for (std::size_t i = 0; i < 100; ++i) {
        loop.submit(receive);
        auto& send = loop.make_send(right, pattern(i, 1));
        loop.submit(send);
        if (!loop.run_until([&] { return loop.in_flight() == 0; })) return "law 1: a final event is missing";
        if (send.result() != 1 || receive.result() != 1 || receive.bytes[0] != pattern(i))
            return text("law 3: cancelled in the span, a receive ended with ", receive.result(),
                        " and a send with ", send.result());
        loop.cancel(receive);
        loop.cancel(send);
    }
    return loop.finding();
}

TEST_P(driver_laws, cancel_after_the_final_event_is_harmless) { // law 3
    expect(cancel_after_the_final_event_is_harmless);
}

auto cancelled_receives_lose_no_bytes(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    auto random = random_source(3);
    std::size_t sent = 0;
    std::size_t received = 0;
    std::size_t cancelled = 0;
    for (int i = 0; i < 400; ++i) {
        auto& receive = loop.make_receive(left, 1 + random.below(24));
        auto& send = loop.make_send(right, pattern(sent, 1 + random.below(24)));
        loop.submit(receive);
        let_pass(loop, random);
        if (random.chance(0.8)) loop.submit(send);
        let_pass(loop, random);
        loop.cancel(receive);
        if (!loop.run_until_ended(receive)) return "law 3: a cancel was lost";
        if (receive.was_cancelled()) ++cancelled;
        if (receive.result() == 0) return "law 3: a cancelled receive reports the end of an open stream";
        auto const count = static_cast<std::size_t>(std::max(receive.result(), 0));
        if (!follows_pattern(std::span(receive.bytes).first(count), received))
            return text("law 3: bytes were lost before position ", received, " of the stream");
        received += count;
        if (!send.ended()) loop.cancel(send);
        if (!loop.run_until_ended(send)) return "law 3: a cancel was lost";
        sent += static_cast<std::size_t>(std::max(send.result(), 0));
    }
    auto& last = loop.make(op_code::shutdown, right);
    loop.start(last);
    auto const rest = loop.receive_all(left, received);
    if (!rest) return "law 3: what was left in the stream is not what was sent";
    if (received + *rest != sent)
        return text("law 3: ", sent, " bytes sent, ", received, " reported, ", *rest, " left");
    if (cancelled == 0) return "the check is void: no receive was cancelled";
    return loop.finding();
}

TEST_P(driver_laws, cancelled_receives_lose_no_bytes) {
    expect(cancelled_receives_lose_no_bytes);
} // law 3, CA3

auto cancelled_sends_report_what_was_sent(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    auto random = random_source(4);
    constexpr std::size_t total = 24 << 10;
    std::size_t sent = 0;
    std::size_t received = 0;
    while (received < total && loop.finding().empty()) {
        auto& send =
            loop.make_send(right, pattern(sent, std::min<std::size_t>(total - sent, 1 + random.below(600))));
        auto& receive = loop.make_receive(left, 1 + random.below(200));
        if (sent < total) loop.submit(send);
        let_pass(loop, random);
        if (random.chance(0.5)) loop.submit(receive);
        let_pass(loop, random);
        loop.cancel(send);
        loop.cancel(receive);
        if (!loop.run_until([&] { return loop.in_flight() == 0; })) return "law 3: a cancel was lost";
        sent += static_cast<std::size_t>(std::max(send.result(), 0)); // the next one goes on from here
        auto const count = static_cast<std::size_t>(std::max(receive.result(), 0));
        if (!follows_pattern(std::span(receive.bytes).first(count), received))
            return text("law 3: the stream breaks after byte ", received, ": a cancelled send misreported");
        received += count;
    }
    if (received != sent) return text("law 3: ", sent, " bytes reported as sent, ", received, " received");
    return loop.finding();
}

TEST_P(driver_laws, cancelled_sends_report_what_was_sent) { // law 3, CA17
    expect(cancelled_sends_report_what_was_sent);
}

auto cancelled_accepts_lose_no_connection(law_subject& subject) -> finding {
    auto const objects_before = subject.open_objects();
    law_loop loop(subject);
    auto const [listener, address] = subject.listen(8);
    auto random = random_source(5);
    std::size_t accepted = 0;
    std::vector<descriptor> clients;
    auto const take = [&](std::int32_t handle) {
        ++accepted;
        auto const made = loop.io().attach(native_handle(handle));
        if (!made) return loop.found("law 4: an accepted handle cannot be attached");
        loop.io().discard(*made);
    };
    for (int i = 0; i < 100; ++i) {
        auto& accepting = loop.make(op_code::accept, listener);
        if (i % 2 == 1) accepting.options = op_option::multishot;
        auto& connecting = loop.make_connect(clients.emplace_back(subject.socket()), address);
        loop.submit(accepting);
        let_pass(loop, random);
        loop.submit(connecting);
        let_pass(loop, random);
        loop.cancel(accepting);
        if (!loop.run_until_ended(accepting)) return "law 3: a cancel was lost";
        for (auto const result : accepting.results)
            if (result >= 0) take(result);
        for (auto& next = loop.make(op_code::accept, listener);
             !connecting.ended();) { // the backlog may be full
            loop.submit(next);
            if (!loop.run_until([&] { return next.ended() || connecting.ended(); }))
                return "law 1: connect never ends";
            loop.cancel(next);
            if (!loop.run_until_ended(next)) return "law 3: a cancel was lost";
            if (next.result() >= 0) take(next.result());
        }
        if (connecting.result() != 0)
            return text("connect failed: ", to_error(connecting.result()).message());
    }
    // Each client is served by now, or refused by the end of its listener: no connection is open to nobody.
    loop.io().discard(listener);
    for (auto const client : clients) {
        auto& receive = loop.make_receive(client, 1);
        loop.submit(receive);
        if (!loop.run_until_ended(receive))
            return text("law 4: a connection is open to nobody; ", accepted, " accepted");
        if (receive.result() > 0) return "law 4: bytes out of nothing";
        loop.io().discard(client);
    }
    if (!loop.run_until_seen([&] { return subject.open_objects() == objects_before; }))
        return text("law 4: ", subject.open_objects(), " objects are open, ", objects_before, " were before");
    return loop.finding();
}

TEST_P(driver_laws, cancelled_accepts_lose_no_connection) {
    expect(cancelled_accepts_lose_no_connection);
} // law 4, CA1

} // namespace pitsaw::laws
