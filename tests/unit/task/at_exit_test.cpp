#include <pitsaw/task/at_exit.hpp>

#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/or_return.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/sleep.hpp>

#include "lifetime_log.hpp"
#include "run_stopped.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using namespace std::chrono_literals;

task<> note_later(lifetime_log* log, char const* word) {
    probe const local(*log, std::string(word) + ".local");
    co_await sleep(5ms);
    log->note(word);
}

enum class end_by { value, exception, error, stop };

task<io_result<int>> two_cleanups(lifetime_log& log, end_by how) {
    probe const early(log, "early");
    co_await at_exit(note_later, &log, "first");
    probe const late(log, "late");
    co_await at_exit(note_later, &log, "second");
    if (how == end_by::exception) throw std::runtime_error("boom");
    if (how == end_by::stop) co_await sleep(1h);
    if (how == end_by::error) {
        io_result<int> failed = std::unexpected(std::make_error_code(std::errc::io_error));
        (void)co_await or_return(std::move(failed));
    }
    co_return 1;
}
task<io_result<int>> parent(lifetime_log& log, end_by how) {
    probe const local(log, "parent");
    auto result = co_await two_cleanups(log, how);
    log.note("parent_goes_on");
    co_return result;
}

TEST(at_exit, after_a_value_runs_innermost_first_when_the_locals_are_gone) {
    lifetime_log log;
    EXPECT_EQ(run_stopped(1h, parent(log, end_by::value)).value().value(), 1);
    EXPECT_EQ(log.take(), "~late ~early second ~second.local first ~first.local parent_goes_on ~parent");
}

TEST(at_exit, after_an_exception_it_runs_before_the_parent_sees_it) {
    lifetime_log log;
    EXPECT_TRUE(run_stopped(1h, parent(log, end_by::exception)).has_exception());
    EXPECT_EQ(log.take(), "~late ~early second ~second.local first ~first.local ~parent");
}

TEST(at_exit, after_or_return_it_runs_while_the_locals_still_exist) {
    lifetime_log log;
    EXPECT_EQ(run_stopped(1h, parent(log, end_by::error)).value().error(), std::errc::io_error);
    EXPECT_EQ(log.take(), "second ~second.local first ~first.local ~late ~early parent_goes_on ~parent");
}

TEST(at_exit, on_a_stop_it_runs_masked_while_the_frames_still_hold_their_locals) {
    lifetime_log log;
    EXPECT_TRUE(run_stopped(20ms, parent(log, end_by::stop)).is_stopped());
    EXPECT_EQ(log.take(), "second ~second.local first ~first.local ~late ~early ~parent");
}

TEST(at_exit, a_stop_before_the_start_still_runs_what_was_registered) {
    lifetime_log log;
    EXPECT_TRUE(run_stopped(before_the_start, parent(log, end_by::stop)).is_stopped());
    EXPECT_EQ(log.take(), "second ~second.local first ~first.local ~late ~early ~parent");
}

TEST(at_exit, a_stop_while_it_runs_after_a_normal_end_keeps_the_value) {
    for (auto const at : {1ms, 5ms, 7ms, 10ms}) {
        lifetime_log log;
        EXPECT_EQ(run_stopped(at, two_cleanups(log, end_by::value)).value().value(), 1);
        EXPECT_EQ(log.take(), "~late ~early second ~second.local first ~first.local");
    }
}

TEST(at_exit, a_second_stop_does_not_reach_it_either) {
    lifetime_log log;
    runtime rt = simulated_runtime();
    stop_timer const again(rt, 22ms, stop_reason::shutdown);
    auto const end = run_stopped(rt, 20ms, two_cleanups(log, end_by::stop));
    EXPECT_EQ(end.reason(), stop_reason::requested);
    EXPECT_EQ(log.take(), "second ~second.local first ~first.local ~late ~early");
}

task<> chain(lifetime_log& log, int level) {
    probe const local(log, "local" + std::to_string(level));
    static constexpr char const* names[] = {"cleanup0", "cleanup1", "cleanup2"};
    co_await at_exit(note_later, &log, names[level]);
    if (level < 2)
        co_await chain(log, level + 1);
    else
        co_await sleep(1h);
}

TEST(at_exit, cleanups_of_a_chain_run_from_the_innermost_frame_outwards) {
    lifetime_log log;
    EXPECT_TRUE(run_stopped(20ms, chain(log, 0)).is_stopped());
    EXPECT_EQ(log.take(), "cleanup2 ~cleanup2.local cleanup1 ~cleanup1.local cleanup0 ~cleanup0.local "
                          "~local2 ~local1 ~local0");
}

task<> cleanup_with_a_cleanup(lifetime_log* log) {
    co_await at_exit(note_later, log, "inner_cleanup");
    co_await sleep(5ms);
    log->note("outer_cleanup");
}
task<> with_nested_cleanups(lifetime_log& log) {
    co_await at_exit(cleanup_with_a_cleanup, &log);
    co_await sleep(1h);
}

TEST(at_exit, a_cleanup_may_have_cleanups) {
    lifetime_log log;
    EXPECT_TRUE(run_stopped(20ms, with_nested_cleanups(log)).is_stopped());
    EXPECT_EQ(log.take(), "outer_cleanup inner_cleanup ~inner_cleanup.local");
}

// ---- Failures and deadlines

struct lost_errors {
    std::vector<std::string> texts;
    std::vector<std::error_code> codes;
    [[nodiscard]] runtime_options options() {
        runtime_options made;
        made.on_lost_error = [this](std::exception_ptr what) {
            try {
                std::rethrow_exception(std::move(what));
            } catch (std::system_error const& error) {
                codes.push_back(error.code());
            } catch (std::exception const& other) {
                texts.emplace_back(other.what());
            }
        };
        return made;
    }
};

task<> throw_later() {
    co_await sleep(3ms);
    throw std::runtime_error("cleanup");
}
task<io_result<void>> fail_later() {
    co_await sleep(3ms);
    co_return std::unexpected(std::make_error_code(std::errc::broken_pipe));
}
task<> sleep_for(duration span) { co_await sleep(span); }

task<int> cleanups_that_fail(bool stops) {
    co_await at_exit(throw_later);
    co_await at_exit(fail_later);
    if (stops) co_await sleep(1h);
    co_return 4;
}

TEST(at_exit, what_a_cleanup_fails_with_goes_to_on_lost_error_and_changes_no_ending) {
    for (bool const stops : {false, true}) {
        lost_errors lost;
        runtime rt = simulated_runtime(lost.options());
        auto end = run_stopped(rt, 20ms, cleanups_that_fail(stops));
        EXPECT_EQ(end.is_stopped(), stops);
        if (!stops) {
            EXPECT_EQ(end.value(), 4);
        }
        EXPECT_EQ(lost.texts, std::vector<std::string>{"cleanup"});
        ASSERT_EQ(lost.codes.size(), 1u);
        EXPECT_EQ(lost.codes[0], std::errc::broken_pipe);
    }
}

task<> three_deadlines(lifetime_log& log) {
    co_await at_exit(note_later, &log, "last");
    co_await at_exit(sleep_for, duration(1h)); // five seconds
    co_await at_exit(sleep_for, duration(1h)).within(200ms);
    co_await at_exit(sleep_for, duration(7s)).within(8s);
    co_await sleep(1h);
}

TEST(at_exit, each_cleanup_has_its_own_deadline_from_its_own_start) {
    lifetime_log log;
    lost_errors lost;
    runtime rt = simulated_runtime(lost.options());
    auto const start = rt.get_executor()->now();
    EXPECT_TRUE(run_stopped(rt, 20ms, three_deadlines(log)).is_stopped());
    EXPECT_EQ(rt.get_executor()->now() - start, 20ms + 7s + 200ms + 5s + 5ms);
    ASSERT_EQ(lost.codes.size(), 2u);
    EXPECT_EQ(lost.codes[0], std::errc::timed_out);
    EXPECT_EQ(lost.codes[1], std::errc::timed_out);
    EXPECT_EQ(log.take(), "last ~last.local");
}

task<> ignore_the_deadline(lifetime_log* log) {
    auto const end = co_await as_outcome(sleep(1h));
    log->note(end.reason() == stop_reason::timeout ? "timeout" : "?");
}
task<> cleanup_that_outlives_its_deadline(lifetime_log& log) {
    co_await at_exit(ignore_the_deadline, &log);
    co_await sleep(1h);
}

TEST(at_exit, at_its_deadline_a_cleanup_is_stopped_and_may_still_end_by_itself) {
    lifetime_log log;
    lost_errors lost;
    runtime rt = simulated_runtime(lost.options());
    EXPECT_TRUE(run_stopped(rt, 20ms, cleanup_that_outlives_its_deadline(log)).is_stopped());
    EXPECT_EQ(log.take(), "timeout");
    EXPECT_TRUE(lost.codes.empty());
}

class notes_unwinding {
  public:
    notes_unwinding(lifetime_log& log, char const* name) : log_(&log), name_(name) {}
    notes_unwinding(notes_unwinding&& other) noexcept
        : log_(std::exchange(other.log_, nullptr)), name_(other.name_) {}
    ~notes_unwinding() {
        if (log_ != nullptr)
            log_->note(std::string(name_) + (this_task::is_unwinding() ? ":unwinding" : ":calm"));
    }

  private:
    lifetime_log* log_;
    char const* name_;
};
task<> wait_with(lifetime_log* log, notes_unwinding) {
    notes_unwinding const local(*log, "local");
    co_await sleep(1h);
}
task<> stopped_cleanup(lifetime_log& log) {
    co_await at_exit(wait_with, &log, notes_unwinding(log, "argument")).within(1ms);
}

TEST(at_exit, a_cleanup_that_is_stopped_unwinds) {
    lifetime_log log;
    lost_errors lost;
    runtime rt = simulated_runtime(lost.options());
    EXPECT_TRUE(sync_wait(rt, stopped_cleanup(log)).has_value());
    EXPECT_EQ(log.take(), "local:unwinding argument:unwinding");
    EXPECT_EQ(lost.codes.size(), 1u);
}

// ---- Lifetime of what is registered

task<> take_and_end(lifetime_log*, probe) { co_return; }
task<> never_registered(lifetime_log& log) {
    {
        auto const registration = at_exit(take_and_end, &log, probe(log, "argument"));
    }
    log.note("body");
    co_await this_task::yield();
}
task<> with_a_registration(lifetime_log& log, cleanup_registration given) {
    log.note("body");
    co_await std::move(given);
}

TEST(at_exit, a_registration_that_nobody_awaits_runs_nothing_and_frees_its_frame) {
    lifetime_log log;
    auto const live = frame_memory_statistics().live;
    EXPECT_TRUE(sync_wait(never_registered(log)).has_value());
    EXPECT_EQ(log.take(), "~argument body");
    {
        auto const unstarted = with_a_registration(log, at_exit(take_and_end, &log, probe(log, "argument")));
    }
    EXPECT_EQ(log.take(), "~argument");
    EXPECT_TRUE(
        sync_wait(with_a_registration(log, at_exit(take_and_end, &log, probe(log, "argument")))).has_value());
    EXPECT_EQ(log.take(), "body ~argument");
    EXPECT_EQ(frame_memory_statistics().live, live);
}

TEST(at_exit, its_frames_are_freed_on_every_ending) {
    auto const live = frame_memory_statistics().live;
    for (auto const how : {end_by::value, end_by::exception, end_by::error, end_by::stop}) {
        lifetime_log log;
        (void)run_stopped(20ms, parent(log, how));
        EXPECT_EQ(log.alive(), 0);
    }
    EXPECT_EQ(frame_memory_statistics().live, live);
}

task<> count_up(int* count) {
    ++*count;
    co_return;
}
task<> many_cleanups(int& count) {
    for (int i = 0; i < 20'000; ++i) co_await at_exit(count_up, &count);
}

TEST(at_exit, runs_20000_cleanups_of_one_task_in_constant_stack) {
    int count = 0;
    EXPECT_TRUE(sync_wait(many_cleanups(count)).has_value());
    EXPECT_EQ(count, 20'000);
}

} // namespace
