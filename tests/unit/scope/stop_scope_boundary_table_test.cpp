#include "foreign_awaitables.hpp"
#include "observed_runtime.hpp"
#include "run_stopped.hpp"

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/scope/stop_scope.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// The table of docs/guide/stopping.md is the list of these tests: a row without a runner fails, and so does a
// runner without a row.

namespace ps = pitsaw;
using namespace std::chrono_literals;
using namespace ps::testing;

namespace {

enum class child_ends { value, exception, error, stopped, by_the_scope };

std::vector<std::string> const endings = {"value", "exception", "error", "stopped", "stopped by the scope"};

struct situation {
    child_ends how;
    bool outer_stop; ///< requested at 5 ms, while the child runs from 0 to 10 ms
};

using result = ps::io_result<int>;
constexpr int own_value = 1, other_value = 2, body_value = 3;

struct other_failed : std::runtime_error {
    using runtime_error::runtime_error;
};

result io_error() { return std::unexpected(std::make_error_code(std::errc::io_error)); }

/// What each boundary is given. Stopped by the scope, it waits until that happens.
ps::task<result> child(situation in) {
    bool const waits_for_a_stop =
        in.how == child_ends::by_the_scope || (in.how == child_ends::stopped && in.outer_stop);
    if (waits_for_a_stop) co_await ps::sleep(1h);
    co_await deaf_sleep(10ms);
    if (in.how == child_ends::exception) throw std::runtime_error("boom");
    if (in.how == child_ends::stopped) co_await stops_itself{};
    co_return in.how == child_ends::error ? io_error() : result(own_value);
}

std::string describe(result const& got) {
    if (!got && got.error() == std::errc::io_error) return "the error";
    if (!got && got.error() == std::errc::timed_out) return "`timed_out`";
    if (!got && got.error() == std::errc::operation_canceled) return "`operation_canceled`";
    if (!got) return "another error";
    if (*got == own_value) return "its value";
    return *got == other_value ? "the other's value" : "the body's value";
}

std::string describe(ps::io_result<void> const& got) {
    return got ? "a default value" : describe(result(io_error()));
}

std::string describe(ps::outcome<result> end) {
    if (end.is_stopped()) return "the stop, as data";
    if (end.has_exception()) return "the exception, as data";
    return describe(end.value()) + ", as data";
}

/// Awaits what `make` gives and says what came of it.
template <class Make> ps::task<std::string> awaiting(Make make) {
    std::string text;
    try {
        auto got = co_await make();
        text = describe(std::move(got));
    } catch (other_failed const&) {
        text = "the other's exception";
    } catch (std::runtime_error const&) {
        text = "the exception";
    }
    co_return text;
}

/// Runs the task that `make` gives.
template <class Make> std::string run(situation in, Make make) {
    observed_runtime world;
    auto end = in.outer_stop ? run_stopped(world.rt, 5ms, make()) : ps::sync_wait(world.rt, make());
    return end.is_stopped() ? "it stops" : end.value();
}

// ---- One runner for each boundary.

std::string task_group_body(situation in) {
    if (in.how == child_ends::by_the_scope) {
        auto stopped_body = [](ps::task_group& group) -> ps::task<ps::io_result<void>> {
            auto late = []() -> ps::task<> { co_await deaf_sleep(10ms); };
            group.spawn(late());
            co_await ps::sleep(1ms);
            group.request_stop();
            co_await ps::sleep(1h);
            co_return {};
        };
        return run(in, [&] { return awaiting([&] { return ps::task_group::run(stopped_body); }); });
    }
    auto body = [in](ps::task_group&) { return child(in); };
    return run(in, [&] { return awaiting([&] { return ps::task_group::run(body); }); });
}

std::string group_with_child(situation in, ps::on_failure policy) {
    auto body = [in](ps::task_group& group) -> ps::task<result> {
        group.spawn(child(in));
        co_await deaf_sleep(2ms);
        if (in.how == child_ends::by_the_scope) group.request_stop();
        co_await deaf_sleep(20ms);
        co_return body_value;
    };
    return run(in, [&] { return awaiting([&] { return ps::task_group::run(policy, body); }); });
}

std::string task_group_child(situation in) { return group_with_child(in, ps::on_failure::stop_others); }
std::string supervisor_child(situation in) { return group_with_child(in, ps::on_failure::keep_others); }

struct closable {
    ps::sleep_awaiter async_close() { return ps::sleep(1ms); }
};

std::string with_resource(situation in) {
    auto body = [in](closable&) { return child(in); };
    return run(in, [&] { return awaiting([&] { return ps::with(closable(), body); }); });
}

ps::task<result> when_all_of_two(situation in) {
    auto sibling = [](bool fails) -> ps::task<int> {
        co_await deaf_sleep(2ms);
        if (fails) throw other_failed("other");
        co_return other_value;
    };
    auto got = co_await ps::when_all(child(in), sibling(in.how == child_ends::by_the_scope));
    if (!got) co_return std::unexpected(got.error());
    co_return std::get<0>(*got);
}

ps::task<result> when_any_of_two(situation in) {
    auto sibling = [](bool wins) -> ps::task<int> {
        if (wins)
            co_await deaf_sleep(2ms);
        else
            co_await ps::sleep(20ms);
        co_return other_value;
    };
    auto got = co_await ps::when_any(child(in), sibling(in.how == child_ends::by_the_scope));
    if (auto& own = std::get<0>(got)) co_return *own;
    co_return *std::get<1>(got);
}

std::string when_all(situation in) {
    return run(in, [in] { return awaiting([in] { return when_all_of_two(in); }); });
}
std::string when_any(situation in) {
    return run(in, [in] { return awaiting([in] { return when_any_of_two(in); }); });
}

/// A child that winds up after its deadline until an outer stop has come as well.
ps::task<result> winds_up(situation in) {
    if (in.how == child_ends::by_the_scope) {
        (void)co_await ps::as_outcome(ps::sleep(1h));
        co_await deaf_sleep(10ms);
    }
    auto const got = co_await child(in);
    co_return got;
}

ps::duration limit(situation in) { return in.how == child_ends::by_the_scope ? 2ms : 1h; }

ps::task<result> within_deadline(situation in) {
    auto const got = co_await ps::with_deadline(ps::time_point(limit(in)), winds_up(in));
    co_return got;
}

ps::task<result> within_timeout(situation in) {
    auto const got = co_await ps::with_timeout(limit(in), winds_up(in));
    co_return got;
}

ps::task<result> on_own_executor(situation in) {
    auto const here = (co_await ps::this_task::get_environment()).executor;
    auto const got = co_await ps::with_executor(here, child(in));
    co_return got;
}

ps::task<result> shielded(situation in) {
    in.outer_stop = false; // for the child, which does not see it
    auto const got = co_await ps::shield(child(in));
    co_return got;
}

std::string with_deadline(situation in) {
    return run(in, [in] { return awaiting([in] { return within_deadline(in); }); });
}
std::string with_timeout(situation in) {
    return run(in, [in] { return awaiting([in] { return within_timeout(in); }); });
}
std::string with_executor(situation in) {
    return run(in, [in] { return awaiting([in] { return on_own_executor(in); }); });
}
std::string shield(situation in) {
    return run(in, [in] { return awaiting([in] { return shielded(in); }); });
}

ps::task<std::string> outcome_of_child(situation in) {
    auto end = co_await ps::as_outcome(child(in));
    co_return describe(std::move(end));
}

std::string as_outcome(situation in) {
    return run(in, [in] { return outcome_of_child(in); });
}

ps::task<result> or_returns(situation in, bool& went_on) {
    int const got = co_await ps::or_return(child(in));
    went_on = true;
    co_return got;
}

std::string or_return(situation in) {
    bool went_on = false;
    auto const text = run(in, [&] { return awaiting([&] { return or_returns(in, went_on); }); });
    return text == "the error" && !went_on ? "it ends with the error" : text;
}

foreign_coroutine awaits_ours(ps::environment env, situation in, std::string& text) {
    try {
        text = describe(co_await ps::in(env, child(in)));
    } catch (std::system_error const& what) {
        text = what.code() == std::errc::operation_canceled ? "`operation_canceled`" : "another error";
    } catch (std::runtime_error const&) {
        text = "the exception";
    }
    co_return 0;
}

ps::task<std::string> in_foreign_coroutine(situation in) {
    std::string text;
    ps::environment const env = co_await ps::this_task::get_environment();
    co_await awaits_ours(env, in, text);
    co_return text;
}

std::string in_environment(situation in) {
    return run(in, [in] { return in_foreign_coroutine(in); });
}

ps::async_generator<result> values_of(situation in) {
    auto const got = co_await child(in);
    co_yield got;
}

ps::task<result> first_of_generator(situation in) {
    auto values = values_of(in);
    auto first = co_await values.next();
    co_return *first;
}

std::string async_generator(situation in) {
    return run(in, [in] { return awaiting([in] { return first_of_generator(in); }); });
}

std::string sync_wait(situation in) {
    observed_runtime world;
    return describe(in.outer_stop ? run_stopped(world.rt, 5ms, child(in))
                                  : ps::sync_wait(world.rt, child(in)));
}

std::string portal_call(situation in) {
    watchdog const guard;
    observed_runtime world;
    std::string text;
    std::atomic<bool> has_begun = false;
    std::jthread caller;
    auto begins = [&](situation given) -> ps::task<result> {
        has_begun = true;
        return child(given);
    };
    auto group = [&]() -> ps::task<> {
        co_await ps::task_group::run([&](ps::task_group& of) -> ps::task<> {
            caller = std::jthread([&, way_in = of.open_portal()]() mutable {
                auto const mine = std::move(way_in);
                text = describe(mine.call(begins, in));
            });
            while (!has_begun) co_await ps::this_task::yield(); // time does not pass meanwhile
        });
    };
    auto end = in.outer_stop ? run_stopped(world.rt, 5ms, group()) : ps::sync_wait(world.rt, group());
    caller.join();
    EXPECT_TRUE(end.has_value());
    return text;
}

// ---- The table.

struct boundary_runner {
    std::string (*run)(situation);
    bool has_errors = true;       ///< a child that ends with an `io_result`'s error exists
    bool stops_by_itself = false; ///< the scope may stop the child
};

std::map<std::string, boundary_runner> const runners = {
    {"`task_group`, its body", {task_group_body, true, true}},
    {"`task_group`, a child", {task_group_child, true, true}},
    {"`task_group` with `keep_others`, a child", {supervisor_child, true, true}},
    {"`with`", {with_resource}},
    {"`when_all`", {when_all, true, true}},
    {"`when_any`", {when_any, true, true}},
    {"`with_deadline`", {with_deadline, true, true}},
    {"`with_timeout`", {with_timeout, true, true}},
    {"`with_executor`", {with_executor}},
    {"`shield`", {shield}},
    {"`as_outcome`", {as_outcome}},
    {"`or_return`, no boundary", {or_return}},
    {"`in(env, x)`", {in_environment}},
    {"`async_generator`", {async_generator, false}},
    {"`sync_wait`", {sync_wait}},
    {"`portal::call`", {portal_call}},
};

struct row {
    std::string boundary, ending, outer_stop, gets;
};

std::vector<std::string> cells_of(std::string const& line) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    std::string cell;
    std::getline(in, cell, '|'); // before the first bar
    while (std::getline(in, cell, '|')) {
        auto const first = cell.find_first_not_of(' ');
        if (first == std::string::npos) continue;
        cells.push_back(cell.substr(first, cell.find_last_not_of(' ') - first + 1));
    }
    return cells;
}

/// The rows of the table whose head is the one we know.
std::vector<row> read_table() {
    std::vector<row> rows;
    std::ifstream guide(PITSAW_GUIDE_DIR "/stopping.md");
    bool is_inside = false;
    for (std::string line; std::getline(guide, line);) {
        auto const cells = cells_of(line);
        if (line == "| boundary | the child ends with | outer stop | the awaiting coroutine gets |")
            is_inside = true;
        else if (!line.starts_with('|'))
            is_inside = false;
        else if (is_inside && cells.size() == 4 && cells[0] != "---")
            rows.push_back({cells[0], cells[1], cells[2], cells[3]});
    }
    return rows;
}

void PrintTo(row const& printed, std::ostream* to) {
    *to << printed.boundary << ", " << printed.ending << ", outer stop: " << printed.outer_stop;
}

class boundary_table : public ::testing::TestWithParam<row> {};

TEST_P(boundary_table, row_is_what_happens) {
    auto const& [boundary, ending, outer_stop, gets] = GetParam();
    auto const runner = runners.find(boundary);
    ASSERT_NE(runner, runners.end()) << "no runner for " << boundary;
    auto const how = std::ranges::find(endings, ending);
    ASSERT_NE(how, endings.end()) << "no such ending: " << ending;
    ASSERT_TRUE(outer_stop == "yes" || outer_stop == "no");
    situation const in{static_cast<child_ends>(how - endings.begin()), outer_stop == "yes"};
    EXPECT_EQ(runner->second.run(in), gets);
}

std::string name_of(::testing::TestParamInfo<row> const& info) {
    auto const& given = info.param;
    std::string name;
    for (char const c :
         given.boundary + " " + given.ending + (given.outer_stop == "yes" ? " under outer stop" : "")) {
        if (std::isalnum(static_cast<unsigned char>(c)))
            name += c;
        else if (!name.empty() && name.back() != '_')
            name += '_';
    }
    return name;
}

INSTANTIATE_TEST_SUITE_P(guide, boundary_table, ::testing::ValuesIn(read_table()), name_of);

TEST(boundary_table_itself, has_a_row_for_each_runner_and_situation_and_none_twice) {
    std::map<std::string, int> rows;
    for (auto const& given : read_table())
        ++rows[given.boundary + ", " + given.ending + ", " + given.outer_stop];
    std::size_t expected = 0;
    for (auto const& [boundary, runner] : runners) {
        for (std::size_t i = 0; i < endings.size(); ++i) {
            auto const how = static_cast<child_ends>(i);
            if (how == child_ends::error && !runner.has_errors) continue;
            if (how == child_ends::by_the_scope && !runner.stops_by_itself) continue;
            for (auto const* outer_stop : {"no", "yes"}) {
                auto const wanted = boundary + ", " + endings[i] + ", " + outer_stop;
                EXPECT_EQ(rows[wanted], 1) << wanted;
                ++expected;
            }
        }
    }
    EXPECT_EQ(rows.size(), expected);
}

} // namespace
