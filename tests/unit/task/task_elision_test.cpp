#include <pitsaw/task/task.hpp>

#include <pitsaw/scope/when_all.hpp>
#include <pitsaw/scope/when_any.hpp>
#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/or_return.hpp>
#include <pitsaw/task/sync_wait.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>

// Only Clang elides frames, only where it optimises, and not reliably under a sanitizer.
#if defined(__clang__) && defined(__OPTIMIZE__) && defined(NDEBUG)

namespace {

using namespace pitsaw;

std::uint64_t frames() { return frame_memory_statistics().frames; }

task<int> leaf(int value) { co_return value; }
task<int> sums_two(int value) {
    int const left = co_await leaf(value);
    int const right = co_await leaf(value + 1);
    co_return left + right;
}
task<io_result<int>> result_of(int value) { co_return value; }
task<std::size_t> length(std::string text) { co_return text.size(); }

#define ELIDES(name, expression)                                                                             \
    task<std::uint64_t> name() {                                                                             \
        auto const before = frames();                                                                        \
        (void)co_await expression;                                                                           \
        co_return frames() - before;                                                                         \
    }                                                                                                        \
    TEST(elision, name) { EXPECT_EQ(sync_wait(name()).value(), 0u); }

ELIDES(a_child_needs_no_frame, leaf(1))
ELIDES(nor_do_its_children, sums_two(1))
ELIDES(nor_one_with_a_string, length("a string that is too long for the small buffer"))
ELIDES(nor_one_in_as_outcome, as_outcome(leaf(1)))
ELIDES(nor_one_in_with_timeout, with_timeout(std::chrono::seconds(1), leaf(1)))
ELIDES(nor_those_in_when_any, when_any(leaf(1), leaf(2)))
ELIDES(nor_those_in_when_all, when_all(leaf(1), leaf(2)))
ELIDES(nor_one_in_or_return, or_return(result_of(1)))

#undef ELIDES

task<std::uint64_t> named_task() {
    auto const before = frames();
    auto work = leaf(1);
    (void)co_await std::move(work);
    co_return frames() - before;
}

TEST(elision, nor_a_named_one) { EXPECT_EQ(sync_wait(named_task()).value(), 0u); }

} // namespace

#endif
