#include "driver/law_loop.hpp"
#include "driver/laws.hpp"

namespace pitsaw::laws {
namespace {

auto make_watch(law_loop& loop, descriptor on, op_option options = op_option::none) -> tracked& {
    auto& op = loop.make(op_code::watch, on);
    op.options = options;
    return op;
}

auto shut_down(law_loop& loop, descriptor which) -> bool {
    auto& op = loop.make(op_code::shutdown, which);
    loop.start(op);
    return loop.run_until_ended(op) && op.result() == 0;
}

} // namespace

auto watch_sees_the_peer_finish(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    auto& first = make_watch(loop, left);
    auto& second = make_watch(loop, left);
    auto& broken = make_watch(loop, left, op_option::broken);
    for (auto* const op : {&first, &second, &broken}) loop.submit(*op);
    if (!loop.send_all(right, 0, 1)) return "nothing can be sent";
    loop.run_for(law_loop::a_while);
    if (first.ended() || second.ended()) return "a watch ended while the peer was still sending";
    if (!shut_down(loop, right)) return "shutdown failed";
    if (!loop.run_until([&] { return first.ended() && second.ended(); }))
        return "a watch did not see that the peer finished";
    if (first.result() != 0 || second.result() != 0) return "a watch of a peer that finished ends with 0";
    auto& late = make_watch(loop, left); // level: what has happened counts
    loop.start(late);
    if (!loop.run_until_ended(late) || late.result() != 0)
        return "a watch did not see what had happened before it";
    if (loop.receive_all(left, 0) != 1) return "a watch took bytes";
    loop.run_for(law_loop::a_while);
    if (broken.ended()) return "a watch for a broken connection ended with a finished peer";
    loop.cancel(broken);
    if (!loop.run_until_ended(broken) || !broken.was_cancelled()) return "law 3: a watch was not cancelled";
    return loop.finding();
}

TEST_P(driver_laws, watch_sees_the_peer_finish) { expect(watch_sees_the_peer_finish); }

/// The error of a broken connection is there for everybody: whoever hears of it takes it from nobody.
auto watch_sees_the_connection_break(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const expect_reset = [&](tracked& op, char const* which) {
        if (!loop.run_until_ended(op) || to_error(op.result()) != std::errc::connection_reset)
            loop.found(text(which, " of a broken connection ended with ", op.result()));
    };
    { // the watches first, then a receive
        auto const [left, right] = subject.connected_pair();
        auto& first = make_watch(loop, left);
        auto& second = make_watch(loop, left, op_option::broken);
        loop.submit(first);
        loop.submit(second);
        loop.turn(loop.io().now());
        subject.reset(right);
        expect_reset(first, "a watch");
        expect_reset(second, "a watch");
        auto& receive = loop.make_receive(left, 1);
        loop.start(receive);
        expect_reset(receive, "after a watch, a receive");
    }
    { // a receive first
        auto const [left, right] = subject.connected_pair();
        auto& receive = loop.make_receive(left, 1);
        loop.submit(receive);
        subject.reset(right);
        expect_reset(receive, "a receive");
        auto& watch = make_watch(loop, left);
        loop.start(watch);
        expect_reset(watch, "after a receive, a watch");
    }
    { // both at a time
        auto const [left, right] = subject.connected_pair();
        auto& receive = loop.make_receive(left, 1);
        auto& watch = make_watch(loop, left);
        loop.submit(receive);
        loop.submit(watch);
        loop.turn(loop.io().now());
        subject.reset(right);
        expect_reset(receive, "beside a watch, a receive");
        expect_reset(watch, "beside a receive, a watch");
    }
    return loop.finding();
}

TEST_P(driver_laws, watch_sees_the_connection_break) { expect(watch_sees_the_connection_break); }

auto watch_needs_a_connection(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const nowhere = subject.socket();
    auto& watch = make_watch(loop, nowhere);
    loop.submit(watch);
    if (!loop.run_until_ended(watch) || to_error(watch.result()) != std::errc::not_connected)
        return text("a watch of a socket that is not connected ended with ", watch.result());
    auto const [left, right] = subject.connected_pair();
    auto& waiting = make_watch(loop, left);
    loop.submit(waiting);
    auto& close = loop.make(op_code::close, left);
    loop.submit(close);
    if (!loop.run_until_ended(close) || !waiting.ended() || !waiting.was_cancelled())
        return "law 12: a close did not end a watch first";
    return loop.finding();
}

TEST_P(driver_laws, watch_needs_a_connection) { expect(watch_needs_a_connection); }

} // namespace pitsaw::laws
