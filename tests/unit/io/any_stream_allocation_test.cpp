#include <pitsaw/io/any_stream.hpp>

#include <pitsaw/pitsaw.hpp>

#include "stream_pair.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

// Counts what this thread allocates, in the whole executable.
namespace {
thread_local std::uint64_t allocations = 0;
} // namespace

// The linker leads operator new through here: a definition of our own would meet those of the sanitizers.
extern "C" {
void* __real__Znwm(std::size_t bytes);
void* __wrap__Znwm(std::size_t bytes) {
    ++allocations;
    return __real__Znwm(bytes);
}
}

namespace {

namespace ps = pitsaw;

template <class Stream> ps::task<ps::io_result<void>> bounce(Stream& left, Stream& right) {
    std::array<std::byte, 8> bytes{};
    for (int i = 0; i < 100; ++i) {
        co_await ps::or_return(left.send(bytes));
        co_await ps::or_return(right.receive(bytes));
    }
    co_return {};
}

// What the simulated driver needs for a send and a receive is its own concern: any_stream adds nothing.
ps::task<ps::io_result<void>> count_allocations() {
    auto ends = co_await ps::or_return(ps::testing::connect_pair());
    co_await ps::or_return(bounce(ends.client, ends.server)); // what the recycler keeps is there now
    auto before = allocations;
    co_await ps::or_return(bounce(ends.client, ends.server));
    auto const of_the_driver = allocations - before;
    before = allocations;
    ps::any_stream left(std::move(ends.client));
    EXPECT_EQ(allocations - before, 1u);
    ps::any_stream right(std::move(ends.server));
    co_await ps::or_return(bounce(left, right));
    before = allocations;
    co_await ps::or_return(bounce(left, right));
    EXPECT_EQ(allocations - before, of_the_driver);
    co_return {};
}

TEST(any_stream, allocates_once_when_it_is_made_and_not_for_its_operations) {
    EXPECT_TRUE(ps::sync_wait(count_allocations()).value().has_value());
}

} // namespace
