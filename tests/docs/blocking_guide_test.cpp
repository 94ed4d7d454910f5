// The code of docs/guide/blocking.md; docs.snippets compares.
#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace ps = pitsaw;

namespace {

// Stands for one that reads a file.
std::size_t count_lines(std::string const& path) { return path.size(); }
template <class GoesOn> std::size_t count_lines_while(std::string const& path, GoesOn const goes_on) {
    return goes_on() ? path.size() : 0;
}
ps::io_result<void> write_file(std::string const& path, std::string const& text) {
    if (path.empty() || text.empty()) return std::unexpected(std::make_error_code(std::errc::io_error));
    return {};
}
std::size_t ask_the_database() { return 5; }

ps::task<std::size_t> lines_of(std::string path) {
    co_return co_await ps::blocking([&] { return count_lines(path); });
}

ps::task<ps::io_result<void>> keep(std::string path, std::string text) {
    co_return co_await ps::blocking(write_file, std::move(path), std::move(text));
}

ps::runtime_options few_threads() {
    ps::runtime_options options;
    options.blocking.threads_max = 8;
    options.blocking.waiting_max = 100;
    options.blocking.refuses_when_full = true;
    return options;
}

ps::task<std::size_t> on_a_pool_of_its_own() {
    ps::blocking_options one;
    one.threads_max = 1; // so that its jobs run one after the other
    ps::blocking_pool database(one);
    co_return co_await ps::blocking(database, [] { return ask_the_database(); });
}

ps::task<std::size_t> lines_until_stopped(std::string path) {
    co_return co_await ps::blocking(
        [](ps::inplace_stop_token stop, std::string const& name) {
            return count_lines_while(name, [&] { return !stop.stop_requested(); });
        },
        std::move(path));
}

ps::task<std::uint64_t> mix(std::uint64_t rounds) {
    std::uint64_t value = 1;
    for (std::uint64_t i = 0; i < rounds; ++i) {
        value = value * 6364136223846793005u + i;
        if (i % 1024 == 0) co_await ps::this_task::checkpoint();
    }
    co_return value;
}

ps::task<> answer_probes() { co_await ps::this_task::yield(); }
ps::task<> compact() { co_await ps::this_task::checkpoint(); }
ps::task<> serve() { co_await ps::this_task::yield(); }

ps::task<> serve_and_tidy_up() {
    (void)co_await ps::when_all(ps::with_priority(ps::priority::high, answer_probes()),
                                ps::with_priority(ps::priority::low, compact()), serve());
}

TEST(blocking_guide, each_priority_has_its_turns) {
    EXPECT_TRUE(ps::sync_wait(serve_and_tidy_up()).has_value());
}

TEST(blocking_guide, a_loop_that_computes_ends_with_its_value) {
    EXPECT_EQ(ps::sync_wait(mix(1)).value(), 6364136223846793005u);
}

TEST(blocking_guide, functions_are_called_elsewhere_and_their_results_come_back) {
    EXPECT_EQ(ps::sync_wait(lines_of("four")).value(), 4u);
    EXPECT_TRUE(ps::sync_wait(keep("name", "text")).value().has_value());
    EXPECT_FALSE(ps::sync_wait(keep("", "text")).value().has_value());
    EXPECT_EQ(ps::sync_wait(lines_until_stopped("five!")).value(), 5u);
    EXPECT_EQ(ps::sync_wait(on_a_pool_of_its_own()).value(), 5u);
    ps::runtime rt(few_threads());
    EXPECT_EQ(ps::sync_wait(rt, lines_of("four")).value(), 4u);
}

} // namespace
