// Connections that go to other workers.
#include "each_driver.hpp"
#include "observed_runtime.hpp"
#include "workers.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace ps = pitsaw;
using namespace ps::testing;
using namespace std::chrono_literals;

namespace {

using result = ps::task<ps::io_result<void>>;

std::span<std::byte const> bytes_of(std::string_view const text) { return std::as_bytes(std::span(text)); }

std::size_t open_descriptors() {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                                  std::filesystem::directory_iterator()));
}

struct connected {
    ps::tcp_stream one;
    ps::tcp_stream other;
};

ps::task<ps::io_result<connected>> connect() {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    auto both = co_await ps::or_return(ps::when_all(ps::tcp_stream::connect(at), listener.accept()));
    auto& [one, other] = both;
    co_return connected{std::move(one), std::move(other)};
}

/// Answers what comes with the same, until the peer has finished.
result echo(ps::tcp_stream peer) {
    for (;;) {
        auto chunk = co_await ps::or_return(peer.receive());
        if (chunk.empty()) co_return {};
        co_await ps::or_return(peer.send_all(chunk));
    }
}

class streams_in_transit : public on_a_driver {
  protected:
    streams_in_transit() {
        options_ = workers(2);
        options_.scheduling = ps::scheduling::stealing;
    }

    /// Runs `body`, and expects that nothing it opened is open behind it.
    template <class Body> void run_on_two(Body const body) {
        watchdog const guard;
        auto const before = open_descriptors();
        {
            ps::runtime rt([](std::uint32_t) { return make_driver(GetParam()); }, options_);
            auto const end = ps::sync_wait(rt, body(*rt.get_executor(1)));
            ASSERT_TRUE(end.has_value());
            EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
        }
        EXPECT_EQ(open_descriptors(), before);
    }

    ps::runtime_options options_;
};

TEST_P(streams_in_transit, a_child_elsewhere_goes_on_with_the_connection) {
    run_on_two([](ps::executor& there) -> result {
        auto both = co_await ps::or_return(connect());
        co_await ps::or_return(both.one.send_all(bytes_of("before"))); // it is there when the stream leaves
        auto const talks = [&](ps::task_group& group) -> result {
            group.spawn_on(there, echo, std::move(both.other));
            EXPECT_FALSE(both.other); // it has left
            std::string got;
            while (got.size() < 11) {
                auto const chunk = co_await ps::or_return(both.one.receive());
                if (got.empty()) co_await ps::or_return(both.one.send_all(bytes_of("after")));
                for (auto const each : chunk.bytes()) got += static_cast<char>(each);
            }
            EXPECT_EQ(got, "beforeafter");
            co_await ps::or_return(both.one.shutdown_send());
            co_return {};
        };
        co_return co_await ps::task_group::run(talks);
    });
}

TEST_P(streams_in_transit, one_of_many_goes_to_whoever_takes_it) {
    run_on_two([](ps::executor&) -> result {
        auto const talks = [&](ps::task_group& group) -> result {
            for (int i = 0; i < 20; ++i) {
                auto both = co_await ps::or_return(connect());
                group.spawn_anywhere(echo, std::move(both.other));
                std::string const number = std::to_string(i);
                co_await ps::or_return(both.one.send_all(bytes_of(number)));
                auto const answer = co_await ps::or_return(both.one.receive());
                EXPECT_EQ(answer.size(), number.size());
            }
            co_return {};
        };
        co_return co_await ps::task_group::run(talks);
    });
}

TEST_P(streams_in_transit, one_goes_there_and_the_result_comes_back) {
    run_on_two([](ps::executor& there) -> result {
        auto both = co_await ps::or_return(connect());
        auto const asks = [](ps::tcp_stream peer,
                             std::string question) -> ps::task<ps::io_result<std::size_t>> {
            co_await ps::or_return(peer.send_all(bytes_of(question)));
            co_return question.size();
        };
        auto const sent = co_await ps::or_return(
            ps::with_executor(there, asks, std::move(both.one), std::string("a question")));
        EXPECT_EQ(sent, 10u);
        auto const got = co_await ps::or_return(both.other.receive());
        EXPECT_EQ(got.size(), 10u);
        co_return {};
    });
}

TEST_P(streams_in_transit, one_that_never_arrives_is_closed) {
    run_on_two([](ps::executor& there) -> result {
        auto both = co_await ps::or_return(connect());
        {
            auto const never_awaited = ps::with_executor(there, echo, std::move(both.other));
            EXPECT_FALSE(both.other);
        }
        auto const end = co_await ps::or_return(both.one.receive());
        EXPECT_TRUE(end.empty()); // the peer has gone
        co_return {};
    });
}

TEST_P(streams_in_transit, a_stop_on_the_way_closes_it) {
    run_on_two([](ps::executor& there) -> result {
        auto both = co_await ps::or_return(connect());
        auto const stops_at_once = [&](ps::task_group& group) -> result {
            group.spawn_on(there, echo, std::move(both.other));
            group.request_stop();
            co_return {};
        };
        auto const goes = [&]() -> result { co_return co_await ps::task_group::run(stops_at_once); };
        (void)co_await ps::as_outcome(goes());
        auto const end = co_await ps::or_return(both.one.receive());
        EXPECT_TRUE(end.empty());
        co_return {};
    });
}

TEST_P(streams_in_transit, an_empty_one_arrives_empty) {
    run_on_two([](ps::executor& there) -> result {
        auto const is_empty = [](ps::tcp_stream none) -> ps::task<bool> { co_return !none; };
        EXPECT_TRUE(co_await ps::with_executor(there, is_empty, ps::tcp_stream()));
        co_return {};
    });
}

INSTANTIATE_TEST_SUITE_P(on, streams_in_transit, real_drivers(), name_of_driver);

TEST(streams_in_transit_death, one_with_an_operation_in_flight_cannot_leave) {
    auto const sends_it_away = [] {
        ps::runtime rt(workers(2));
        auto const work = [&]() -> result {
            auto both = co_await ps::or_return(connect());
            auto const waits = [&]() -> result {
                (void)co_await ps::or_return(both.other.receive());
                co_return {};
            };
            auto const leaves = [&]() -> result {
                co_return co_await ps::with_executor(*rt.get_executor(1), echo, std::move(both.other));
            };
            (void)co_await ps::when_all(waits(), leaves());
            co_return {};
        };
        (void)ps::sync_wait(rt, work());
    };
    EXPECT_DEATH(sends_it_away(), "with an operation in flight");
}

} // namespace
