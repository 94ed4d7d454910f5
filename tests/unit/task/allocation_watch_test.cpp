#include "task/allocation_watch.hpp"

#include <pitsaw/task/frame_memory.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>

namespace {

using namespace pitsaw;

struct counting_watch final : allocation_watch {
    counting_watch() { begin_allocation_watch(*this); }
    counting_watch(counting_watch&&) = delete;
    ~counting_watch() { end_allocation_watch(); }
    void allocating(std::size_t bytes) override {
        last = bytes;
        if (++heard == refused) throw std::bad_alloc();
    }
    std::uint64_t heard = 0;
    std::uint64_t refused = 0;
    std::size_t last = 0;
};

TEST(allocation_watch, hears_of_every_frame_although_frames_are_recycled) {
    free_frame(allocate_frame(100), 100); // one is waiting to be used again
    counting_watch watch;
    for (int i = 0; i < 3; ++i) free_frame(allocate_frame(100), 100);
    EXPECT_EQ(watch.heard, 3u);
    EXPECT_EQ(watch.last, 100u);
}

TEST(allocation_watch, refuses_one_frame_and_nothing_is_left_over) {
    auto const before = frame_memory_statistics().live;
    counting_watch watch;
    watch.refused = 2;
    auto* const first = allocate_frame(100);
    EXPECT_THROW((void)allocate_frame(100), std::bad_alloc);
    auto* const third = allocate_frame(100);
    EXPECT_EQ(frame_memory_statistics().live, before + 2);
    free_frame(first, 100);
    free_frame(third, 100);
    EXPECT_EQ(frame_memory_statistics().live, before);
}

TEST(allocation_watch, does_not_hear_of_what_its_thread_says_is_not_to_be_heard) {
    counting_watch watch;
    {
        unwatched_allocations const own;
        free_frame(allocate_frame(100), 100);
    }
    EXPECT_EQ(watch.heard, 0u);
    note_allocation(7);
    EXPECT_EQ(watch.heard, 1u);
}

TEST(allocation_watch, does_not_hear_of_other_threads) {
    counting_watch watch;
    std::jthread([] { free_frame(allocate_frame(100), 100); }).join();
    EXPECT_EQ(watch.heard, 0u);
}

TEST(allocation_watch, leaves_a_recycler_that_works_as_before) {
    {
        counting_watch const watch;
    }
    free_frame(allocate_frame(100), 100);
    auto const before = frame_memory_statistics();
    free_frame(allocate_frame(100), 100);
    auto const after = frame_memory_statistics();
    bool const is_recycling = before.cached_bytes != 0; // not under AddressSanitizer
    EXPECT_EQ(after.allocations - before.allocations, is_recycling ? 0u : 1u);
}

} // namespace
