// The code of docs/guide/tasks.md; docs.snippets compares.
#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace ps = pitsaw;
using namespace std::chrono_literals;

namespace {

ps::task<std::string> greet(std::string name) {
    co_await ps::sleep(1s);
    co_return "hello " + name;
}

ps::task<std::size_t> length_of(std::string_view text) {
    co_await ps::sleep(1s);
    co_return text.size(); // the text must still be there
}

ps::task<std::size_t> in_place() {
    // Fine: the temporary string lives until the whole expression has ended, and so the await with it.
    co_return co_await length_of(std::string("forty-two"));
}

ps::task<std::size_t> later() {
    std::string const text = "forty-two"; // named: it outlives the task that borrows it
    auto borrowing = length_of(text);
    co_await ps::sleep(1s);
    co_return co_await std::move(borrowing);
}

TEST(tasks_guide, arguments_live_as_long_as_they_are_borrowed) {
    EXPECT_EQ(ps::sync_wait(greet("you")).value(), "hello you");
    EXPECT_EQ(ps::sync_wait(in_place()).value(), 9u);
    EXPECT_EQ(ps::sync_wait(later()).value(), 9u);
}

ps::task<> greet_into(std::string name, std::string& out) { out += co_await greet(std::move(name)); }

ps::task<> greet_all(std::string& out) {
    auto body = [&out](ps::task_group& group) -> ps::task<> {
        group.spawn(greet_into("Ada ", out)); // arguments are copied into the frame
        group.spawn([&out]() -> ps::task<> {  // the group owns the lambda until the child has ended
            out += co_await greet("Bob ");
        });
        group.spawn(greet_into, "Cy", std::ref(out)); // a function and its arguments
        co_return;
    };
    co_await ps::task_group::run(body);
}

TEST(tasks_guide, a_group_owns_what_it_runs) {
    std::string out;
    EXPECT_TRUE(ps::sync_wait(greet_all(out)).has_value());
    EXPECT_EQ(out, "hello Ada hello Bob hello Cy");
}

ps::task<ps::io_result<int>> parse(std::string_view text) {
    if (text.empty()) co_return std::unexpected(std::make_error_code(std::errc::invalid_argument));
    co_return static_cast<int>(text.size());
}

ps::task<ps::io_result<int>> sum(std::string_view a, std::string_view b) {
    int const first = co_await ps::or_return(parse(a)); // an error ends this task, with that error
    int const second = co_await ps::or_return(parse(b));
    co_return first + second;
}

ps::task<int> sum_or_throw(std::string_view a, std::string_view b) {
    co_return co_await ps::or_return(sum(a, b)); // int carries no error: this throws std::system_error
}

TEST(tasks_guide, or_return_ends_the_task_or_throws) {
    EXPECT_EQ(ps::sync_wait(sum("ab", "c")).value().value(), 3);
    EXPECT_EQ(ps::sync_wait(sum("ab", "")).value().error(), std::errc::invalid_argument);
    EXPECT_TRUE(ps::sync_wait(sum_or_throw("", "c")).has_exception());
}

ps::task<> fail_late() {
    co_await ps::sleep(1s);
    throw std::runtime_error("late");
}

ps::task<std::string> caught() {
    try {
        co_await fail_late();
    } catch (std::runtime_error const& failure) {
        co_return failure.what();
    }
    co_return "nothing";
}

TEST(tasks_guide, an_exception_is_rethrown_where_the_task_is_awaited) {
    EXPECT_EQ(ps::sync_wait(caught()).value(), "late");
}

ps::task<std::uint64_t> allocations_of_a_loop(int rounds) {
    auto const before = ps::frame_memory_statistics();
    for (int n = 0; n < rounds; ++n) (void)co_await greet("you");
    co_return ps::frame_memory_statistics().allocations - before.allocations;
}

TEST(tasks_guide, a_loop_reuses_the_frame_of_its_first_round) {
    auto const measured = ps::sync_wait(allocations_of_a_loop(100)).value();
    // Under AddressSanitizer each frame is the heap's own.
    bool const is_recycling = ps::sync_wait(allocations_of_a_loop(1)).value() == 0;
    if (is_recycling) {
        EXPECT_LE(measured, 1u);
    }
}

ps::task<> touch(int& count) {
    ++count;
    co_return;
}

ps::task<> touch_all(int& count) {
    ps::task_group_options options;
    options.children_max = 8;
    auto body = [&count](ps::task_group& group) -> ps::task<> {
        for (int n = 0; n < 100; ++n) {
            co_await group.room();
            group.spawn(touch(count));
        }
    };
    co_await ps::task_group::run(options, body);
}

ps::task<> touch_all_in(std::pmr::memory_resource& arena, int& count) {
    co_await ps::with_memory(arena, touch_all(count)); // nodes from the arena, frames as ever
}

TEST(tasks_guide, nodes_come_from_the_memory_of_the_environment) {
    int count = 0;
    std::pmr::monotonic_buffer_resource arena;
    EXPECT_TRUE(ps::sync_wait(touch_all_in(arena, count)).has_value());
    EXPECT_EQ(count, 100);
}

TEST(tasks_guide, room_bounds_a_group) {
    int count = 0;
    EXPECT_TRUE(ps::sync_wait(touch_all(count)).has_value());
    EXPECT_EQ(count, 100);
}

} // namespace
