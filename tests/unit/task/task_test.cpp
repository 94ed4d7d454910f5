#include <pitsaw/task/task.hpp>

#include <pitsaw/scope/task_group.hpp>
#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/this_task.hpp>
#include <pitsaw/time/sleep.hpp>

#include "lifetime_log.hpp"
#include "run_stopped.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

using namespace pitsaw;
using namespace pitsaw::testing;
using namespace std::chrono_literals;

task<int> add(int a, int b) { co_return a + b; }
task<> nothing() { co_return; }

task<int> sum_of_sums() {
    int const left = co_await add(1, 2);
    int const right = co_await add(3, 4);
    co_return left* right;
}

TEST(task, gives_its_value_to_whoever_awaits_it) {
    EXPECT_EQ(sync_wait(sum_of_sums()).value(), 21);
    EXPECT_TRUE(sync_wait(nothing()).has_value());
}

task<std::unique_ptr<int>> owned(int value) { co_return std::make_unique<int>(value); }
task<int> use_owned() {
    auto const value = co_await owned(7);
    co_return *value;
}

TEST(task, moves_a_result_that_cannot_be_copied) {
    EXPECT_EQ(sync_wait(use_owned()).value(), 7);
    EXPECT_EQ(*sync_wait(owned(8)).value(), 8);
}

task<std::string&> name_of(std::string& name) { co_return name; }
task<> rename(std::string& name) {
    std::string& same = co_await name_of(name);
    same = "renamed";
}

TEST(task, may_result_in_a_reference) {
    std::string name = "a name";
    EXPECT_TRUE(sync_wait(rename(name)).has_value());
    EXPECT_EQ(name, "renamed");
    EXPECT_EQ(&sync_wait(name_of(name)).value(), &name);
}

task<int> throws(std::string what) {
    std::string const kept = std::move(what);
    throw std::runtime_error(kept);
    co_return 0;
}
task<std::string> what_was_thrown() {
    std::string what = "nothing";
    try {
        co_await throws("boom");
    } catch (std::runtime_error const& thrown) {
        what = thrown.what();
    }
    co_return what;
}

TEST(task, rethrows_in_its_awaiter_what_its_body_threw) {
    EXPECT_EQ(sync_wait(what_was_thrown()).value(), "boom");
    auto end = sync_wait(throws("boom"));
    EXPECT_TRUE(end.has_exception());
    EXPECT_THROW((void)end.value(), std::runtime_error);
}

struct picky {
    explicit(false) picky(int value) : own(std::make_unique<int>(value)) {
        if (value < 0) throw std::out_of_range("negative");
    }
    std::unique_ptr<int> own;
};
task<picky> make_picky(int value) { co_return value; }

TEST(task, a_result_that_cannot_be_made_is_an_exception) {
    EXPECT_TRUE(sync_wait(make_picky(1)).has_value());
    EXPECT_THROW((void)sync_wait(make_picky(-1)).value(), std::out_of_range);
}

struct throws_when_destroyed {
    throws_when_destroyed() = default;
    ~throws_when_destroyed() noexcept(false) { throw std::logic_error("destroyed"); }
};
task<std::unique_ptr<int>> throw_after_the_result() {
    throws_when_destroyed const last;
    co_return std::make_unique<int>(3); // freed when the exception takes its place
}

TEST(task, an_exception_after_co_return_takes_the_place_of_the_value) {
    EXPECT_THROW((void)sync_wait(throw_after_the_result()).value(), std::logic_error);
}

// ---- Lifetime

[[gnu::noinline]] task<> log_its_life(lifetime_log& log, probe) {
    probe const local(log, "local");
    log.note("runs");
    co_return;
}

// CA13: what nobody awaits never ran, and leaves nothing behind.
TEST(task, never_awaited_it_never_runs_and_its_frame_is_freed) {
    lifetime_log log;
    auto const live = frame_memory_statistics().live;
    {
        auto const work = log_its_life(log, probe(log, "argument"));
        EXPECT_EQ(frame_memory_statistics().live, live + 1);
        EXPECT_EQ(log.take(), "");
    }
    EXPECT_EQ(frame_memory_statistics().live, live);
    EXPECT_EQ(log.take(), "~argument");
}

task<> drop_one_and_keep_one(lifetime_log& log) {
    auto kept = log_its_life(log, probe(log, "kept"));
    {
        auto const dropped = log_its_life(log, probe(log, "dropped"));
    }
    log.note("dropped_one");
    co_await std::move(kept);
}

TEST(task, a_scope_drops_a_task_that_it_never_awaited) { // CA13
    lifetime_log log;
    EXPECT_TRUE(sync_wait(drop_one_and_keep_one(log)).has_value());
    EXPECT_EQ(log.take(), "~dropped dropped_one runs ~local ~kept");
    EXPECT_EQ(log.alive(), 0);
}

TEST(task, assigning_over_a_task_frees_the_old_one) {
    lifetime_log log;
    auto work = log_its_life(log, probe(log, "old"));
    work = log_its_life(log, probe(log, "new"));
    EXPECT_EQ(log.take(), "~old");
    auto& same = work;
    work = std::move(same);
    EXPECT_TRUE(static_cast<bool>(work));
    EXPECT_TRUE(sync_wait(std::move(work)).has_value());
    EXPECT_FALSE(static_cast<bool>(work));
    EXPECT_EQ(log.take(), "runs ~local ~new");
}

task<> await_in_place_and_by_name(lifetime_log& log) {
    co_await log_its_life(log, probe(log, "in_place"));
    log.note("between");
    auto named = log_its_life(log, probe(log, "named"));
    co_await std::move(named);
    log.note("after");
}

TEST(task, lives_as_long_as_its_object) {
    lifetime_log log;
    EXPECT_TRUE(sync_wait(await_in_place_and_by_name(log)).has_value());
    EXPECT_EQ(log.take(), "runs ~local ~in_place between runs ~local after ~named");
}

// ---- What compilers got wrong with temporaries

task<std::size_t> length_of(std::string text) {
    co_await this_task::yield();
    co_return text.size();
}
task<int> call(auto work) {
    co_await this_task::yield();
    co_return work();
}
struct counts_itself {
    explicit counts_itself(int& count) : alive(&count) { ++count; }
    counts_itself(counts_itself const& other) : alive(other.alive) { ++*alive; }
    ~counts_itself() { --*alive; }
    int* alive;
};
task<int> pass_temporaries(int& alive) {
    std::size_t const length = co_await length_of(std::string(100, 'x'));
    auto work = [counted = counts_itself(alive), own = std::make_unique<int>(1)] { return *own; };
    int const one = co_await call(std::move(work));
    co_return static_cast<int>(length) + one;
}

TEST(task,
     // CL5, in the form that STYLE.md prescribes for GCC 12
     temporaries_beside_a_co_await_are_destroyed_once) {
    int alive = 0;
    EXPECT_EQ(sync_wait(pass_temporaries(alive)).value(), 101);
    EXPECT_EQ(alive, 0);
}

task<std::pair<counts_itself, std::unique_ptr<int>>> two_things(int& alive) {
    co_return std::pair(counts_itself(alive), std::make_unique<int>(2));
}
task<> bind_two_things_and_wait(int& alive) {
    auto both = co_await two_things(alive); // named: STYLE.md bans binding straight from the await
    auto& [counted, own] = both;
    EXPECT_EQ(*counted.alive, 1);
    EXPECT_EQ(*own, 2);
    co_await sleep(1h);
}

TEST(task, what_was_bound_is_destroyed_once_when_the_frame_is_stopped) { // CL4
    int alive = 0;
    EXPECT_TRUE(run_stopped(1ms, bind_two_things_and_wait(alive)).is_stopped());
    EXPECT_EQ(alive, 0);
}

task<> spawn_a_lambda_with_captures(std::string& seen) {
    co_await task_group::run([&seen](task_group& group) -> task<> {
        auto work = [text = std::string(64, 'x'), &seen]() -> task<> {
            co_await this_task::yield();
            seen = text;
        };
        group.spawn(std::move(work));
        co_return;
    });
}

TEST(task, captures_of_a_spawned_lambda_live_as_long_as_the_child) { // CL9
    std::string seen;
    EXPECT_TRUE(sync_wait(spawn_a_lambda_with_captures(seen)).has_value());
    EXPECT_EQ(seen, std::string(64, 'x'));
}

task<> drop_the_closure(bool& has_run, int value) {
    // CL11 cannot be made safe when the body reads captures; without captures there is nothing to lose.
    auto make = [] {
        auto const local = [](bool& ran, int given) -> task<> {
            co_await this_task::yield();
            ran = given == 5;
        };
        return local;
    };
    auto work = make()(has_run, value);
    co_await std::move(work);
}

TEST(task, a_lambda_without_captures_may_go_before_its_task) { // CL11
    bool has_run = false;
    EXPECT_TRUE(sync_wait(drop_the_closure(has_run, 5)).has_value());
    EXPECT_TRUE(has_run);
}

// ---- Misuse

task<> await_twice() {
    auto work = add(1, 2);
    co_await std::move(work);
    co_await std::move(work);
}
task<> await_nothing() {
    task<int> empty;
    co_await std::move(empty);
}
task<> await_what_was_moved() {
    auto work = add(1, 2);
    auto other = std::move(work);
    co_await std::move(other);
    co_await std::move(work);
}
task<> give_to_a_combinator_twice() {
    auto work = add(1, 2);
    (void)co_await as_outcome(std::move(work));
    (void)co_await as_outcome(std::move(work));
}

TEST(task_death_test, awaiting_twice_is_a_checked_error) {
    EXPECT_DEATH((void)sync_wait(await_twice()), "a task was awaited twice");
    EXPECT_DEATH((void)sync_wait(give_to_a_combinator_twice()), "a task was awaited twice");
}

TEST(task_death_test, awaiting_an_empty_task_is_a_checked_error) {
    EXPECT_DEATH((void)sync_wait(await_nothing()), "an empty or moved-from task was awaited");
    EXPECT_DEATH((void)sync_wait(await_what_was_moved()), "an empty or moved-from task was awaited");
    EXPECT_DEATH((void)sync_wait(task<>()), "an empty or moved-from task was awaited");
}

task<> fail_a_check() {
    co_await this_task::yield();
    check(false, "a promise of the test");
}
task<> call_what_fails() { co_await fail_a_check(); }

TEST(task_death_test, a_failed_check_prints_the_async_stack) { // OB1
    EXPECT_DEATH((void)sync_wait(call_what_fails()),
                 "a promise of the test.*async stack, innermost first:.*task_test\\.cpp:[0-9]+ .*fail_a_check"
                 ".*task_test\\.cpp:[0-9]+ .*call_what_fails");
}

} // namespace
