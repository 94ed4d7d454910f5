// Several workers on each driver: shutdowns at any moment, a worker that is held up, a server on each.
#include "observed_runtime.hpp"
#include "stream_pair.hpp"
#include "stress/random_stops.hpp"
#include "workers.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using ps::testing::random_time;

namespace {

using result = ps::task<ps::io_result<void>>;

class many_workers : public ::testing::TestWithParam<ps::testing::driver_name> {
  protected:
    [[nodiscard]] static ps::runtime::driver_maker a_driver_for_each(std::uint64_t seed = 1) {
        return [which = GetParam(), seed](std::uint32_t number) {
            return ps::testing::make_driver(which, seed + number);
        };
    }
    ps::testing::watchdog const guard_;
};

struct balance {
    std::atomic<long> begun = 0;
    std::atomic<long> gone = 0;
    std::atomic<long> cleaned = 0;
    std::atomic<long> owed = 0;
};

class counted_here {
  public:
    explicit counted_here(balance& in) : in_(in), home_(std::this_thread::get_id()) { ++in_.begun; }
    counted_here(counted_here&&) = delete;
    ~counted_here() {
        if (home_ == std::this_thread::get_id()) ++in_.gone; // where it was made, or it is missed
    }

  private:
    balance& in_;
    std::thread::id home_;
};

ps::task<> pays(balance* books) {
    co_await ps::this_task::yield();
    ++books->cleaned;
}

ps::task<> busy(balance& books, std::uint32_t kind, std::uint32_t levels, std::uint32_t worker);

ps::task<> waits_somewhere(balance& books, std::uint32_t const kind) {
    counted_here const local(books);
    if (kind % 5 == 0) {
        ++books.owed;
        co_await ps::at_exit(pays, &books);
    }
    if (kind % 3 == 0) {
        auto const links = co_await ps::testing::connect_pair();
        if (!links.has_value()) co_return;
        auto from = std::move(const_cast<ps::tcp_stream&>(links->server));
        (void)co_await from.receive();
    } else if (kind % 3 == 1) {
        for (;;) co_await ps::sleep(100us);
    } else {
        for (;;) co_await ps::this_task::yield();
    }
}

/// A tree of children on all workers, whose leaves wait for a connection, a timer or a turn.
ps::task<> busy(balance& books, std::uint32_t const kind, std::uint32_t const levels,
                std::uint32_t const worker) {
    counted_here const local(books);
    if (levels == 0) co_return co_await waits_somewhere(books, kind);
    auto const all = (co_await ps::this_task::get_environment()).executor.workers();
    auto body = [&](ps::task_group& group) -> ps::task<> {
        auto child = [&books](std::uint32_t of, std::uint32_t below, std::uint32_t on) {
            return busy(books, of, below, on);
        };
        for (std::uint32_t i = 1; i <= 3; ++i) {
            auto const on = (worker + i) % static_cast<std::uint32_t>(all.size());
            if (i == 3)
                group.spawn_anywhere(child, kind * 3 + i, levels - 1, on);
            else
                group.spawn_on(*all[on], child, kind * 3 + i, levels - 1, on);
        }
        auto const next = (worker + 1) % static_cast<std::uint32_t>(all.size());
        co_await ps::with_executor(*all[next], child, kind, 0u, next);
    };
    co_await ps::task_group::run(body);
}

// LW8, CA19: everything stops, is destroyed where it was made, and the runtime ends.
TEST_P(many_workers, a_shutdown_at_any_moment_ends_all_that_runs_on_each) {
    auto const base = ps::testing::stress_seed(51);
    for (std::uint64_t seed = base; seed < base + 60; ++seed) {
        SCOPED_TRACE(ps::testing::say_seed(seed));
        ps::random_source random(seed);
        auto const moment = random_time(random, 3ms);
        balance books;
        {
            auto options = ps::testing::workers(4);
            if (seed % 2 == 0) options.scheduling = ps::scheduling::stealing;
            ps::runtime rt(a_driver_for_each(seed), std::move(options));
            std::jthread const stopper([&] {
                std::this_thread::sleep_for(moment);
                rt.request_stop(ps::stop_reason::shutdown);
            });
            auto const end = ps::sync_wait(rt, busy(books, 1, 3, 0));
            EXPECT_TRUE(end.is_stopped());
        }
        EXPECT_EQ(books.gone, books.begun);
        EXPECT_EQ(books.cleaned, books.owed);
    }
}

// LW9: a worker that is held up holds up nobody else.
TEST_P(many_workers, one_that_is_held_up_leaves_the_timers_and_connections_of_others_alone) {
    ps::runtime rt(a_driver_for_each(), ps::testing::workers(2));
    std::atomic<bool> others_have_gone_on = false;
    std::atomic<bool> is_held_up = false;
    auto holds_up = [&]() -> ps::task<> {
        is_held_up = true;
        while (!others_have_gone_on) std::this_thread::yield(); // no await: its worker does nothing else
        co_return;
    };
    auto work = [&]() -> result {
        auto body = [&](ps::task_group& group) -> result {
            group.spawn_on(rt.get_executor(1), holds_up);
            while (!is_held_up) co_await ps::sleep(100us);
            auto links = co_await ps::or_return(ps::testing::connect_pair());
            for (int i = 0; i < 30; ++i) {
                co_await ps::sleep(1ms);
                co_await ps::or_return(links.client.send_all(ps::testing::bytes_of("tick")));
                auto const chunk = co_await ps::or_return(links.server.receive());
                EXPECT_FALSE(chunk.empty());
            }
            others_have_gone_on = true;
            co_return {};
        };
        co_return co_await ps::task_group::run(body);
    };
    auto const end = ps::sync_wait(rt, work());
    ASSERT_TRUE(end.has_value());
    EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
}

result echoes(ps::tcp_stream peer) {
    for (;;) {
        auto const chunk = co_await ps::or_return(peer.receive());
        if (chunk.empty()) co_return {};
        co_await ps::or_return(peer.send_all(chunk));
    }
}

ps::task<ps::io_result<bool>> is_answered(ps::endpoint at) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
    for (std::string_view const text : {"one", "another"}) {
        co_await ps::or_return(peer.send_all(ps::testing::bytes_of(text)));
        std::size_t got = 0;
        while (got < text.size()) {
            auto const chunk = co_await ps::or_return(peer.receive());
            if (chunk.empty()) co_return false;
            got += chunk.size();
        }
    }
    co_return true;
}

class servers : public many_workers {};

TEST_P(servers, with_a_listener_on_each_worker_every_client_is_served) {
    ps::runtime rt(a_driver_for_each(), ps::testing::workers(3));
    std::atomic<int> answered = 0;
    constexpr int clients_of_each = 40;
    auto work = [&]() -> result {
        ps::tcp_listener_options shared;
        shared.reuse_port = true;
        auto first = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0), shared));
        auto const at = co_await ps::or_return(first.local_endpoint());
        std::atomic<int> listening = 0;
        auto serves = [&, at](std::uint32_t number) -> result {
            std::optional<ps::tcp_listener> own;
            if (number != 0) own.emplace(co_await ps::or_return(ps::tcp_listener::bind(at, shared)));
            auto& listener = number == 0 ? first : *own;
            ++listening;
            auto accepts = [&](ps::task_group& group) -> result {
                for (;;) group.spawn(echoes(co_await ps::or_return(listener.accept())));
            };
            co_return co_await ps::task_group::run(ps::on_failure::keep_others, accepts);
        };
        auto asks = [&, at](std::uint32_t) -> result {
            for (int i = 0; i < clients_of_each; ++i)
                answered += co_await ps::or_return(is_answered(at)) ? 1 : 0;
            co_return {};
        };
        auto body = [&](ps::task_group& group) -> result {
            auto everywhere = [&]() -> result { co_return co_await ps::on_each_worker(serves); };
            group.spawn(everywhere);
            while (listening != 3) co_await ps::sleep(1ms);
            auto const end = co_await ps::on_each_worker(asks);
            group.request_stop();
            co_return end;
        };
        co_return co_await ps::task_group::run(body);
    };
    auto const end = ps::sync_wait(rt, work());
    ASSERT_TRUE(end.has_value());
    EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
    EXPECT_EQ(answered, 3 * clients_of_each);
}

INSTANTIATE_TEST_SUITE_P(drivers, many_workers, ps::testing::every_driver(), ps::testing::name_of_driver);
INSTANTIATE_TEST_SUITE_P(drivers, servers, ps::testing::real_drivers(), ps::testing::name_of_driver);

} // namespace
