// A shutdown meets a hundred thousand suspended tasks, in chains of up to 200 with scopes and clean-ups on
// their way: all end, every destructor runs, and a stack of 1 MiB is enough.
#include "stream_pair.hpp"
#include "stress/random_stops.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include <pthread.h>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::random_time;

namespace {

using result = ps::task<ps::io_result<void>>;

constexpr int tasks_in_all = 100'000;
constexpr int levels_max = 200;
constexpr auto for_ever = ps::duration::max(); // so that no simulated time passes before the stop
constexpr std::size_t stack_bytes = std::size_t{1} << 20;
constexpr std::size_t connections = 32;

struct shutdown_books {
    explicit shutdown_books(std::uint64_t seed) : random(seed) {}
    ps::random_source random;
    long begun = 0, gone = 0; // locals of tasks
    long owed = 0, paid = 0;  // clean-ups
    long went_on = 0;         // past a leaf that nobody ends but the stop
    std::atomic<bool> all_wait = false;
    std::vector<ps::testing::stream_pair> links; // whose clients are silent
};

class counted_local {
  public:
    explicit counted_local(shutdown_books& in) : in_(in) { ++in_.begun; }
    counted_local(counted_local&&) = delete;
    ~counted_local() { ++in_.gone; }

  private:
    shutdown_books& in_;
};

/// What the last of a chain waits for.
ps::task<> wait_for_ever(shutdown_books& books) {
    counted_local const local(books);
    auto const what = books.random.below(10);
    if (what < 2) {
        auto const& link = books.links[books.random.below(books.links.size())];
        auto& from = const_cast<ps::tcp_stream&>(link.server);
        std::array<std::byte, 16> into{};
        if (what == 0)
            (void)co_await from.receive(into);
        else
            (void)co_await from.receive();
    } else {
        co_await ps::sleep(for_ever);
    }
    ++books.went_on;
}

ps::task<> pay(shutdown_books* books) {
    ++books->paid;
    co_return;
}
ps::task<> pay_later(shutdown_books* books) {
    co_await ps::sleep(1us);
    ++books->paid;
}

ps::task<> hang(shutdown_books& books, int level);

ps::task<> hang_in_a_group(shutdown_books& books, int level) {
    auto const body = [&books, level](ps::task_group& group) -> ps::task<> {
        group.spawn(hang(books, level));
        co_return;
    };
    co_await ps::task_group::run(body);
}

/// One more level of a chain: mostly a task that awaits a task.
ps::task<> hang(shutdown_books& books, int level) {
    counted_local const local(books);
    auto const how = books.random.below(40);
    if (how < 2) {
        ++books.owed;
        if (how == 0)
            co_await ps::at_exit(pay, &books);
        else
            co_await ps::at_exit(pay_later, &books);
    }
    if (level == 0)
        co_await wait_for_ever(books);
    else if (how == 2)
        (void)co_await ps::with_timeout(for_ever, hang(books, level - 1));
    else if (how == 3)
        (void)co_await ps::when_any(hang(books, level - 1), ps::sleep(for_ever));
    else if (how == 4)
        (void)co_await ps::when_all(ps::sleep(for_ever), hang(books, level - 1));
    else if (how == 5)
        (void)co_await ps::as_outcome(hang(books, level - 1));
    else if (how == 6)
        co_await hang_in_a_group(books, level - 1);
    else
        co_await hang(books, level - 1);
}

/// Starts chains until `tasks` wait, then says so.
result hang_all(shutdown_books& books, int tasks) {
    for (std::size_t i = 0; i < connections; ++i)
        books.links.push_back(co_await ps::or_return(ps::testing::connect_pair()));
    auto const body = [&books, tasks](ps::task_group& all) -> result {
        for (int left = tasks; left > 0;) {
            auto const levels = std::min(left, 1 + static_cast<int>(books.random.below(levels_max)));
            all.spawn(hang(books, levels - 1));
            left -= levels;
        }
        books.all_wait = true;
        co_await ps::sleep(for_ever);
        co_return {};
    };
    co_return co_await ps::task_group::run(body);
}

/// On a thread with so much stack, and no more.
template <class Body> void run_on_a_small_stack(Body body) {
    pthread_attr_t attributes;
    ASSERT_EQ(::pthread_attr_init(&attributes), 0);
    ASSERT_EQ(::pthread_attr_setstacksize(&attributes, stack_bytes), 0);
    pthread_t thread;
    auto const start = [](void* of) -> void* {
        try {
            (*static_cast<Body*>(of))();
        } catch (std::exception const& error) {
            ADD_FAILURE() << error.what(); // no driver, perhaps
        }
        return nullptr;
    };
    ASSERT_EQ(::pthread_create(&thread, &attributes, start, &body), 0);
    ::pthread_join(thread, nullptr);
    ::pthread_attr_destroy(&attributes);
}

void expect_stopped(ps::outcome<ps::io_result<void>> end) {
    EXPECT_TRUE(end.is_stopped());
    if (end.has_value()) {
        EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
    }
}

void expect_balance(shutdown_books const& books) {
    EXPECT_EQ(books.gone, books.begun);
    EXPECT_EQ(books.paid, books.owed);
    EXPECT_EQ(books.went_on, 0);
}

class shutdown : public ::testing::TestWithParam<ps::testing::driver_name> {
  protected:
    [[nodiscard]] static bool is_simulated() { return std::string_view(GetParam().name) == "sim"; }
};

TEST_P(shutdown, at_a_random_moment_ends_a_hundred_thousand_suspended_tasks) { // LW8, CA19
    auto const seed = ps::testing::stress_seed(41);
    SCOPED_TRACE(ps::testing::say_seed(seed));
    run_on_a_small_stack([seed] {
        shutdown_books books(seed);
        auto const moment = random_time(books.random, 20ms);
        std::atomic<std::int64_t> asked_at = 0;
        auto const now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
        {
            ps::runtime rt(ps::testing::make_driver(GetParam(), seed));
            std::jthread const stopper([&] {
                while (!books.all_wait) std::this_thread::yield();
                std::this_thread::sleep_for(moment);
                asked_at = now();
                rt.request_stop(ps::stop_reason::shutdown);
            });
            expect_stopped(ps::sync_wait(rt, hang_all(books, tasks_in_all)));
            books.all_wait = true; // it may have failed before
            books.links.clear();
        }
        auto const took = std::chrono::nanoseconds(now() - asked_at);
        EXPECT_GE(books.begun, tasks_in_all);
        expect_balance(books);
        std::printf("%ld tasks ended within %.3f s\n", books.begun,
                    std::chrono::duration<double>(took).count());
    });
}

TEST_P(shutdown, in_the_middle_of_a_start_ends_what_waits_and_what_does_not_yet) { // LW8, CA19
    auto const base = ps::testing::stress_seed(42);
    for (std::uint64_t seed = base; seed < base + 30; ++seed) {
        SCOPED_TRACE(ps::testing::say_seed(seed));
        run_on_a_small_stack([seed] {
            shutdown_books books(seed);
            auto const moment = random_time(books.random, 3ms);
            {
                ps::runtime rt(ps::testing::make_driver(GetParam(), seed));
                std::jthread const stopper([&] {
                    std::this_thread::sleep_for(moment);
                    rt.request_stop(ps::stop_reason::shutdown);
                });
                expect_stopped(ps::sync_wait(rt, hang_all(books, tasks_in_all / 20)));
                books.links.clear();
            }
            expect_balance(books);
        });
    }
}

INSTANTIATE_TEST_SUITE_P(drivers, shutdown, ps::testing::every_driver(), ps::testing::name_of_driver);

} // namespace
