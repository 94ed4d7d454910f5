#include <pitsaw/scope/with.hpp>

#include "lifetime_log.hpp"
#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;
using texts = std::vector<std::string>;

namespace {

/// A resource that notes what becomes of it.
class link {
  public:
    link(lifetime_log& log, ps::duration close_takes)
        : log_(&log), close_takes_(close_takes), mark_(log, "link") {}

    ps::task<> async_close() {
        log_->note("closing");
        co_await ps::sleep(close_takes_);
        log_->note("closed");
    }

  private:
    lifetime_log* log_;
    ps::duration close_takes_;
    probe mark_;
};

struct link_that_fails {
    ps::io_result<void> how = {};
    bool throws = false;
    link_that_fails(ps::io_result<void> ends, bool by_exception) : how(ends), throws(by_exception) {}
    ps::task<ps::io_result<void>> async_close() {
        co_await ps::sleep(1ms);
        if (throws) throw std::runtime_error("close threw");
        co_return how;
    }
};

struct link_closed_by_a_leaf {
    ps::sleep_awaiter async_close() { return ps::sleep(3ms); }
};

ps::task<ps::io_result<int>> error_now() {
    int const here = 0;
    (void)here;
    co_return std::unexpected(std::make_error_code(std::errc::io_error));
}

TEST(with, closes_after_a_value_and_destroys_after_the_close) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<int> {
        int const got = co_await ps::with(link(log, 5ms), [&](link&) -> ps::task<int> {
            probe const local(log, "local");
            co_await ps::sleep(1ms);
            log.note("body");
            co_return 3;
        });
        log.note("after");
        co_return got;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value(), 3);
    EXPECT_EQ(log.take(), "body ~local closing closed ~link after");
    EXPECT_EQ(world.elapsed(), 6ms);
}

TEST(with, closes_after_an_exception_and_passes_it_on) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<> {
        try {
            co_await ps::with(link(log, 5ms), [&](link&) -> ps::task<> {
                probe const local(log, "local");
                co_await ps::sleep(1ms);
                throw std::runtime_error("boom");
            });
        } catch (std::exception const& what) {
            log.note(what.what());
        }
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(log.take(), "~local closing closed ~link boom");
}

TEST(with, closes_after_a_stop_once_the_locals_of_the_body_are_gone) {
    observed_runtime world;
    lifetime_log log;
    auto inner = [&]() -> ps::task<> {
        probe const deeper(log, "deeper");
        co_await ps::sleep(1h);
    };
    auto work = [&]() -> ps::task<> {
        probe const outer(log, "outer");
        co_await ps::with(link(log, 5ms), [&](link&) -> ps::task<> {
            probe const local(log, "local");
            co_await inner();
        });
        log.note("never");
    };
    EXPECT_TRUE(run_stopped(world.rt, 10ms, work()).is_stopped());
    EXPECT_EQ(log.take(), "~deeper ~local closing closed ~link ~outer");
    EXPECT_EQ(world.elapsed(), 15ms);
}

TEST(with, closes_also_when_the_stop_was_there_before_it_began) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<> {
        co_await ps::with(link(log, 5ms), [&](link&) -> ps::task<> {
            probe const local(log, "local");
            co_await ps::sleep(1h);
        });
    };
    EXPECT_TRUE(run_stopped(world.rt, before_the_start, work()).is_stopped());
    EXPECT_EQ(log.take(), "~local closing closed ~link");
}

// or_return leaves the frame of the body suspended; what is in it may refer to the resource.
TEST(with, the_locals_of_a_body_that_ends_by_or_return_go_before_the_close) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<ps::io_result<int>> {
        auto got = co_await ps::with(link(log, 5ms), [&](link&) -> ps::task<ps::io_result<int>> {
            probe const local(log, "local");
            int const value = co_await ps::or_return(error_now());
            co_return value;
        });
        co_return got;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work()).value().error(), std::errc::io_error);
    EXPECT_EQ(log.take(), "~local closing closed ~link");
}

TEST(with, a_stop_during_the_close_does_not_reach_it_and_the_value_is_delivered) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<int> {
        int const got = co_await ps::with(link(log, 20ms), [&](link&) -> ps::task<int> { co_return 4; });
        co_return got;
    };
    EXPECT_EQ(run_stopped(world.rt, 10ms, work()).value(), 4);
    EXPECT_EQ(log.take(), "closing closed ~link");
    EXPECT_EQ(world.elapsed(), 20ms);
}

TEST(with, a_close_that_takes_too_long_is_stopped_and_reported) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&](ps::duration limit) -> ps::task<int> {
        auto body = [](link&) -> ps::task<int> { co_return 4; };
        int const got = co_await ps::with(link(log, 1h), body, limit);
        co_return got;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work(30ms)).value(), 4);
    EXPECT_EQ(world.elapsed(), 30ms);
    EXPECT_EQ(ps::sync_wait(world.rt, work(ps::cleanup_time_max)).value(), 4);
    EXPECT_EQ(world.elapsed(), 30ms + 5s);
    EXPECT_EQ(ps::sync_wait(world.rt, work(0ms)).value(), 4);
    EXPECT_EQ(world.elapsed(), 30ms + 5s);
    EXPECT_EQ(log.take(), "closing ~link closing ~link closing ~link");
    ASSERT_EQ(world.lost.size(), 3u);
    EXPECT_NE(world.lost[0].find("stopped at its deadline"), std::string::npos);
}

TEST(with, the_time_of_the_close_counts_from_its_own_start) {
    observed_runtime world;
    lifetime_log log;
    auto work = [&]() -> ps::task<> {
        auto body = [](link&) -> ps::task<> { co_await ps::sleep(1h); };
        co_await ps::with(link(log, 20ms), body, 30ms);
    };
    EXPECT_TRUE(run_stopped(world.rt, 50ms, work()).is_stopped());
    EXPECT_EQ(log.take(), "closing closed ~link");
    EXPECT_EQ(world.lost, texts());
}

TEST(with, a_failing_close_is_a_lost_error_and_the_ending_stays) {
    observed_runtime world;
    auto io_error = std::make_error_code(std::errc::io_error);
    auto work = [&](bool by_exception) -> ps::task<int> {
        link_that_fails resource(std::unexpected<std::error_code>(io_error), by_exception);
        int const got =
            co_await ps::with(std::move(resource), [](link_that_fails&) -> ps::task<int> { co_return 4; });
        co_return got;
    };
    EXPECT_EQ(ps::sync_wait(world.rt, work(false)).value(), 4);
    EXPECT_EQ(ps::sync_wait(world.rt, work(true)).value(), 4);
    ASSERT_EQ(world.lost.size(), 2u);
    EXPECT_NE(world.lost[0].find("async_close failed"), std::string::npos);
    EXPECT_EQ(world.lost[1], "close threw");
}

TEST(with, a_close_may_be_a_leaf) {
    observed_runtime world;
    auto work = []() -> ps::task<> {
        co_await ps::with(link_closed_by_a_leaf{}, [](link_closed_by_a_leaf&) -> ps::task<> { co_return; });
    };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(world.elapsed(), 3ms);
}

TEST(with, resources_within_resources_close_from_the_inside) {
    observed_runtime world;
    lifetime_log log;
    struct named {
        lifetime_log* log;
        std::string name;
        named(lifetime_log& to, std::string called) : log(&to), name(std::move(called)) {}
        ps::task<> async_close() {
            co_await ps::sleep(1ms);
            log->note(name);
        }
    };
    auto work = [&]() -> ps::task<> {
        named outer(log, "outer");
        co_await ps::with(std::move(outer), [&](named&) -> ps::task<> {
            named inner(log, "inner");
            co_await ps::with(std::move(inner), [](named&) -> ps::task<> { co_await ps::sleep(1h); });
        });
    };
    EXPECT_TRUE(run_stopped(world.rt, 5ms, work()).is_stopped());
    EXPECT_EQ(log.take(), "inner outer");
}

TEST(with, one_that_is_never_awaited_runs_nothing_and_closes_nothing) {
    observed_runtime world;
    lifetime_log log;
    {
        auto body = [&](link&) -> ps::task<> {
            log.note("body");
            co_return;
        };
        auto const never_awaited = ps::with(link(log, 1ms), body);
    }
    EXPECT_EQ(log.take(), "~link");
}

TEST(with, the_body_and_its_captures_are_owned_until_the_close_has_ended) {
    observed_runtime world;
    lifetime_log log;
    auto make = [&] {
        auto body = [&log, owned = std::string(64, 'x'), mark = probe(log, "captures")](link&) -> ps::task<> {
            co_await ps::sleep(1ms);
            log.note(owned.substr(0, 1));
        };
        return ps::with(link(log, 1ms), std::move(body));
    };
    auto work = [&]() -> ps::task<> { co_await make(); };
    EXPECT_TRUE(ps::sync_wait(world.rt, work()).has_value());
    EXPECT_EQ(log.take(), "x closing closed ~captures ~link");
}

} // namespace
