#include "driver/law_loop.hpp"
#include "driver/laws.hpp"

#include <algorithm>

namespace pitsaw::laws {

auto each_operation_has_one_final_event(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    std::vector<tracked*> all;
    for (std::size_t i = 0; i < 100; ++i) {
        all.push_back(&loop.make(op_code::nop));
        all.push_back(&loop.make_receive(left, 1 + i % 7));
        all.push_back(&loop.make_send(right, pattern(0, 1 + i % 5)));
        for (auto* const op : std::span(all).last(3)) loop.submit(*op);
        if (i % 10 == 0) loop.turn(loop.io().now());
    }
    loop.run_for(law_loop::a_while); // receives or sends are left over: the bytes need not come out even
    if (!loop.end_all()) return text("law 1: ", loop.in_flight(), " operations have no final event");
    loop.run_for(law_loop::a_while);
    for (auto const* const op : all)
        if (op->finals != 1) return text("law 1: a ", name(op->code), " has ", op->finals, " final events");
    return loop.finding();
}

TEST_P(driver_laws, each_operation_has_one_final_event) {
    expect(each_operation_has_one_final_event);
} // law 1

auto multishot_events_but_the_last_are_flagged_more(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [listener, address] = subject.listen(16);
    auto& accepting = loop.make(op_code::accept, listener);
    accepting.options = op_option::multishot;
    std::size_t connected = 0;
    std::size_t handles = 0;
    auto const collect = [&] {
        for (auto const result : std::exchange(accepting.results, {})) {
            if (result < 0) continue;
            ++handles;
            if (auto const accepted = loop.io().attach(native_handle(result)))
                loop.io().discard(*accepted);
            else
                loop.found("law 4: an accepted handle cannot be attached");
        }
    };
    while (connected < 20) {
        if (!loop.finding().empty()) return loop.finding();
        if (accepting.ended()) loop.submit(accepting); // it may end by itself
        auto& connecting = loop.make_connect(subject.socket(), address);
        loop.start(connecting);
        if (!loop.run_until_ended(connecting)) return "law 1: connect has no final event";
        if (connecting.result() != 0)
            return text("connect failed: ", to_error(connecting.result()).message());
        ++connected;
        loop.run_for(law_loop::a_while);
        collect();
    }
    if (!loop.end_all()) return "law 1: a cancelled multishot accept has no final event";
    collect();
    auto& impossible = loop.make(op_code::accept, subject.connected_pair().first);
    impossible.options = op_option::multishot;
    loop.submit(impossible);
    if (!loop.run_until_ended(impossible) || impossible.result() >= 0 || impossible.results.size() != 1)
        return "law 1: a multishot accept on a stream ends with its first error";
    // What came after the last one ended by itself waits in the backlog still.
    for (auto& rest = loop.make(op_code::accept, listener); handles < connected; ++handles) {
        loop.submit(rest);
        if (!loop.run_until_ended(rest) || rest.result() < 0)
            return text("law 4: ", connected, " connections, ", handles, " accepted handles");
    }
    return loop.finding();
}

TEST_P(driver_laws, multishot_events_but_the_last_are_flagged_more) { // laws 1 and 7
    expect(multishot_events_but_the_last_are_flagged_more);
}

auto callbacks_run_only_in_the_loop(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    for (std::size_t i = 0; i < 50; ++i) {
        auto& nop = loop.make(op_code::nop);
        auto& receive = loop.make_receive(left, 1);
        auto& send = loop.make_send(right, pattern(i, 1));
        loop.start(nop);
        loop.start(receive);
        loop.start(send);
        loop.cancel(send); // the law's loop notes an on_event inside any of these
        loop.cancel(nop);
        loop.cancel(receive);
        if (!loop.run_until([&] { return loop.in_flight() == 0; })) return "law 1: a final event is missing";
    }
    return loop.finding();
}

TEST_P(driver_laws, callbacks_run_only_in_the_loop) { expect(callbacks_run_only_in_the_loop); } // law 5

auto poll_is_never_early(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    loop.submit(loop.make_receive(left, 8)); // blocked: no reason to return
    for (int i = 0; i < 20; ++i) {
        auto const until = loop.io().now() + std::chrono::microseconds(100);
        if (loop.turn(until) != 0) return "law 1: an event of an operation that cannot have ended";
        if (loop.io().now() < until) return "law 6: poll returned nothing before `until`";
        auto const before = loop.io().now();
        if (loop.turn(before - std::chrono::seconds(1)) != 0) return "law 1: an event out of nothing";
    }
    if (!loop.end_all()) return "law 3: a cancel was lost";
    return loop.finding();
}

TEST_P(driver_laws, poll_is_never_early) { expect(poll_is_never_early); } // law 6

auto results_are_clean(law_subject& subject) -> finding {
    law_loop loop(subject, 3);
    auto const [left, right] = subject.connected_pair();
    auto random = random_source(17);
    std::size_t sent = 0;
    std::size_t received = 0;
    auto const count_up = [&](tracked const& op, std::size_t& total) {
        if (op.result() < 0)
            loop.found(text("law 6: ", name(op.code), ": ", to_error(op.result()).message()));
        if (op.result() == 0)
            loop.found(text("law 6: a ", name(op.code), " moved nothing on an open stream"));
        total += static_cast<std::size_t>(std::max(op.result(), 0));
    };
    for (int i = 0; i < 400 && loop.finding().empty(); ++i) {
        auto& receive = loop.make_receive(left, 1 + random.below(64));
        auto& send = loop.make_send(right, pattern(sent, 1 + random.below(64)));
        loop.start(receive);
        loop.start(send);
        if (!loop.run_until_ended(send) || !loop.run_until_ended(receive))
            return "law 1: a final event is missing";
        count_up(send, sent);
        if (!follows_pattern(std::span(receive.bytes).first(std::max(receive.result(), 0)), received))
            return "law 6: a receive reports bytes that were not sent";
        count_up(receive, received);
    }
    auto& empty = loop.make_receive(left, 0);
    loop.submit(empty);
    if (!loop.run_until_ended(empty) || empty.result() != 0)
        return "law 6: a receive of no bytes ends with 0";
    if (sent < received) return "law 6: more bytes received than sent";
    return loop.finding();
}

TEST_P(driver_laws, results_are_clean) { expect(results_are_clean); } // law 6

auto submit_never_fails(law_subject& subject) -> finding {
    law_loop loop(subject, 64);
    auto const [left, right] = subject.connected_pair();
    for (std::size_t i = 0; i < 2'000; ++i) {
        loop.submit(loop.make(op_code::nop));
        loop.submit(loop.make_receive(left, 1));
    }
    if (!loop.send_all(right, 0, 2'000)) return "law 7: sends of 2,000 bytes failed";
    if (!loop.run_until([&] { return loop.in_flight() == 0; }))
        return text("law 7: ", loop.in_flight(), " of 4,000 operations submitted at once never ended");
    std::size_t at = 0;
    for (auto const* const op : loop.finals()) {
        if (op->code != op_code::receive) continue;
        if (op->result() != 1 || op->bytes[0] != pattern(at++))
            return "law 7: a receive of the backlog went wrong";
    }
    auto& nowhere = loop.make_receive(descriptor{}, 1);
    loop.submit(nowhere);
    if (!loop.run_until_ended(nowhere)) return "law 7: an operation without a descriptor has no final event";
    if (to_error(nowhere.result()) != std::errc::bad_file_descriptor)
        return text("law 7: an operation without a descriptor: ", to_error(nowhere.result()).message());
    return loop.finding();
}

TEST_P(driver_laws, submit_never_fails) { expect(submit_never_fails); } // law 7

auto completions_beyond_the_span_are_kept(law_subject& subject) -> finding {
    for (std::size_t const span : {1, 16}) {
        law_loop loop(subject, span);
        for (int i = 0; i < 10'000; ++i) loop.submit(loop.make(op_code::nop));
        auto const all_came = loop.run_until([&] { return loop.in_flight() == 0; });
        if (!loop.finding().empty()) return loop.finding();
        if (!all_came) return text("law 8: ", loop.in_flight(), " of 10,000 completions were lost");
    }
    return {};
}

TEST_P(driver_laws, completions_beyond_the_span_are_kept) { // law 8, IU3
    expect(completions_beyond_the_span_are_kept);
}

auto errors_are_translated(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const expect = [&](tracked& op, std::errc wanted) {
        loop.start(op);
        if (!loop.run_until_ended(op)) loop.found("law 1: a final event is missing");
        auto const error = to_error(op.result());
        if (op.result() >= 0 || error != wanted)
            loop.found(text("law 9: a ", name(op.code), " ended with ",
                            op.result() < 0 ? error.message() : "success", ", not with ",
                            std::make_error_code(wanted).message()));
    };
    for (int i = 0; i < 200; ++i) // EP6: never a success out of a stale or early readiness
        expect(loop.make_connect(subject.socket(), subject.address_of_nobody()),
               std::errc::connection_refused);
    expect(loop.make_receive(subject.socket(), 1), std::errc::not_connected);
    auto const [left, right] = subject.connected_pair();
    auto& shutdown = loop.make(op_code::shutdown, left);
    loop.start(shutdown);
    if (!loop.run_until_ended(shutdown) || shutdown.result() != 0)
        return "law 9: shutdown of an open stream failed";
    expect(loop.make_send(left, pattern(0, 1)), std::errc::broken_pipe);
    auto const [broken, other_end] =
        subject.connected_pair(); // a fresh one: TCP has told `right` the end already
    subject.reset(broken);
    expect(loop.make_receive(other_end, 1), std::errc::connection_reset);
    auto const [one, other] = subject.connected_pair();
    auto& receive = loop.make_receive(one, 1);
    loop.submit(receive);
    loop.cancel(receive);
    if (!loop.run_until_ended(receive) || !receive.was_cancelled())
        return "law 9: a cancelled receive says otherwise";
    return loop.finding();
}

TEST_P(driver_laws, errors_are_translated) { expect(errors_are_translated); } // law 9, EP6

} // namespace pitsaw::laws
