#pragma once
#include "foreign_awaitables.hpp"
#include "sim_subjects/surroundings.hpp"

#include <chrono>
#include <memory_resource>
#include <string>
#include <system_error>
#include <utility>

/// Time, boundaries and groups.
namespace pitsaw::testing::subjects {

/// A value that lives through three sleeps.
inline result sleeps(surroundings& at) {
    counted_text const value(at.values, "one that is too long for a string to keep within");
    for (int i = 0; i < 3; ++i) co_await sleep(1ms);
    co_return {};
}
inline task<counted_text> soon(surroundings& at) {
    counted_text value(at.values, "another that is too long for a string to keep within");
    co_await sleep(1ms);
    co_return value;
}
inline result sleeps_until(surroundings& at) {
    co_await sleep_until(at.world->now() + 1ms);
    co_return {};
}
inline result ticks(surroundings&) {
    interval every(1ms);
    for (int i = 0; i < 3; ++i) (void)co_await every.tick();
    co_return {};
}
inline result yields(surroundings&) {
    for (int i = 0; i < 3; ++i) co_await this_task::yield();
    co_return {};
}
inline result passes_checkpoints(surroundings&) {
    for (int i = 0; i < 100; ++i) co_await this_task::checkpoint();
    co_return {};
}
inline result blocks(surroundings& at) {
    counted_text text(at.values, "one that is too long for a string to keep within");
    auto const longer = co_await blocking(
        [](counted_text owned) {
            *owned += '!';
            return owned;
        },
        std::move(text));
    co_return co_await blocking([&]() -> io_result<void> {
        if (longer->empty()) return std::unexpected(std::make_error_code(std::errc::io_error));
        return {};
    });
}
/// A tree, each node of which owns something.
inline computation<std::size_t> counts(surroundings& at, int const levels) {
    counted_text const owned(at.values, "one that is too long for a string to keep within");
    if (levels == 0) co_return owned->size();
    auto const both = co_await fork_join(counts(at, levels - 1), counts(at, levels - 1));
    auto const each = co_await fork_join(2, [&](std::size_t) { return counts(at, 0); });
    co_return std::get<0>(both) + std::get<1>(both) + each.front() + each.back();
}
inline result computes(surroundings& at) {
    auto const length = co_await compute(counts(at, 3));
    if (length == 0) co_return std::unexpected(std::make_error_code(std::errc::io_error));
    co_return {};
}
inline result all(surroundings& at) {
    auto const each = co_await when_all(soon(at), sleeps(at), sleep(2ms));
    co_return each.has_value() ? io_result<void>() : std::unexpected(each.error());
}
inline result any_first(surroundings& at) {
    auto const done = co_await when_any(soon(at), sleeps(at), sleep(2ms));
    (void)done;
    co_return {};
}
inline result any_last(surroundings& at) {
    auto const done = co_await when_any(sleep(2ms), sleeps(at), soon(at));
    (void)done;
    co_return {};
}
inline result in_time(surroundings& at) { co_return co_await with_timeout(9ms, sleeps(at)); }
inline result too_late(surroundings& at) {
    auto const end = co_await with_timeout(2ms, sleeps(at));
    if (end.has_value() || end.error() == std::errc::timed_out) co_return {};
    co_return end;
}
inline result by_a_deadline(surroundings& at) {
    auto const value = co_await with_deadline(at.world->now() + 2ms, soon(at));
    co_return value.has_value() ? io_result<void>() : std::unexpected(value.error());
}
inline result masked(surroundings& at) {
    co_await or_return(shield(sleeps(at)));
    co_await sleep(1ms);
    co_return {};
}
inline result elsewhere(surroundings& at) {
    co_return co_await with_executor(at.world->get_runtime().get_executor(), sleeps(at));
}
inline result in_turn(surroundings& at) {
    strand one(at.world->get_runtime().get_executor());
    auto const step = [&at]() -> result { co_return co_await sleeps(at); };
    auto const both = co_await when_all(one.run(step), one.run(step));
    co_return both.has_value() ? io_result<void>() : std::unexpected(both.error());
}
inline result child_of_a_named_worker(surroundings& at) {
    auto const body = [&at](task_group& group) -> result {
        auto const child = [&at]() -> result { co_return co_await sleeps(at); };
        for (int i = 0; i < 3; ++i) group.spawn_on(at.world->get_runtime().get_executor(), child);
        co_return {};
    };
    co_return co_await task_group::run(body);
}
inline result everywhere(surroundings& at) {
    auto const each = [&at](std::uint32_t) -> result { co_return co_await sleeps(at); };
    co_return co_await on_each_worker(each);
}
inline result with_other_memory(surroundings& at) {
    auto const body = [&at](task_group& group) -> result {
        for (int i = 0; i < 3; ++i) group.spawn(sleeps(at)); // nodes of that memory
        co_return {};
    };
    co_return co_await with_memory(*std::pmr::new_delete_resource(), task_group::run(body));
}
inline result by_priority(surroundings& at) {
    auto const each = co_await when_all(with_priority(priority::low, sleeps(at)),
                                        with_priority(priority::high, sleeps(at)), soon(at));
    co_return each.has_value() ? io_result<void>() : std::unexpected(each.error());
}
inline result under_a_name(surroundings& at) {
    co_return co_await with_name("a name that is longer than a string keeps within", sleeps(at));
}
inline result unbounded(surroundings& at) { co_return co_await this_task::unconstrained(sleeps(at)); }
inline result as_data(surroundings& at) {
    auto const first = co_await as_outcome(sleeps(at));
    auto const second = co_await as_outcome(soon(at));
    if (first.has_exception() || second.has_exception())
        co_return std::unexpected(std::make_error_code(std::errc::io_error));
    co_await sleep(1ms); // as_outcome swallows the stop: here it takes effect
    co_return first.is_stopped() ? io_result<void>() : first.value();
}
inline result unwraps(surroundings& at) {
    auto const value = co_await soon(at);
    co_await or_return(sleeps(at));
    (void)value;
    co_return {};
}
inline task<> clean_up(counted_text owned) {
    co_await sleep(1ms);
    *owned += '!';
    co_await this_task::yield();
}
inline result cleans_up(surroundings& at) {
    counted_text owned(at.values, "what the clean-up owns, which is longer than a string keeps within");
    co_await at_exit(clean_up, std::move(owned));
    co_return co_await sleeps(at);
}
struct closable {
    counted_text owned;
    task<> async_close() {
        co_await sleep(1ms);
        *owned += '!';
    }
};
inline result with_a_resource(surroundings& at) {
    closable made{counted_text(at.values, "a resource whose text is longer than a string keeps within")};
    auto const body = [&at](closable&) -> result { co_return co_await sleeps(at); };
    co_return co_await with(std::move(made), body);
}
inline async_generator<counted_text> values(surroundings& at) {
    for (int i = 0; i < 3; ++i) {
        co_await sleep(1ms);
        counted_text value(at.values, "a value of a generator, longer than a string keeps within");
        co_yield value;
    }
}
inline result generates(surroundings& at) {
    auto all_of_them = values(at);
    while (auto value = co_await all_of_them.next()) co_await sleep(1ms);
    co_return {};
}
inline foreign_coroutine foreign(environment env, surroundings& at) {
    auto const slept = co_await in(env, sleeps(at));
    co_return slept.has_value() ? 1 : 0;
}
inline result in_a_foreign_coroutine(surroundings& at) {
    auto const env = co_await this_task::get_environment();
    auto const done = co_await foreign(env, at);
    co_await sleep(1ms);
    if (done == 0) co_return std::unexpected(std::make_error_code(std::errc::io_error));
    co_return {};
}
inline result nested(surroundings& at) {
    auto const done = co_await when_any(with_timeout(2ms, when_all(sleeps(at), soon(at))), shield(soon(at)),
                                        as_outcome(when_any(sleep(1ms), sleeps(at))));
    (void)done;
    co_await sleep(1ms);
    co_return {};
}

// ---- Groups

inline result a_hundred_children(surroundings& at) {
    auto const body = [&at](task_group& group) -> result {
        auto const child = [](surroundings* of, int nth) -> result {
            counted_text const value(of->values, "a child's value, longer than a string keeps within");
            co_await sleep(std::chrono::microseconds(nth));
            co_return {};
        };
        for (int i = 1; i <= 100; ++i) group.spawn(child, &at, i);
        co_return {};
    };
    co_return co_await task_group::run(body);
}
inline result waits_for_room(surroundings& at) {
    auto const body = [&at](task_group& group) -> result {
        for (int i = 0; i < 5; ++i) {
            co_await group.room();
            group.spawn(sleeps(at));
        }
        co_return {};
    };
    task_group_options bounded;
    bounded.children_max = 2;
    co_return co_await task_group::run(bounded, body);
}
inline result keeps_the_others(surroundings& at) {
    auto const body = [&at](task_group& group) -> result {
        for (int i = 0; i < 3; ++i) group.spawn(sleeps(at));
        co_return {};
    };
    co_return co_await task_group::run(on_failure::keep_others, body);
}
inline result through_a_portal(surroundings& at) {
    auto const body = [&at](task_group& group) -> result {
        auto const child = [](surroundings* of, counted_text owned) -> result {
            co_await or_return(sleeps(*of));
            *owned += '!';
            co_return {};
        };
        auto const way_in = group.open_portal();
        for (int i = 0; i < 3; ++i)
            way_in.spawn(child, &at, counted_text(at.values, "more than a string keeps within itself"));
        co_await sleep(1ms);
        co_return {};
    };
    co_return co_await task_group::run(body);
}

} // namespace pitsaw::testing::subjects
