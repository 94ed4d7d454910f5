#pragma once
#include "sim_subjects/scopes.hpp"

#include <cstddef>
#include <system_error>

/// The primitives of `sync`. Whatever was disturbed, none may have lost a permit when its body goes.
namespace pitsaw::testing::subjects {

/// A primitive that is whole again when it goes: `is_whole(of)`.
template <class P, auto is_whole> struct kept {
    P of;

    template <class... Args> explicit kept(Args... args) : of(args...) {}
    kept(kept&&) = delete;
    ~kept() { check(is_whole(of), "a permit of a primitive was lost"); }
};
using three_permits = kept<semaphore, [](semaphore& of) { return of.available() == 3; }>;
using kept_mutex = kept<mutex, [](mutex& of) { return static_cast<bool>(of.try_lock()); }>;
using kept_shared_mutex =
    kept<shared_mutex, [](shared_mutex& of) { return static_cast<bool>(of.try_lock()); }>;

inline task<> uses_permits(surroundings& at, semaphore& of, std::size_t count) {
    auto const permits = co_await of.acquire(count);
    (void)co_await soon(at);
}
inline task<> gives_up_waiting(semaphore& of) { (void)co_await with_timeout(500us, of.acquire(3)); }
inline result takes_permits(surroundings& at) {
    three_permits limit(3u);
    (void)co_await when_all(uses_permits(at, limit.of, 2), gives_up_waiting(limit.of),
                            uses_permits(at, limit.of, 3), uses_permits(at, limit.of, 1));
    co_return {};
}
inline result takes_either(surroundings& at) {
    three_permits left(3u), right(3u);
    auto const uses_both = [](surroundings* of, semaphore* one, semaphore* other) -> task<> {
        auto const some = co_await when_any(one->acquire(2), other->acquire(2));
        (void)co_await soon(*of);
        (void)some;
    };
    (void)co_await when_all(uses_both(&at, &left.of, &right.of), uses_both(&at, &right.of, &left.of),
                            uses_both(&at, &left.of, &right.of));
    co_return {};
}
inline result locks(surroundings& at) {
    kept_mutex of;
    auto const holds = [](surroundings* in, mutex* turn) -> task<> {
        auto const held = co_await turn->lock();
        (void)co_await soon(*in);
    };
    (void)co_await when_all(holds(&at, &of.of), with_timeout(1500us, holds(&at, &of.of)), holds(&at, &of.of));
    co_return {};
}
inline result reads_and_writes(surroundings& at) {
    kept_shared_mutex of;
    auto const reads = [](surroundings* in, shared_mutex* table) -> task<> {
        auto const held = co_await table->lock_shared();
        (void)co_await soon(*in);
    };
    auto const writes = [](surroundings* in, shared_mutex* table) -> task<> {
        auto const held = co_await table->lock();
        (void)co_await soon(*in);
    };
    (void)co_await when_all(reads(&at, &of.of), with_timeout(500us, writes(&at, &of.of)), reads(&at, &of.of),
                            writes(&at, &of.of), reads(&at, &of.of));
    co_return {};
}
inline result passes_a_gate(surroundings& at) {
    manual_reset_event gate;
    auto const opens = [](surroundings* in, manual_reset_event* of) -> task<> {
        (void)co_await soon(*in);
        of->set();
    };
    (void)co_await when_all(gate.wait(), gate.wait(), opens(&at, &gate));
    co_await gate.wait();
    co_return {};
}
inline result takes_turns(surroundings& at) {
    auto_reset_event to_left(true), to_right;
    auto const plays = [](surroundings* in, auto_reset_event* mine, auto_reset_event* other) -> task<> {
        for (int i = 0; i < 2; ++i) {
            co_await mine->wait();
            (void)co_await soon(*in);
            other->set();
        }
    };
    (void)co_await when_all(plays(&at, &to_left, &to_right), plays(&at, &to_right, &to_left));
    check(to_left.try_wait(), "a set was lost");
    co_return {};
}
inline result waits_for_all(surroundings& at) {
    latch all_there(3);
    auto const arrives = [](surroundings* in, latch* of) -> task<> {
        (void)co_await soon(*in);
        co_await of->arrive_and_wait();
    };
    (void)co_await when_all(arrives(&at, &all_there), arrives(&at, &all_there), all_there.arrive_and_wait(),
                            all_there.wait());
    co_return {};
}
inline result goes_in_step(surroundings& at) {
    barrier all_here(3);
    auto const steps = [](surroundings* in, barrier* of, int count) -> task<> {
        for (int i = 0; i < count; ++i) {
            (void)co_await soon(*in);
            co_await of->arrive_and_wait();
        }
        of->arrive_and_drop();
    };
    (void)co_await when_all(steps(&at, &all_here, 2), with_timeout(500us, all_here.arrive_and_wait()),
                            steps(&at, &all_here, 1));
    co_return {};
}
inline result waits_for_orders(surroundings& at) {
    struct {
        kept_mutex turn;
        condition has_orders{turn.of};
        int orders = 0;
    } shop;
    auto const takes = [](decltype(shop)* from) -> task<> {
        auto held = co_await from->turn.of.lock();
        auto const has_one = [from] { return from->orders != 0; };
        co_await from->has_orders.wait(held, has_one);
        --from->orders;
    };
    auto const puts = [](surroundings* in, decltype(shop)* to) -> task<> {
        for (int i = 0; i < 2; ++i) {
            auto const held = co_await to->turn.of.lock();
            ++to->orders;
            to->has_orders.notify_one();
            (void)co_await soon(*in); // whom it notified waits for the mutex
        }
    };
    auto const takes_for_a_while = [](decltype(takes) const* take, decltype(shop)* from) -> task<> {
        auto const got = co_await with_timeout(500us, (*take)(from));
        if (!got.has_value()) co_await (*take)(from);
    };
    (void)co_await when_all(takes_for_a_while(&takes, &shop), takes(&shop), puts(&at, &shop));
    co_return {};
}
inline result does_it_once(surroundings& at) {
    once made;
    auto const makes = [](surroundings* in) -> result {
        (void)co_await soon(*in);
        co_return io_result<void>();
    };
    auto const done = co_await when_all(made.call(makes, &at), made.call(makes, &at), made.call(makes, &at));
    if (!done.has_value()) co_return std::unexpected(done.error());
    check(made.is_done(), "it was done and does not say so");
    co_return {};
}

} // namespace pitsaw::testing::subjects
