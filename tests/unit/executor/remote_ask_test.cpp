#include <pitsaw/executor/remote_ask.hpp>

#include "bare_executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;

struct scope_by_hand {
    remote_ask ask{arrived, this};
    std::string seen;
    static void arrived(void* owner, bool is_closed) noexcept {
        static_cast<scope_by_hand*>(owner)->seen += is_closed ? "end" : "ask";
    }
};

// Each order in which begin, send, the arrival and close can happen, as the table in remote_ask.hpp has it.
TEST(remote_ask, never_asked_it_may_close_at_once) {
    scope_by_hand scope;
    EXPECT_TRUE(scope.ask.close());
    EXPECT_FALSE(scope.ask.begin());
    EXPECT_EQ(scope.seen, "");
}

TEST(remote_ask, arrives_then_closes) {
    bare_executor worker;
    scope_by_hand scope;
    EXPECT_TRUE(scope.ask.begin());
    scope.ask.send(worker);
    worker.run_callbacks();
    EXPECT_EQ(scope.seen, "ask");
    EXPECT_FALSE(scope.ask.begin());
    EXPECT_TRUE(scope.ask.close());
    EXPECT_FALSE(scope.ask.begin());
}

TEST(remote_ask, closed_while_the_node_is_on_its_way_its_arrival_ends_the_scope) {
    bare_executor worker;
    scope_by_hand scope;
    EXPECT_TRUE(scope.ask.begin());
    scope.ask.send(worker);
    EXPECT_FALSE(scope.ask.close());
    worker.run_callbacks();
    EXPECT_EQ(scope.seen, "end");
}

TEST(remote_ask, closed_between_begin_and_send_its_arrival_ends_the_scope) {
    bare_executor worker;
    scope_by_hand scope;
    EXPECT_TRUE(scope.ask.begin());
    EXPECT_FALSE(scope.ask.close());
    EXPECT_FALSE(scope.ask.begin());
    scope.ask.send(worker);
    worker.run_callbacks();
    EXPECT_EQ(scope.seen, "end");
}

TEST(remote_ask, only_the_first_of_many_sends) {
    scope_by_hand scope;
    EXPECT_TRUE(scope.ask.begin());
    EXPECT_FALSE(scope.ask.begin());
}

// The model under real threads: the scope goes exactly once, by whoever comes second, and nobody touches it
// then.
struct owned_scope {
    remote_ask ask{arrived, this};
    int& ended;
    int& asked;
    owned_scope(int& ends, int& asks) : ended(ends), asked(asks) {}
    static void arrived(void* owner, bool is_closed) noexcept {
        auto* const self = static_cast<owned_scope*>(owner);
        ++(is_closed ? self->ended : self->asked);
        if (is_closed) delete self;
    }
    void end() {
        if (!ask.close()) return;
        ++ended;
        delete this;
    }
};

TEST(remote_ask, races_with_the_end_of_its_scope) {
    constexpr int rounds = 20'000;
    int ended = 0;
    int asked = 0;
    std::atomic<owned_scope*> next = nullptr;
    std::atomic<int> started = 0;
    bare_executor worker;
    std::thread asker([&] {
        for (int i = 0; i < rounds; ++i) {
            owned_scope* scope = nullptr;
            while ((scope = next.exchange(nullptr)) == nullptr) next.wait(nullptr);
            bool const is_first = scope->ask.begin();
            started = i + 1; // from here on the owner may close
            started.notify_one();
            if (is_first) scope->ask.send(worker);
        }
    });
    exchange_current_executor(&worker);
    for (int i = 1; i <= rounds; ++i) {
        auto* const scope = new owned_scope(ended, asked);
        next = scope;
        next.notify_one();
        for (int seen = started; seen < i; seen = started) started.wait(seen);
        if (i % 2 == 0) worker.run_callbacks();
        scope->end();
        while (ended < i) worker.run_callbacks();
    }
    exchange_current_executor(nullptr);
    asker.join();
    EXPECT_EQ(ended, rounds);
}

} // namespace
