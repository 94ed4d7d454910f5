// A harness that finds nothing proves nothing until it finds what is there: a fault of each kind, on purpose.
#include <pitsaw/sim/check_faults.hpp>
#include <pitsaw/sim/check_stop.hpp>

#include "sim_subjects/streams.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <memory>
#include <new>
#include <source_location>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace ps = pitsaw;
namespace subjects = pitsaw::testing::subjects;
using namespace std::chrono_literals;
using ps::sim::fault_kind;

namespace {

/// Something that nobody destroys, where a sanitizer that looks for leaks takes it for reachable.
template <class T> class never_destroyed {
  public:
    never_destroyed() = default;
    template <class... Args> T& make(Args&&... args) {
        return *::new (where_) T(std::forward<Args>(args)...);
    }
    void destroy() { std::launder(reinterpret_cast<T*>(where_))->~T(); }

  private:
    alignas(T) std::byte where_[sizeof(T)];
};

ps::sim::check_stop_options calm_stops() {
    ps::sim::check_stop_options options;
    options.seeds = 0;
    return options;
}
ps::sim::check_faults_options calm_faults(fault_kind kind) {
    ps::sim::check_faults_options options;
    options.seeds = 0;
    options.kinds = {kind};
    return options;
}

#if defined(__clang__)
constexpr bool knows_lines = true;
#else
constexpr bool knows_lines = false; // GCC 12 places every await of a coroutine in the same line
#endif

/// The report says what is wrong and at which await of this file.
template <class Report>
void expect_found(Report const& report, std::string const& what, std::uint_least32_t line) {
    EXPECT_FALSE(report);
    EXPECT_NE(report.failures().find(what), std::string::npos) << report;
    auto const place = "harness_test.cpp:" + (knows_lines ? std::to_string(line) : "");
    EXPECT_NE(report.failures().find(place), std::string::npos) << report;
}

constexpr std::uint_least32_t this_line(std::source_location at = std::source_location::current()) {
    return at.line();
}

TEST(canary, a_descriptor_that_a_stop_leaks_is_found) {
    std::uint_least32_t line = 0;
    auto const body = [&line](ps::sim::world& in) -> ps::task<> {
        auto& io = *in.get_runtime().get_executor()->io;
        auto const socket = io.open_stream(ps::address_family::ipv4);
        line = this_line() + 1;
        co_await ps::sleep(1ms);
        io.discard(*socket);
    };
    expect_found(ps::sim::check_stop(body, calm_stops()), "1 descriptors not closed", line);
}

TEST(canary, a_pool_buffer_that_a_stop_leaks_is_found) {
    std::uint_least32_t line = 0;
    never_destroyed<ps::lease> kept;
    auto const body = [&](ps::sim::world& in) -> ps::task<> {
        auto const home = in.get_runtime().get_executor();
        auto const ends = in.make_stream_pair();
        ps::tcp_stream left(home, ends.first), right(home, ends.second);
        (void)co_await left.send_all(ps::testing::bytes_of("hello"));
        auto got = co_await right.receive();
        kept.make(std::move(*got));
        line = this_line() + 1;
        co_await ps::sleep(1ms);
        kept.destroy();
    };
    expect_found(ps::sim::check_stop(body, calm_stops()), "1 pool buffers not given back", line);
}

TEST(canary, bytes_that_a_stop_loses_are_found) {
    std::uint_least32_t line = 0;
    ps::sim::book bytes("bytes");
    auto const body = [&](ps::sim::world& in) -> ps::task<> {
        auto const home = in.get_runtime().get_executor();
        auto const ends = in.make_stream_pair();
        ps::tcp_stream left(home, ends.first), right(home, ends.second);
        auto const sent = co_await left.send(ps::testing::bytes_of("hello"));
        bytes.take(static_cast<std::int64_t>(*sent));
        std::array<std::byte, 5> into{};
        auto const got = co_await right.receive(into);
        line = this_line() + 1;
        co_await ps::sleep(1ms); // who is stopped here has not said what it received
        bytes.give_back(static_cast<std::int64_t>(*got + in.readable_bytes(ends.second)));
    };
    auto options = calm_stops();
    options.books = {&bytes};
    expect_found(ps::sim::check_stop(body, options), "5 bytes not given back", line);
}

TEST(canary, a_permit_that_a_stop_leaks_is_found_with_the_callers_of_the_await) {
    std::uint_least32_t line = 0, called_from = 0;
    ps::sim::book permits("permits");
    auto const inner = [&]() -> ps::task<> {
        permits.take();
        line = this_line() + 1;
        co_await ps::sleep(1ms);
        permits.give_back();
    };
    auto const body = [&]() -> ps::task<> {
        called_from = this_line() + 1;
        co_await inner();
    };
    auto options = calm_stops();
    options.books = {&permits};
    auto const report = ps::sim::check_stop(body, options);
    expect_found(report, "1 permits not given back", line);
    expect_found(report, "harness_test.cpp:" + std::to_string(line) + " <- ", called_from);
}

TEST(canary, a_value_that_nobody_destroys_is_found_where_only_a_group_was_stopped) {
    std::uint_least32_t line = 0;
    ps::sim::book values("values");
    never_destroyed<ps::sim::counted<int>> kept;
    auto const body = [&]() -> ps::task<> {
        kept.make(values, 1);
        line = this_line() + 1;
        co_await ps::sleep(1ms);
        kept.destroy();
    };
    auto options = calm_stops();
    options.books = {&values};
    options.target = ps::sim::stop_target::group;
    expect_found(ps::sim::check_stop(body, options), "1 values not given back", line);
}

ps::task<> one_sleep() { co_await ps::sleep(1ms); }

TEST(canary, a_frame_that_is_leaked_when_an_allocation_fails_is_found) {
    std::uint_least32_t line = 0;
    never_destroyed<ps::task<>> kept;
    bool is_kept = false;
    auto const body = [&]() -> ps::task<> {
        line = this_line() + 1;
        co_await ps::sleep(1ms);
        auto& first = kept.make(one_sleep());
        is_kept = true;
        auto second = std::make_unique<ps::task<>>(one_sleep()); // throws, and `first` stays
        co_await std::move(first);
        co_await std::move(*second);
        kept.destroy();
        is_kept = false;
    };
    auto options = calm_faults(fault_kind::allocation);
    options.verify = [&](ps::sim::run_ending) { // the books have been read: a sanitizer is not to find it too
        if (std::exchange(is_kept, false)) kept.destroy();
        return "";
    };
    auto const report = ps::sim::check_faults(body, options);
    expect_found(report, "1 frames or nodes not freed", line);
    // The task's own frame is the first allocation, `first` the second; the third and fourth are `second`'s.
    EXPECT_EQ(report.points(fault_kind::allocation), 4u);
    EXPECT_EQ(report.thrown_runs(), 4u);
    EXPECT_EQ(report.failures().find("allocation 2"), std::string::npos) << report;
    EXPECT_NE(report.failures().find("allocation 3"), std::string::npos) << report;
}

TEST(canary, a_descriptor_that_is_leaked_when_an_operation_fails_is_found) {
    std::uint_least32_t line = 0;
    auto const body = [&](ps::sim::world& in) -> ps::task<> {
        auto const home = in.get_runtime().get_executor();
        auto const socket = home->io->open_stream(ps::address_family::ipv4);
        if (!socket.has_value()) co_return;
        auto const ends = in.make_stream_pair();
        ps::tcp_stream left(home, ends.first);
        line = this_line() + 1;
        auto const sent = co_await left.send(ps::testing::bytes_of("hello"));
        if (sent.has_value()) home->io->discard(*socket);
    };
    expect_found(ps::sim::check_faults(body, calm_faults(fault_kind::operation)), "1 descriptors not closed",
                 line);
    expect_found(ps::sim::check_faults(body, calm_faults(fault_kind::submission)), "1 descriptors not closed",
                 line);
}

ps::task<> throw_if(bool const* failed) {
    if (*failed) throw std::logic_error("the clean-up is wrong");
    co_return;
}

TEST(canary, a_clean_up_that_throws_something_else_after_a_fault_is_found) {
    std::uint_least32_t line = 0;
    bool has_failed = false;
    auto const body = [&](ps::sim::world& in) -> ps::task<> {
        has_failed = false;
        auto const home = in.get_runtime().get_executor();
        auto const ends = in.make_stream_pair();
        ps::tcp_stream left(home, ends.first);
        co_await ps::at_exit(throw_if, &has_failed);
        line = this_line() + 1;
        auto const sent = co_await left.send(ps::testing::bytes_of("hello"));
        has_failed = !sent.has_value();
    };
    expect_found(ps::sim::check_faults(body, calm_faults(fault_kind::operation)),
                 "lost error: the clean-up is wrong", line);
}

ps::task<> say_bye(ps::tcp_stream* to, std::error_code const* instead) {
    auto const sent = co_await to->send(ps::testing::bytes_of("bye"));
    if (!sent.has_value()) throw std::system_error(*instead ? *instead : sent.error());
}

ps::task<> say_nothing_but_bye(ps::tcp_stream& to, std::error_code const& instead) {
    co_await ps::at_exit(say_bye, &to, &instead);
}

TEST(check_faults, a_clean_up_may_fail_with_the_fault_itself_but_with_no_error_of_its_own) {
    std::error_code instead;
    auto const body = [&](ps::sim::world& in) -> ps::task<> {
        auto const home = in.get_runtime().get_executor();
        auto const ends = in.make_stream_pair();
        ps::tcp_stream left(home, ends.first);
        co_await say_nothing_but_bye(left, instead);
    };
    for (auto const kind : {fault_kind::submission, fault_kind::operation, fault_kind::allocation}) {
        auto const report = ps::sim::check_faults(body, calm_faults(kind));
        EXPECT_TRUE(report) << report;
        EXPECT_GT(report.struck(kind), 0u);
    }
    instead = std::make_error_code(std::errc::timed_out);
    auto const report = ps::sim::check_faults(body, calm_faults(fault_kind::operation));
    EXPECT_NE(report.failures().find("lost error: "), std::string::npos) << report;
}

// Not inlined, for a compiler may leave out an allocation that it sees the end of.
[[gnu::noinline]] std::unique_ptr<int> made_without_fail(int value) noexcept {
    return std::make_unique<int>(value);
}

TEST(canary_death_test, an_allocation_whose_failure_ends_in_terminate_is_named) {
    auto const body = []() -> ps::task<> {
        co_await ps::sleep(1ms);
        auto const made = made_without_fail(1);
        EXPECT_EQ(*made, 1);
    };
    EXPECT_DEATH((void)ps::sim::check_faults(body, calm_faults(fault_kind::allocation)),
                 "aborted in calm world, allocation 2 .4 bytes, at .*harness_test.cpp");
}

TEST(canary_death_test, an_abort_from_outside_ends_the_process_and_is_named) {
    auto const body = []() -> ps::task<> {
        co_await ps::sleep(1ms);
        std::raise(SIGABRT); // as `kill` would
    };
    EXPECT_EXIT((void)ps::sim::check_faults(body, calm_faults(fault_kind::allocation)),
                ::testing::KilledBySignal(SIGABRT), "check_faults: aborted in calm world");
}

TEST(canary_death_test, a_run_that_waits_for_ever_for_what_has_failed_is_named) {
    auto const body = [](ps::sim::world& in) -> ps::task<> {
        auto const home = in.get_runtime().get_executor();
        auto const ends = in.make_stream_pair();
        ps::tcp_stream left(home, ends.first), right(home, ends.second);
        (void)co_await left.send(ps::testing::bytes_of("hello")); // whether it went or not
        (void)co_await right.receive();
    };
    EXPECT_DEATH((void)ps::sim::check_faults(body, calm_faults(fault_kind::submission)),
                 "submission [0-9]+ .send, at .*harness_test.cpp.*never ends");
}

TEST(canary_death_test, a_run_of_no_points_is_a_misuse) {
    auto stops = calm_stops();
    auto faults = calm_faults(fault_kind::allocation);
    stops.points_max = faults.points_max = 0;
    EXPECT_DEATH((void)ps::sim::check_stop(one_sleep, stops), "points_max is 0");
    EXPECT_DEATH((void)ps::sim::check_faults(one_sleep, faults), "points_max is 0");
}

// What a report says.

TEST(canary, a_report_says_once_how_the_first_failure_is_run_again) {
    auto const body = []() -> ps::task<> {
        co_await ps::sleep(1ms);
        co_await ps::sleep(1ms);
    };
    ps::sim::check_stop_options stops;
    ps::sim::check_faults_options faults;
    stops.first_seed = faults.first_seed = 77;
    stops.verify = [](bool) { return "wrong"; };
    faults.verify = [](ps::sim::run_ending) { return "wrong"; };
    auto const expect_once = [](auto const& report) {
        std::string const& words = report.rerun();
        EXPECT_EQ(words.find("seed 77, commit "), 0u) << words;
        EXPECT_NE(words.find("PITSAW_SIM_SEED=77 "), std::string::npos) << words;
        auto const all = ::testing::PrintToString(report);
        auto const at = all.find(words);
        ASSERT_NE(at, std::string::npos) << all;
        EXPECT_EQ(all.find("commit ", at + words.size()), std::string::npos) << all;
    };
    expect_once(ps::sim::check_stop(body, stops));
    expect_once(ps::sim::check_faults(body, faults));
    EXPECT_EQ(ps::sim::check_stop(body, calm_stops()).rerun(), "");
}

TEST(canary_death_test, a_run_that_never_ends_says_how_it_is_run_again) {
    auto const body = []() -> ps::task<> { co_await ps::sleep_until(ps::never); };
    EXPECT_DEATH((void)ps::sim::check_stop(body, calm_stops()),
                 "never ends(.|\n)*seed 1, commit .*PITSAW_SIM_SEED=1 ");
}

// What a fault is.

TEST(check_faults, an_operation_that_fails_breaks_the_connection_for_its_peer_too) {
    std::string seen;
    auto const body = [&](ps::sim::world& in) -> ps::task<> {
        auto const home = in.get_runtime().get_executor();
        auto const ends = in.make_stream_pair();
        ps::tcp_stream left(home, ends.first), right(home, ends.second);
        auto const sent = co_await left.send(ps::testing::bytes_of("hello")); // the first operation
        auto const got = co_await ps::with_timeout(1h, right.receive());
        if (!sent.has_value()) seen = got.has_value() ? "a value" : got.error().message();
    };
    auto options = calm_faults(fault_kind::operation);
    options.points_max = 1;
    auto const report = ps::sim::check_faults(body, options);
    EXPECT_TRUE(report) << report;
    EXPECT_EQ(report.struck(fault_kind::operation), 1u);
    EXPECT_EQ(seen, std::make_error_code(std::errc::connection_reset).message());
}

TEST(check_faults, takes_no_more_points_than_it_is_told) {
    auto const body = []() -> ps::task<> {
        for (int i = 0; i < 100; ++i) co_await one_sleep();
    };
    auto options = calm_faults(fault_kind::allocation);
    options.points_max = 10;
    auto const report = ps::sim::check_faults(body, options);
    EXPECT_TRUE(report) << report;
    EXPECT_GE(report.points(fault_kind::allocation), 100u);
    EXPECT_EQ(report.struck(fault_kind::allocation), 10u);
    EXPECT_EQ(report.runs(), 12u); // and twice undisturbed
}

TEST(check_faults, leaves_other_threads_alone) {
    auto const body = []() -> ps::task<> {
        co_await ps::sleep(1ms);
        std::jthread const other([] {
            for (int i = 0; i < 100; ++i) (void)std::make_unique<std::string>(100, 'x');
        });
    };
    auto const report = ps::sim::check_faults(body, calm_faults(fault_kind::allocation));
    EXPECT_TRUE(report) << report;
    EXPECT_LT(report.points(fault_kind::allocation), 10u);
}

TEST(check_faults, says_that_the_undisturbed_run_throws) {
    auto const body = []() -> ps::task<> {
        co_await ps::sleep(1ms);
        throw std::runtime_error("by itself");
    };
    auto const report = ps::sim::check_faults(body, calm_faults(fault_kind::submission));
    EXPECT_NE(report.failures().find("it throws though nothing fails"), std::string::npos) << report;
}

} // namespace
