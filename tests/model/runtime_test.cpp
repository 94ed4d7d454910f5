#include "model/weakened.hpp"

#include <pitsaw/executor/runtime.hpp>
#include <pitsaw/model/explore.hpp>
#include <pitsaw/scope/portal.hpp>
#include <pitsaw/scope/task_group.hpp>
#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/time/sleep.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <utility>

// The whole runtime under the model: worker, timers, scopes and the simulated driver, with other threads
// that stop it or hand it work. Its unit tests have the same with real threads, which see one interleaving
// at a time.

namespace {

using namespace pitsaw;
using namespace std::chrono_literals;
using model::require;
using model::thread;
using model::var;

task<> rest(duration how_long) { co_await sleep(how_long); }

/// LW8, CA19: the stop that lets `sync_wait` return may let the runtime go, while its thread is still in it.
void a_stop_meets_a_sleep_and_the_end_of_the_runtime() {
    std::optional<runtime> rt(std::in_place);
    thread stopper([&] { rt->request_stop(stop_reason::shutdown); });
    auto const end = sync_wait(*rt, rest(never - time_point()));
    require(end.is_stopped(), "a sleep without end ends by the stop");
    rt.reset();
}

/// A timer that is due and a stop from another thread: one of them ends the sleep, once.
void a_stop_meets_a_timer() {
    runtime rt;
    thread stopper([&] { rt.request_stop(); });
    auto const end = sync_wait(rt, rest(1s));
    require(end.is_stopped() || end.has_value(), "it slept, or it was stopped");
}

/// A value that tells a race on itself. (`portal::call` as a whole keeps its result by std::shared_ptr,
/// whose count is no atomic of the model.)
struct noted {
    var<int> number = 0;
};

void the_result_of_a_call_reaches_who_waits() {
    call_result<noted> result;
    thread worker([&] { result.set(outcome<noted>::completed(noted{3})); });
    require(result.wait().value().number == 3, "the result");
}

/// A stop of the group by the thread that holds its portal, which it closes then.
void a_group_is_stopped_from_another_thread() {
    std::optional<portal> way_in;
    model::atomic<task_group*> stopped = nullptr;
    runtime rt;
    auto const body = [&](task_group& group) -> task<> {
        way_in.emplace(group.open_portal());
        stopped.store(&group, std::memory_order_release);
        co_await sleep(never - time_point());
    };
    thread stopper([&] {
        task_group* group = nullptr;
        while ((group = stopped.load(std::memory_order_acquire)) == nullptr) model::yield();
        group->request_stop();
        way_in.reset();
    });
    auto const run = [&]() -> task<> { co_await task_group::run(body); };
    (void)sync_wait(rt, run());
}

void holds(char const* name, std::function<void()> const& body, model::options const& how = {}) {
    auto const found = model::explore(how, body);
    EXPECT_EQ(found.failure, "") << found.trace << found.replay;
    EXPECT_TRUE(found.is_complete);
    std::fprintf(
        stderr, "%s: %llu executions, %llu redundant, %llu steps, %.0f/s, %s\n", name,
        static_cast<unsigned long long>(found.executions), static_cast<unsigned long long>(found.redundant),
        static_cast<unsigned long long>(found.steps), static_cast<double>(found.executions) / found.seconds,
        found.is_complete ? "all" : "not all");
}

TEST(runtime_under_the_model, a_stop_meets_a_sleep_and_the_end_of_the_runtime) {
    holds("stop, end", a_stop_meets_a_sleep_and_the_end_of_the_runtime);
}
TEST(runtime_under_the_model, a_stop_meets_a_timer) { holds("stop, timer", a_stop_meets_a_timer); }
TEST(runtime_under_the_model, the_result_of_a_call_reaches_who_waits) {
    holds("call", the_result_of_a_call_reaches_who_waits);
    auto const found = pitsaw::testing::weaken_each({the_result_of_a_call_reaches_who_waits},
                                                    {"pitsaw/scope/portal.hpp"}, {});
    EXPECT_TRUE(found.unnoticed.empty()) << text_of(found);
    EXPECT_EQ(found.noticed, 2U);
}
TEST(runtime_under_the_model, a_group_is_stopped_from_another_thread) {
    holds("group", a_group_is_stopped_from_another_thread);
}

} // namespace
