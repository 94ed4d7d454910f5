#include <pitsaw/scope/task_group.hpp>

#include "lifetime_log.hpp"
#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;
using texts = std::vector<std::string>;

namespace {

ps::task<> sleeps(lifetime_log& log, std::string name, ps::duration span) {
    probe const here(log, name);
    co_await ps::sleep(span);
    log.note(name);
}

ps::task<> stops_by_itself() {
    co_await ps::sleep(1ms);
    co_await stops_itself{};
}

template <class T> std::string text_of_end(ps::outcome<T> const& end) {
    if (end.is_stopped()) return "stopped";
    return end.has_exception() ? "exception" : "value";
}

TEST(task_group_stop, an_outer_stop_ends_children_and_body_with_its_reason) {
    observed_runtime world;
    lifetime_log log;
    auto seen = ps::stop_reason::none;
    auto work = [&]() -> ps::task<> {
        probe const outer(log, "outer");
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            probe const body(log, "body");
            group.spawn(sleeps(log, "a", 1h));
            auto child = [&]() -> ps::task<> {
                auto end = co_await ps::as_outcome(ps::sleep(1h));
                seen = end.reason();
            };
            group.spawn(child);
            co_await ps::sleep(1h);
        });
        log.note("never");
    };
    auto end = run_stopped(world.rt, 5ms, work(), ps::stop_reason::peer_gone);
    ASSERT_TRUE(end.is_stopped());
    EXPECT_EQ(end.reason(), ps::stop_reason::peer_gone);
    EXPECT_EQ(seen, ps::stop_reason::peer_gone);
    EXPECT_EQ(log.take(), "~body ~a ~outer");
}

TEST(task_group_stop, a_stop_before_the_start_reaches_each_first_leaf) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            group.spawn(sleeps(log, "a", 1h));
            log.note("body");
            co_return;
        });
    };
    EXPECT_TRUE(run_stopped(world.rt, before_the_start, work()).is_stopped());
    EXPECT_EQ(log.take(), "body ~a");
}

TEST(task_group_stop, delivers_under_an_outer_stop_if_all_had_completed) {
    observed_runtime world;
    auto work = []() -> ps::task<int> {
        int const got = co_await ps::task_group::run([](ps::task_group& group) -> ps::task<int> {
            auto child = []() -> ps::task<> { co_await deaf_sleep(10ms); };
            group.spawn(child());
            co_await deaf_sleep(20ms);
            co_return 4;
        });
        co_return got;
    };
    EXPECT_EQ(run_stopped(world.rt, 5ms, work()).value(), 4);
}

TEST(task_group_stop, its_own_request_ends_the_children_and_delivers) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<int> {
        int got = co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<int> {
            group.spawn(sleeps(log, "a", 1h));
            co_await ps::sleep(1ms);
            group.request_stop();
            log.note("asked");
            co_return 4;
        });
        co_await ps::sleep(1ms); // the outer chain is not stopped
        co_return got;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 4);
    EXPECT_EQ(log.take(), "asked ~a");
    EXPECT_EQ(world.elapsed(), 2ms);
}

TEST(task_group_stop, its_own_request_delivers_a_default_for_a_stopped_body_that_has_one) {
    observed_runtime world;
    auto seen = ps::stop_reason::none;
    auto stop_all = [](ps::task_group& group, ps::stop_reason& why) -> ps::task<> {
        ps::inplace_stop_callback const look(group.get_stop_token(),
                                             [&] { why = group.get_stop_token().reason(); });
        co_await ps::sleep(1ms);
        group.request_stop(ps::stop_reason::peer_gone);
    };
    auto work = [&]() -> ps::task<bool> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            group.spawn(stop_all(group, seen));
            co_await ps::sleep(1h);
        });
        auto result =
            co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<ps::io_result<void>> {
                group.spawn(stop_all(group, seen));
                co_await ps::sleep(1h);
                co_return {};
            });
        co_return result.has_value();
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).value());
    EXPECT_EQ(seen, ps::stop_reason::peer_gone);
    auto without_default = [&]() -> ps::task<> {
        int const got = co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<int> {
            group.spawn(stop_all(group, seen));
            co_await ps::sleep(1h);
            co_return 1;
        });
        ADD_FAILURE() << got;
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, without_default()).is_stopped());
}

// A leaf of another library may stop although nobody asked. The group cannot deliver then, so it waits for nobody.
TEST(task_group_stop, a_child_that_stops_by_itself_stops_the_group) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            group.spawn(stops_by_itself());
            group.spawn(sleeps(log, "a", 1h));
            co_await ps::sleep(1h);
        });
        log.note("never");
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).is_stopped());
    EXPECT_EQ(log.take(), "~a");
    EXPECT_EQ(world.elapsed(), 1ms);
}

TEST(task_group_stop, a_body_that_stops_by_itself_stops_the_group) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&](ps::on_failure policy) -> ps::task<> {
        co_await ps::task_group::run(policy, [&](ps::task_group& group) -> ps::task<> {
            group.spawn(sleeps(log, "a", 1h));
            co_await stops_itself{};
        });
        log.note("never");
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work(ps::on_failure::stop_others)).is_stopped());
    EXPECT_TRUE(ps::sync_wait(world.rt, work(ps::on_failure::keep_others)).is_stopped());
    EXPECT_EQ(log.take(), "~a ~a");
}

TEST(task_group_stop, a_supervisor_outlives_a_child_that_stops_by_itself) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<int> {
        int const got = co_await ps::task_group::run(ps::on_failure::keep_others,
                                                     [&](ps::task_group& group) -> ps::task<int> {
                                                         group.spawn(stops_by_itself());
                                                         group.spawn(sleeps(log, "a", 10ms));
                                                         co_await ps::sleep(5ms);
                                                         co_return 2;
                                                     });
        co_return got;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 2);
    EXPECT_EQ(log.take(), "a ~a");
}

TEST(task_group_stop, a_failure_wins_over_a_stop) {
    observed_runtime world;
    auto throws = []() -> ps::task<> {
        co_await deaf_sleep(10ms);
        throw std::runtime_error("boom");
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            group.spawn(throws());
            co_await ps::sleep(1h);
        });
    };
    auto end = run_stopped(world.rt, 5ms, work());
    ASSERT_TRUE(end.has_exception());
    EXPECT_EQ(text_of(end.exception()), "boom");
}

ps::task<> group_of_sleepers(lifetime_log& log, std::string name) {
    co_await ps::task_group::run([&](ps::task_group& outer) -> ps::task<> {
        probe const here(log, name);
        auto inner = [&]() -> ps::task<> {
            co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
                group.spawn(sleeps(log, name + "1", 1h));
                group.spawn(sleeps(log, name + "2", 1h));
                co_await ps::sleep(2h);
            });
        };
        outer.spawn(inner);
        co_await ps::sleep(3h);
    });
    log.note("never");
}

TEST(task_group_stop, groups_within_groups_within_when_any_all_end_with_the_race) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<std::size_t> {
        auto first = co_await ps::when_any(group_of_sleepers(log, "x"), ps::sleep(5ms));
        log.note("after");
        co_return first.first();
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 1u);
    EXPECT_EQ(log.take(), "~x ~x1 ~x2 after");
    EXPECT_EQ(world.elapsed(), 5ms);
}

// CA19
TEST(task_group_stop, a_task_may_stop_its_runtime_twice_and_pending_timeouts_stop_rather_than_time_out) {
    observed_runtime world;
    texts ends;
    auto child = [&](ps::duration limit) -> ps::task<> {
        auto end = co_await ps::as_outcome(ps::with_timeout(limit, ps::sleep(1h)));
        ends.push_back(text_of_end(end) + " " + std::to_string(static_cast<int>(end.reason())));
    };
    auto stopper = [&]() -> ps::task<> {
        co_await ps::sleep(5ms);
        world.rt.request_stop(ps::stop_reason::shutdown);
        world.rt.request_stop(ps::stop_reason::peer_gone);
    };
    auto work = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& group) -> ps::task<> {
            group.spawn(child, 50ms);
            group.spawn(child, 5ms + 1ns);
            group.spawn(stopper);
            group.spawn(stopper);
            co_return;
        });
    };
    auto end = ps::sync_wait(world.rt, work());
    EXPECT_TRUE(end.has_value()); // both children made data of it, so all completed
    auto const shutdown = "stopped " + std::to_string(static_cast<int>(ps::stop_reason::shutdown));
    EXPECT_EQ(ends, (texts{shutdown, shutdown}));
    EXPECT_EQ(world.elapsed(), 5ms);
}

// ---- Several threads. A helper thread lives through all rounds; each round is one hand-shake.

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

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr int rounds = 10'000;
#else
constexpr int rounds = 30'000;
#endif
#else
constexpr int rounds = 30'000;
#endif

/// A leaf of a bridge's kind: it knows a stop through a callback, which completes it at once, on whichever thread.
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
TEST(task_group_stop, children_that_complete_in_their_stop_callback_end_the_group_that_asked) {
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

// CA7, from another thread: its callbacks complete the children, and the group may end before its call returns.
TEST(task_group_stop, a_request_from_another_thread_may_outlast_the_group) {
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
TEST(task_group_stop, requests_from_two_threads_may_race_with_each_other_and_with_the_end) {
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
TEST(task_group_stop, a_runtime_may_be_stopped_by_several_threads_and_its_own_task_at_once) {
    watchdog const guard;
    second_thread other;
    for (int round = 0; round < rounds / 10; ++round) {
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

TEST(task_group_stop, callbacks_of_its_token_run_on_the_thread_that_asks) {
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
