#include "model/weakened.hpp"

#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/model/explore.hpp>
#include <pitsaw/scope/away_chain.hpp>

#include <gtest/gtest.h>

#include <coroutine>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

// A chain that any worker may take, a stop that goes after it, and its end (scope/away_chain.hpp).

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using model::require;
using model::thread;
using model::var;

/// An executor without a loop, whose offers are taken by whoever is first.
class offering_executor final : public executor {
  public:
    offering_executor() = default;
    ~offering_executor() { wait_for_posters(); }

    [[nodiscard]] auto now() const noexcept -> time_point override { return time_point(); }
    void lost_error(std::exception_ptr) noexcept override {}
    void log(std::string_view) noexcept override {}
    [[nodiscard]] auto find_buffers() noexcept -> buffer_pool* override { return nullptr; }
    void offer(continuation& to) noexcept override { offered_.store(&to, std::memory_order_release); }

    /// Whether the caller has taken what `from` offers; then it is ready here.
    bool take_from(offering_executor& from) {
        auto* const taken = from.offered_.exchange(nullptr, std::memory_order_acq_rel);
        if (taken != nullptr) ready.push(*taken, resume_as::callback);
        return taken != nullptr;
    }

    void run_callbacks() {
        for (auto& inbox : inboxes_)
            inbox.take_all([this](continuation& node, std::uintptr_t const how) noexcept {
                ready.push(node, static_cast<resume_as>(how));
            });
        while (!ready.empty()) ready.pop().next->handle().resume();
    }

  private:
    void wake() noexcept override {}
    void on_watched_suspended(continuation&) noexcept override {}
    void on_watched_completed(continuation&) noexcept override {}

    model::atomic<continuation*> offered_ = nullptr;
};

/// A chain that waits for a stop, or ends by itself.
class away_by_hand final : public away_chain {
  public:
    enum class ends : std::uint8_t { when_stopped, by_itself };

    explicit away_by_hand(ends how) : how_(how) {}

    void depart_from(environment const& home, promise_header& by) { depart_anywhere(home, by); }
    void stop() {
        stop_bit_.store(true, std::memory_order_relaxed); // the protocol has to make it seen
        ask(*this);
    }
    [[nodiscard]] bool is_back() const { return is_back_; }

    var<int> ended_there = 0;

  private:
    struct frame {
        void (*resume)(void*) = start;
        void (*destroy)(void*) = nullptr;
        promise_header header;
        away_by_hand& of;
        explicit frame(away_by_hand& chain) : of(chain) {}

        static void start(void* self) {
            auto& at = *static_cast<frame*>(self);
            at.resume = finish;
            bool const is_stopped = at.of.stop_bit_.load(std::memory_order_relaxed);
            if (is_stopped || at.of.how_ == ends::by_itself) return finish(self);
            at.header.edge->waiting = &at.of.leaf_;
        }
        static void finish(void* self) {
            auto& header = static_cast<frame*>(self)->header;
            header.edge->waiting = nullptr;
            header.edge->child_ended(*header.edge, header, ending::value).resume();
        }
    };
    struct leaf : waiter {
        explicit leaf(away_by_hand& chain) noexcept : waiter(asked), of(chain) {}
        away_by_hand& of;
        static void asked(waiter& self) noexcept {
            auto& header = static_cast<leaf&>(self).of.frame_.header;
            header.edge->waiting = nullptr;
            header.env->executor->ready.push(header, resume_as::callback);
        }
    };

    promise_header* make() noexcept override { return &frame_.header; }
    void clear(promise_header*) noexcept override { ++ended_there; }
    std::coroutine_handle<> returned(ending) noexcept override {
        require(ended_there == 1, "what has ended there is seen at home");
        is_back_ = true;
        return std::noop_coroutine();
    }

    ends const how_;
    model::atomic<bool> stop_bit_ = false;
    frame frame_{*this};
    leaf leaf_{*this};
    bool is_back_ = false; // home only
};

/// Home may take it too, where it `competes`; asks for a stop, and goes on until the chain is back.
template <away_by_hand::ends How, bool Competes> void a_stop_meets_who_takes_it_and_its_end() {
    offering_executor home;
    offering_executor there;
    model::atomic<bool> is_over = false;
    promise_header above;
    environment env;
    env.executor = home;
    exchange_current_executor(&home);
    away_by_hand chain(How);
    chain.depart_from(env, above);
    thread other([&] {
        exchange_current_executor(&there);
        bool goes_on = there.take_from(home);
        while (goes_on) {
            there.run_callbacks();
            goes_on = !is_over.load(std::memory_order_relaxed);
            if (goes_on) model::yield();
        }
        exchange_current_executor(nullptr);
    });
    if (Competes && home.take_from(home)) home.run_callbacks();
    chain.stop();
    for (;;) {
        home.run_callbacks();
        if (chain.is_back()) break;
        model::yield();
    }
    is_over.store(true, std::memory_order_relaxed);
    other.join();
    require(home.away == 0 && there.away == 0, "nothing is on its way any more");
    exchange_current_executor(nullptr);
}

using ends = away_by_hand::ends;
std::vector<std::pair<char const*, std::function<void()>>> const bodies{
    {"a stop meets who takes it", a_stop_meets_who_takes_it_and_its_end<ends::when_stopped, false>},
    {"a stop, and home takes it perhaps", a_stop_meets_who_takes_it_and_its_end<ends::when_stopped, true>},
    {"a stop meets its end", a_stop_meets_who_takes_it_and_its_end<ends::by_itself, false>},
};

constexpr std::uint32_t preemptions = 3;

TEST(away_chain, its_stop_is_never_lost_and_it_comes_back_once) {
    for (auto const& [name, body] : bodies) {
        SCOPED_TRACE(name);
        auto const found = model::explore(
            {.preemptions_max = preemptions, .executions_max = 400'000, .spurious_failures_max = 0}, body);
        EXPECT_EQ(found.failure, "") << found.trace << found.replay;
        EXPECT_TRUE(found.is_complete);
        std::fprintf(stderr, "%s: %llu executions, %.1f s\n", name,
                     static_cast<unsigned long long>(found.executions), found.seconds);
    }
}

TEST(away_chain, each_memory_order_is_needed) {
    std::vector<std::function<void()>> all;
    for (auto const& each : bodies) all.push_back(each.second);
    auto const found =
        weaken_each(all, {"src/scope/away_chain.cpp"},
                    {.preemptions_max = preemptions, .executions_max = 50'000, .spurious_failures_max = 0});
    EXPECT_EQ(found.failure, "");
    EXPECT_TRUE(found.unnoticed.empty()) << text_of(found);
    EXPECT_EQ(found.noticed, 2U);
}

} // namespace
