#include <pitsaw/scope/task_group.hpp>

#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

/// A helper thread that lives through all rounds; each round is one hand-shake.
class second_thread {
  public:
    second_thread() : thread_([this] { serve(); }) {}
    second_thread(second_thread&&) = delete;
    ~second_thread() {
        run(nullptr);
        thread_.join();
    }

    /// Starts `call(context)` there; `wait` waits for its return.
    void run(void (*call)(void*), void* context = nullptr) {
        call_ = call;
        context_ = context;
        turn_.fetch_add(1);
        turn_.notify_one();
    }
    void wait() {
        while (done_.load() != turn_.load()) std::this_thread::yield();
    }

  private:
    void serve() {
        for (unsigned next = 1;; ++next) {
            while (turn_.load() != next) turn_.wait(next - 1);
            if (call_ == nullptr) return;
            call_(context_);
            done_.store(next);
        }
    }

    void (*call_)(void*) = nullptr;
    void* context_ = nullptr;
    std::atomic<unsigned> turn_ = 0;
    std::atomic<unsigned> done_ = 0;
    std::thread thread_;
};

constexpr int rounds = 300;

/// A leaf of a bridge's kind: it knows a stop through a callback, which completes it at once, on whichever
/// thread.
class stops_in_its_callback {
  public:
    stops_in_its_callback() = default;

    [[nodiscard]] std::coroutine_handle<> start(ps::promise_header& header) noexcept {
        header_ = &header;
        on_stop_.emplace(header.env->stop, completes{this});
        return std::noop_coroutine();
    }
    void await_resume() const noexcept {}

  private:
    struct completes {
        stops_in_its_callback* leaf;
        void operator()() const noexcept { leaf->header_->unhandled_stopped(); }
    };

    ps::promise_header* header_ = nullptr;
    std::optional<ps::inplace_stop_callback<completes>> on_stop_;
};

ps::task<> waits_for_a_callback() { co_await stops_in_its_callback(); }

// CA7: every child completes from the stop callback; the last one ends the group, whose frame goes with it.
TEST(task_group_threads, children_that_complete_in_their_stop_callback_end_the_group_that_asked) {
    observed_runtime world;
    for (int round = 0; round < 100; ++round) {
        auto work = []() -> ps::task<> {
            co_await ps::task_group::run([](ps::task_group& group) -> ps::task<> {
                for (int i = 0; i < 10; ++i) group.spawn(waits_for_a_callback());
                co_await ps::sleep(1ms);
                group.request_stop();
            });
            auto first =
                co_await ps::when_any(waits_for_a_callback(), stops_in_its_callback(), ps::sleep(1ms));
            EXPECT_EQ(first.first(), 2u);
        };
        EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    }
}

// CA7, from another thread: its callbacks complete the children, and the group may end before its call
// returns.
TEST(task_group_threads, a_request_from_another_thread_may_outlast_the_group) {
    watchdog const guard;
    observed_runtime world;
    second_thread other;
    for (int round = 0; round < rounds; ++round) {
        std::atomic<ps::task_group*> asked = nullptr;
        auto work = [&]() -> ps::task<> {
            co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
                for (int i = 0; i < round % 4; ++i) group.spawn(waits_for_a_callback());
                asked.store(&group);
                for (;;)
                    co_await ps::this_task::yield(); // alive when the call begins; sees the stop by itself
            });
        };
        other.run(
            [](void* context) {
                auto& shared = *static_cast<std::atomic<ps::task_group*>*>(context);
                ps::task_group* group = nullptr;
                while ((group = shared.load()) == nullptr) std::this_thread::yield();
                group->request_stop();
            },
            &asked);
        auto end = ps::sync_wait(world.rt, work());
        other.wait();
        ASSERT_TRUE(end.has_value());
    }
}

// CA7: the same while the group asks by itself; a portal keeps it alive for the other thread's call.
TEST(task_group_threads, requests_from_two_threads_may_race_with_each_other_and_with_the_end) {
    watchdog const guard;
    observed_runtime world;
    second_thread other;
    struct round_state {
        std::optional<ps::portal> way_in;
        ps::task_group* group = nullptr;
        std::atomic<bool> go = false;
    };
    for (int round = 0; round < rounds; ++round) {
        round_state state;
        auto work = [&]() -> ps::task<> {
            co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
                for (int i = 0; i < round % 4; ++i) group.spawn(waits_for_a_callback());
                state.group = &group;
                state.way_in.emplace(group.open_portal());
                state.go.store(true);
                for (int i = 0; i < round % 7; ++i) co_await ps::this_task::yield();
                group.request_stop();
            });
        };
        other.run(
            [](void* context) {
                auto& shared = *static_cast<round_state*>(context);
                while (!shared.go.load()) std::this_thread::yield();
                shared.group->request_stop();
                shared.way_in.reset();
            },
            &state);
        auto end = ps::sync_wait(world.rt, work());
        other.wait();
        ASSERT_TRUE(end.has_value());
    }
}

// CA7, CA19: two threads stop the runtime at the same time, while its own task does so as well.
TEST(task_group_threads, a_runtime_may_be_stopped_by_several_threads_and_its_own_task_at_once) {
    watchdog const guard;
    second_thread other;
    for (int round = 0; round < rounds / 4; ++round) {
        observed_runtime world;
        struct round_state {
            ps::runtime* rt;
            std::atomic<bool> go = false;
        } state{&world.rt};
        auto work = [&]() -> ps::task<> {
            co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
                for (int i = 0; i < 3; ++i) group.spawn(waits_for_a_callback());
                auto timed = []() -> ps::task<> {
                    (void)co_await ps::with_timeout(1h, stops_in_its_callback());
                };
                group.spawn(timed);
                state.go.store(true);
                for (int i = 0; i < round % 11; ++i) co_await ps::this_task::yield();
                if (round % 2 == 0) world.rt.request_stop();
                co_await stops_in_its_callback();
            });
        };
        other.run(
            [](void* context) {
                auto& shared = *static_cast<round_state*>(context);
                while (!shared.go.load()) std::this_thread::yield();
                shared.rt->request_stop(ps::stop_reason::peer_gone);
            },
            &state);
        auto end = ps::sync_wait(world.rt, work());
        other.wait();
        ASSERT_TRUE(end.is_stopped());
    }
}

TEST(task_group_threads, callbacks_of_its_token_run_on_the_thread_that_asks) {
    observed_runtime world;
    auto const here = std::this_thread::get_id();
    std::vector<bool> ran_here;
    auto work = [&](bool from_another_thread) -> ps::task<> {
        co_await ps::task_group::run([&, from_another_thread](ps::task_group& group) -> ps::task<> {
            ps::inplace_stop_callback const look(
                group.get_stop_token(), [&] { ran_here.push_back(std::this_thread::get_id() == here); });
            if (from_another_thread) {
                std::jthread([&] { group.request_stop(); }).join();
            } else {
                group.request_stop();
            }
            co_await ps::sleep(1h);
        });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work(false)).has_value());
    EXPECT_TRUE(ps::sync_wait(world.rt, work(true)).has_value());
    EXPECT_EQ(ran_here, (std::vector<bool>{true, false}));
    EXPECT_EQ(world.elapsed(), 0ms);
}

} // namespace
