#include "model/weakened.hpp"

#include <pitsaw/model/explore.hpp>
#include <pitsaw/stop/inplace_stop_token.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

// The stop token as it is shipped: include/pitsaw/stop/inplace_stop_token.hpp,
// src/stop/inplace_stop_token.cpp.

namespace {

using namespace pitsaw;
using model::require;
using model::thread;
using model::var;

/// CA9: when the destructor returns, the callback neither runs nor will run, and what it did is seen.
void a_destroyed_callback_is_over() {
    inplace_stop_source source;
    var<int> used = 0;
    thread asks([&] { source.request_stop(); });
    {
        auto const use = [&] { ++used; };
        inplace_stop_callback const on_stop(source.get_token(), use);
    }
    used = used + 1;
    require(used <= 2, "it runs once at most");
}

void a_callback_runs_once_whether_it_comes_before_or_after_the_stop() {
    inplace_stop_source source;
    var<int> runs = 0;
    auto const count = [&] { ++runs; };
    std::optional<inplace_stop_callback<decltype(count)>> on_stop;
    {
        thread asks([&] { source.request_stop(); });
        on_stop.emplace(source.get_token(), count);
    }
    require(runs == 1, "it runs once");
}

void who_sees_the_stop_sees_what_preceded_it() {
    inplace_stop_source source;
    var<int> why = 0;
    thread asks([&] {
        why = 7;
        source.request_stop(stop_reason::timeout);
    });
    auto const token = source.get_token();
    if (token.stop_requested()) {
        require(why == 7, "what was written before the request");
        require(token.reason() == stop_reason::timeout, "the reason that was given");
    }
}

void one_of_two_requests_is_the_first() {
    inplace_stop_source source;
    var<int> runs = 0;
    inplace_stop_callback const on_stop(source.get_token(), [&] { ++runs; });
    bool first = false, second = false;
    {
        thread a([&] { first = source.request_stop(stop_reason::timeout); });
        thread b([&] { second = source.request_stop(stop_reason::shutdown); });
    }
    require(first != second, "one of them is told that it was the first");
    require(source.reason() == (first ? stop_reason::timeout : stop_reason::shutdown), "whose reason it is");
    require(runs == 1, "it runs once");
}

/// A destructor that waits for its callback may find another in its place, which runs next.
void two_callbacks_of_two_threads_go_amid_a_request() {
    inplace_stop_source source;
    var<int> left = 0, right = 0;
    auto const use_left = [&] { ++left; };
    std::optional<inplace_stop_callback<decltype(use_left)>> on_stop;
    on_stop.emplace(source.get_token(), use_left);
    thread asks([&] { source.request_stop(); });
    {
        inplace_stop_callback const other(source.get_token(), [&] { ++right; });
    }
    right = right + 1;
    on_stop.reset();
    left = left + 1;
}

void a_callback_may_destroy_itself_while_another_thread_destroys_its_own() {
    inplace_stop_source source;
    var<int> used = 0;
    std::optional<inplace_stop_callback<std::function<void()>>> itself;
    itself.emplace(source.get_token(), [&] { itself.reset(); });
    thread asks([&] { source.request_stop(); });
    {
        inplace_stop_callback const on_stop(source.get_token(), [&] { ++used; });
    }
    used = used + 1;
}

/// A callback that has run needs its source no more: that may go first, once its request has returned.
void a_callback_that_has_run_may_outlive_its_source() {
    std::optional<inplace_stop_source> source(std::in_place);
    var<int> used = 0;
    auto const use = [&] { ++used; };
    std::optional<inplace_stop_callback<decltype(use)>> on_stop;
    on_stop.emplace(source->get_token(), use);
    model::atomic<bool> is_over = false;
    thread asks([&] {
        source->request_stop();
        source.reset();
        is_over.store(true, std::memory_order_release);
    });
    while (!is_over.load(std::memory_order_acquire)) model::yield();
    on_stop.reset();
    used = used + 1;
}

/// The same callback, destroyed by its owner the moment that it is told, while the request still goes on.
void a_callback_is_destroyed_by_the_thread_that_it_tells() {
    inplace_stop_source source;
    var<int> used = 0;
    model::atomic<bool> is_told = false;
    auto const tell = [&] {
        is_told.store(true, std::memory_order_relaxed);
        ++used;
    };
    std::optional<inplace_stop_callback<decltype(tell)>> on_stop;
    on_stop.emplace(source.get_token(), tell);
    thread asks([&] { source.request_stop(); });
    while (!is_told.load(std::memory_order_relaxed)) model::yield();
    on_stop.reset();
    used = used + 1;
}

std::vector<std::pair<char const*, std::function<void()>>> const bodies{
    {"a destroyed callback is over", a_destroyed_callback_is_over},
    {"a callback runs once", a_callback_runs_once_whether_it_comes_before_or_after_the_stop},
    {"who sees the stop sees what preceded it", who_sees_the_stop_sees_what_preceded_it},
    {"one of two requests is the first", one_of_two_requests_is_the_first},
    {"two callbacks go amid a request", two_callbacks_of_two_threads_go_amid_a_request},
    {"a callback destroys itself", a_callback_may_destroy_itself_while_another_thread_destroys_its_own},
    {"a callback outlives its source", a_callback_that_has_run_may_outlive_its_source},
    {"a callback is destroyed by whom it tells", a_callback_is_destroyed_by_the_thread_that_it_tells},
};

TEST(stop_token, holds_in_every_interleaving) {
    for (auto const& [name, body] : bodies) {
        SCOPED_TRACE(name);
        // A lock that fails without reason is looked at again, which adds runs by the ten thousand and no
        // behaviour.
        auto const found = model::explore({.executions_max = 300'000, .spurious_failures_max = 0}, body);
        EXPECT_EQ(found.failure, "") << found.trace << found.replay;
        EXPECT_TRUE(found.is_complete);
        std::fprintf(stderr, "%s: %llu executions, %llu redundant, %.0f/s\n", name,
                     static_cast<unsigned long long>(found.executions),
                     static_cast<unsigned long long>(found.redundant),
                     static_cast<double>(found.executions) / found.seconds);
    }
}

// The canaries: each order that the token writes is needed, for with any of them relaxed one of the above
// fails.
TEST(stop_token, each_memory_order_is_needed) {
    std::vector<std::function<void()>> all;
    for (auto const& each : bodies) all.push_back(each.second);
    auto const found =
        pitsaw::testing::weaken_each(all, {"stop/inplace_stop_token.hpp", "src/stop/inplace_stop_token.cpp"},
                                     {.executions_max = 20'000, .spurious_failures_max = 0});
    EXPECT_EQ(found.failure, "");
    EXPECT_TRUE(found.unnoticed.empty()) << text_of(found);
    EXPECT_EQ(found.noticed, 10U);
}

} // namespace
