#include "model/weakened.hpp"

#include "bare_executor.hpp"

#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/executor/remote_ask.hpp>
#include <pitsaw/model/explore.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

// A stop that meets the end of its scope (executor/remote_ask.hpp), and a post that ends the executor it is
// made to (executor/executor_ref.hpp), as shipped.

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using model::require;
using model::thread;
using model::var;

class on_this_thread {
  public:
    explicit on_this_thread(executor& worker) { exchange_current_executor(&worker); }
    on_this_thread(on_this_thread const&) = delete;
    ~on_this_thread() { exchange_current_executor(nullptr); }
};

/// A scope that goes when it has ended and no node is on its way to it.
struct scope_by_hand {
    remote_ask ask{arrived, this};
    std::unique_ptr<scope_by_hand>& owner;
    var<int> asked = 0;

    explicit scope_by_hand(std::unique_ptr<scope_by_hand>& of) : owner(of) {}
    static void arrived(void* self, bool is_closed) noexcept {
        auto& scope = *static_cast<scope_by_hand*>(self);
        ++scope.asked;
        if (is_closed) scope.owner.reset();
    }
};

/// CA: of "the scope has ended" and "the stop has arrived" whichever comes second ends the scope, once, and
/// nobody touches it then. `Askers` ask at a time; the scope lives at least until each of them has begun.
enum class when { after_all_have_begun, before };
template <int Askers, when Closes> void a_stop_meets_the_end_of_its_scope() {
    bare_executor worker;
    on_this_thread const here(worker);
    std::unique_ptr<scope_by_hand> scope;
    scope = std::make_unique<scope_by_hand>(scope);
    auto& ask = scope->ask;
    model::atomic<int> begun = 0;
    auto const stop = [&] {
        bool const is_first = ask.begin();
        begun.fetch_add(1, std::memory_order_relaxed); // orders nothing: the bits of `ask` have to
        if (is_first) ask.send(worker);
    };
    thread a(stop);
    std::optional<thread> b;
    if (Askers == 2) b.emplace(stop);
    auto const wait_for_askers = [&] {
        while (begun.load(std::memory_order_relaxed) != Askers) {
            if (Closes == when::after_all_have_begun) worker.run_callbacks(); // it may arrive here
            model::yield();
        }
    };
    if (Closes == when::after_all_have_begun) wait_for_askers();
    bool const is_over = scope->ask.close();
    if (Closes == when::before) wait_for_askers();
    if (is_over &&
        Closes == when::before) { // nothing is on its way, and nothing keeps the scope for who is late
        a.join();
        if (b) b->join();
    }
    if (is_over) scope.reset();
    while (scope != nullptr) { // or here
        worker.run_callbacks();
        if (scope != nullptr) model::yield();
    }
}

/// The same while others still begin: who comes too late sends nothing.
void a_stop_that_comes_after_the_end_sends_nothing() {
    bare_executor worker;
    on_this_thread const here(worker);
    std::unique_ptr<scope_by_hand> kept;
    kept = std::make_unique<scope_by_hand>(kept);
    auto& ask = kept->ask;
    bool has_sent = false;
    bool is_over = false;
    {
        thread a([&] {
            if (!ask.begin()) return;
            has_sent = true;
            ask.send(worker);
        });
        is_over = ask.close();
    }
    worker.run_callbacks(); // ends it if it was on its way
    require(is_over != has_sent, "either the scope has ended before, or the node ends it");
    if (kept != nullptr) kept.reset();
}

struct callback {
    void (*resume)(void*) noexcept;
    void (*destroy)(void*) noexcept = nullptr;
    continuation node;
    var<int>* runs;
};

/// What a thread posts is run with all that preceded it; the executor may go as soon as it has run.
template <int Posters> void the_last_post_ends_the_executor() {
    var<int> runs = 0;
    auto const run = [](void* self) noexcept { ++*static_cast<callback*>(self)->runs; };
    std::vector<std::unique_ptr<callback>> callbacks;
    for (int i = 0; i < Posters; ++i)
        callbacks.push_back(std::unique_ptr<callback>(new callback{run, nullptr, {}, &runs}));
    std::optional<bare_executor> worker(std::in_place);
    std::vector<std::unique_ptr<thread>> threads;
    for (auto const& each : callbacks)
        threads.push_back(std::make_unique<thread>(
            [&worker, &each] { worker->post_from_any_thread(each->node, resume_as::callback); }));
    {
        on_this_thread const here(*worker);
        while (runs != Posters) {
            auto const before = runs.read();
            worker->run_callbacks();
            if (runs == before) model::yield();
        }
    }
    worker.reset(); // its destructor waits for posters
}

std::vector<std::pair<char const*, std::function<void()>>> const bodies{
    {"a stop meets the end", a_stop_meets_the_end_of_its_scope<1, when::after_all_have_begun>},
    {"two stops meet the end", a_stop_meets_the_end_of_its_scope<2, when::after_all_have_begun>},
    {"a stop comes late", a_stop_meets_the_end_of_its_scope<1, when::before>},
    {"two stops come late", a_stop_meets_the_end_of_its_scope<2, when::before>},
    {"a stop comes after the end", a_stop_that_comes_after_the_end_sends_nothing},
    {"a post ends the executor", the_last_post_ends_the_executor<1>},
    {"two posts end the executor", the_last_post_ends_the_executor<2>},
};

TEST(executor_protocols, hold_in_every_interleaving) {
    for (auto const& [name, body] : bodies) {
        SCOPED_TRACE(name);
        auto const found = model::explore({.executions_max = 300'000, .spurious_failures_max = 0}, body);
        EXPECT_EQ(found.failure, "") << found.trace << found.replay;
        EXPECT_TRUE(found.is_complete);
        std::fprintf(stderr, "%s: %llu executions, %llu redundant, %.0f/s\n", name,
                     static_cast<unsigned long long>(found.executions),
                     static_cast<unsigned long long>(found.redundant),
                     static_cast<double>(found.executions) / found.seconds);
    }
}

TEST(executor_protocols, each_memory_order_is_needed) {
    std::vector<std::function<void()>> all;
    for (auto const& each : bodies) all.push_back(each.second);
    auto const found = weaken_each(
        all, {"executor/remote_ask.hpp", "src/executor/remote_ask.cpp", "src/executor/executor_ref.cpp"},
        {.executions_max = 20'000, .spurious_failures_max = 0});
    EXPECT_EQ(found.failure, "");
    EXPECT_TRUE(found.unnoticed.empty()) << text_of(found);
    EXPECT_EQ(found.noticed, 5U);
}

} // namespace
