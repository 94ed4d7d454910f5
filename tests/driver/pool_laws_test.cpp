#include "driver/law_loop.hpp"
#include "driver/laws.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace pitsaw::laws {
namespace {

constexpr std::uint32_t bytes_each = 16;

/// A pool lent to the driver that is judged, and what its events brought.
struct lent_pool {
    lent_pool(law_loop& by, std::size_t buffers)
        : loop(by), memory(by.lent.emplace_back(buffers * bytes_each)) {
        if (auto const made = loop.io().lend(memory, bytes_each))
            number = *made;
        else
            loop.found("law 16: lend failed");
    }

    auto make_receive(descriptor from, bool is_multishot) -> tracked& {
        auto& op = loop.make(op_code::receive, from);
        op.options = is_multishot ? op_option::pooled | op_option::multishot : op_option::pooled;
        op.pool = number;
        return op;
    }

    /// Checks an event with bytes that go on at `position` of the pattern, and holds its buffer.
    void take(event const& what) {
        if (!has(what.flags, event_flag::pooled)) {
            if (what.result > 0) loop.found("law 16: a pooled receive brought bytes without a buffer");
            return;
        }
        if (what.result <= 0) return loop.found("law 4: a result without bytes brought a buffer");
        auto const count = static_cast<std::size_t>(what.result);
        if (count > bytes_each || (what.buffer + 1U) * bytes_each > memory.size())
            return loop.found("law 16: an event names no buffer of its pool");
        if (!held.insert(what.buffer).second) loop.found("law 16: a buffer is in two events at a time");
        auto const bytes = std::span(memory).subspan(std::size_t{what.buffer} * bytes_each, count);
        if (!follows_pattern(bytes, position)) loop.found("law 16: the buffer does not hold what was sent");
        position += count;
    }
    void give_all_back() {
        for (auto const buffer : std::exchange(held, {})) loop.io().give_back(number, buffer);
    }
    /// From now on notes what each pooled event brings.
    void collect() {
        loop.before_run = [this](std::span<event const> events) {
            for (auto const& e : events)
                if (has(e.op->options, op_option::pooled)) take(e);
        };
    }

    law_loop& loop;
    std::vector<std::byte>& memory;
    std::uint16_t number = 0;
    std::set<std::uint16_t> held;
    std::size_t position = 0;
};

auto is_empty_pool(tracked const& op) -> bool {
    return op.result() < 0 && to_error(op.result()) == std::errc::no_buffer_space;
}

} // namespace

auto pooled_receives_take_a_buffer_when_ready(law_subject& subject) -> finding {
    law_loop loop(subject);
    lent_pool pool(loop, 1);
    pool.collect();
    auto const [left, right] = subject.connected_pair();
    auto const [idle_left, idle_right] = subject.connected_pair();
    auto& idle = pool.make_receive(idle_left, false);
    loop.submit(idle); // waits, and must not hold the only buffer
    loop.run_for(law_loop::a_while);
    for (std::size_t i = 0; i < 50; ++i) {
        auto& receive = pool.make_receive(left, false);
        loop.submit(receive);
        if (!loop.send_all(right, i, 1) || !loop.run_until_ended(receive))
            return "law 16: a pooled receive never ended";
        if (receive.result() != 1)
            return text("law 16: with a free buffer a pooled receive ended with ", receive.result());
        pool.give_all_back();
        if (!loop.finding().empty()) return loop.finding();
    }
    loop.cancel(idle);
    if (!loop.run_until_ended(idle) || !idle.was_cancelled())
        return "law 3: a pooled receive was not cancelled";
    return loop.finding();
}

TEST_P(driver_laws, pooled_receives_take_a_buffer_when_ready) { // law 16
    expect(pooled_receives_take_a_buffer_when_ready);
}

auto an_empty_pool_leaves_the_bytes(law_subject& subject) -> finding {
    law_loop loop(subject);
    lent_pool pool(loop, 1);
    pool.collect();
    auto const [left, right] = subject.connected_pair();
    auto& first = pool.make_receive(left, false);
    loop.submit(first);
    if (!loop.send_all(right, 0, 1) || !loop.run_until_ended(first) || first.result() != 1)
        return "law 16: a pooled receive failed";
    auto& second = pool.make_receive(left, false); // nothing to receive: waits, also without a buffer
    loop.submit(second);
    loop.run_for(law_loop::a_while);
    if (second.ended()) return "law 16: a pooled receive ended before there was something to receive";
    if (!loop.send_all(right, 1, 1) || !loop.run_until_ended(second))
        return "law 16: a pooled receive never ended";
    if (!is_empty_pool(second))
        return text("law 16: without a buffer a receive ended with ", second.result());
    pool.give_all_back();
    auto& third = pool.make_receive(left, false);
    loop.submit(third);
    if (!loop.run_until_ended(third) || third.result() != 1)
        return "law 16: what an empty pool did not receive is lost";
    pool.give_all_back();
    // The end of the stream needs no buffer.
    auto& shutdown = loop.make(op_code::shutdown, right);
    loop.start(shutdown);
    auto& last = pool.make_receive(left, false);
    loop.submit(last);
    if (!loop.run_until_ended(last) || last.result() != 0 || !pool.held.empty())
        return "law 16: the end of the stream in a pooled receive";
    return loop.finding();
}

TEST_P(driver_laws, an_empty_pool_leaves_the_bytes) { expect(an_empty_pool_leaves_the_bytes); } // law 16

auto multishot_receives_bring_every_byte(law_subject& subject) -> finding {
    law_loop loop(subject);
    lent_pool pool(loop, 4);
    pool.collect();
    auto const [left, right] = subject.connected_pair();
    constexpr std::size_t total = 3'000;
    auto* receive = &pool.make_receive(left, true);
    loop.submit(*receive);
    auto random = random_source(16);
    std::size_t sent = 0;
    for (int turns = 0; pool.position < total && loop.finding().empty() && turns < 200'000; ++turns) {
        if (sent < total && random.chance(0.5)) {
            auto& send = loop.make_send(right, pattern(sent, std::min<std::size_t>(total - sent, 40)));
            loop.submit(send);
            if (!loop.run_until([&] { return send.ended() || receive->ended(); }))
                return "law 1: a send never ended";
            if (!send.ended()) loop.cancel(send);
            if (!loop.run_until_ended(send)) return "law 3: a cancel was lost";
            sent += static_cast<std::size_t>(std::max(send.result(), 0));
        }
        loop.turn(loop.io().now() + std::chrono::microseconds(5));
        if (random.chance(0.3)) pool.give_all_back();
        if (!receive->ended()) continue;
        if (receive->result() <= 0 && !is_empty_pool(*receive))
            return text("law 16: a multishot receive ended with ", receive->result());
        pool.give_all_back();
        receive = &pool.make_receive(left, true);
        loop.submit(*receive);
    }
    if (loop.finding().empty() && pool.position != total)
        return text("law 16: of ", total, " bytes ", pool.position, " came");
    if (!loop.end_all()) return "law 3: a cancelled multishot receive has no final event";
    pool.give_all_back();
    return loop.finding();
}

TEST_P(driver_laws, multishot_receives_bring_every_byte) { // laws 1, 7, 13 and 16
    expect(multishot_receives_bring_every_byte);
}

auto cancelled_multishot_receives_lose_no_bytes(law_subject& subject) -> finding {
    law_loop loop(subject, 2);
    lent_pool pool(loop, 8);
    pool.collect();
    auto const [left, right] = subject.connected_pair();
    auto random = random_source(17);
    std::size_t sent = 0;
    for (int i = 0; i < 200 && loop.finding().empty(); ++i) {
        auto& receive = pool.make_receive(left, true);
        loop.submit(receive);
        auto& send = loop.make_send(right, pattern(sent, 1 + random.below(30)));
        loop.submit(send);
        for (auto turns = random.below(4); turns > 0; --turns)
            loop.turn(loop.io().now() + random.below(3) * std::chrono::microseconds(5));
        loop.cancel(receive);
        loop.cancel(send);
        if (!loop.run_until([&] { return loop.in_flight() == 0; })) return "law 3: a cancel was lost";
        sent += static_cast<std::size_t>(std::max(send.result(), 0));
        pool.give_all_back();
    }
    auto const rest = loop.receive_all(left, pool.position, sent - pool.position);
    if (!rest || pool.position + *rest != sent)
        return text("law 3: ", sent, " bytes sent, ", pool.position, " in buffers, the rest does not fit");
    return loop.finding();
}

TEST_P(driver_laws, cancelled_multishot_receives_lose_no_bytes) { // laws 3 and 4
    expect(cancelled_multishot_receives_lose_no_bytes);
}

auto wrong_pools_are_refused(law_subject& subject) -> finding {
    law_loop loop(subject);
    auto const [left, right] = subject.connected_pair();
    auto& receive = loop.make(op_code::receive, left);
    receive.options = op_option::pooled;
    receive.pool = 77;
    loop.submit(receive);
    if (!loop.run_until_ended(receive) || to_error(receive.result()) != std::errc::invalid_argument)
        return text("law 7: a receive of a pool that nobody lent ended with ", receive.result());
    std::array<std::byte, 8> memory;
    if (loop.io().lend(memory, 0) || loop.io().lend(memory, 9))
        return "law 16: memory of less than one buffer was taken for a pool";
    return loop.finding();
}

TEST_P(driver_laws, wrong_pools_are_refused) { expect(wrong_pools_are_refused); } // laws 7 and 16

} // namespace pitsaw::laws
