#include <pitsaw/task/frame_memory.hpp>

#include <pitsaw/scope/when_any.hpp>
#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/as_outcome.hpp>
#include <pitsaw/task/sync_wait.hpp>
#include <pitsaw/task/task.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define FRAMES_ARE_RECYCLED false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FRAMES_ARE_RECYCLED false
#endif
#endif
#ifndef FRAMES_ARE_RECYCLED
#define FRAMES_ARE_RECYCLED true
#endif

namespace {

using namespace pitsaw;

constexpr bool is_recycling = FRAMES_ARE_RECYCLED; // under ASan each frame is the heap's own

template <class F> void on_a_new_thread(F run) { std::thread(run).join(); }

TEST(frame_memory, counts_what_a_thread_takes_and_gives_back) {
    on_a_new_thread([] {
        void* const frame = allocate_frame(100);
        auto const taken = frame_memory_statistics();
        EXPECT_EQ(taken.frames, 1u);
        EXPECT_EQ(taken.allocations, 1u);
        EXPECT_EQ(taken.live, 1);
        EXPECT_EQ(taken.cached_bytes, 0u);
        free_frame(frame, 100);
        auto const given = frame_memory_statistics();
        EXPECT_EQ(given.frames, 1u);
        EXPECT_EQ(given.live, 0);
        EXPECT_EQ(given.cached_bytes, is_recycling ? 104u : 0u);
    });
}

TEST(frame_memory, takes_again_what_has_the_same_size_class) {
    on_a_new_thread([] {
        void* const first = allocate_frame(89);
        free_frame(first, 89);
        void* const second = allocate_frame(104);
        if (is_recycling) {
            EXPECT_EQ(first, second);
        }
        std::memset(second, 0x5A, 104);
        free_frame(second, 104);
        void* const other_class = allocate_frame(105);
        EXPECT_EQ(frame_memory_statistics().allocations, is_recycling ? 2u : 3u);
        free_frame(other_class, 105);
    });
}

TEST(frame_memory, recycles_up_to_2_kib_and_leaves_the_rest_to_the_heap) {
    on_a_new_thread([] {
        free_frame(allocate_frame(2048), 2048);
        EXPECT_EQ(frame_memory_statistics().cached_bytes, is_recycling ? 2056u : 0u);
        for (std::size_t const size : {std::size_t{2057}, std::size_t{1} << 20}) {
            void* const large = allocate_frame(size);
            std::memset(large, 0x5A, size);
            free_frame(large, size);
        }
        EXPECT_EQ(frame_memory_statistics().cached_bytes, is_recycling ? 2056u : 0u);
        EXPECT_EQ(frame_memory_statistics().allocations, 3u);
    });
}

TEST(frame_memory, the_cache_has_a_bound) {
    on_a_new_thread([] {
        for (std::size_t const size : {std::size_t{992}, std::size_t{2048}}) {
            std::vector<void*> frames;
            for (int i = 0; i < 6000; ++i) frames.push_back(allocate_frame(size));
            EXPECT_EQ(frame_memory_statistics().live, 6000);
            for (void* const frame : frames) {
                free_frame(frame, size);
                ASSERT_LE(frame_memory_statistics().cached_bytes, frame_cache_bytes_max);
            }
            EXPECT_EQ(frame_memory_statistics().live, 0);
            if (is_recycling) {
                EXPECT_GT(frame_memory_statistics().cached_bytes, frame_cache_bytes_max - 2048);
            }
        }
    });
}

TEST(frame_memory, a_frame_may_be_given_back_on_another_thread) {
    void* frame = nullptr;
    on_a_new_thread([&frame] {
        frame = allocate_frame(64);
        EXPECT_EQ(frame_memory_statistics().live, 1);
    });
    on_a_new_thread([&frame] {
        free_frame(frame, 64);
        EXPECT_EQ(frame_memory_statistics().live, -1);
        free_frame(allocate_frame(64), 64);
        EXPECT_EQ(frame_memory_statistics().allocations, is_recycling ? 0u : 1u);
    });
}

struct frees_late {
    void* frame = nullptr;
    frees_late() = default;
    ~frees_late() { free_frame(frame, 64); } // after the thread's recycler has gone
};
thread_local frees_late late;

TEST(frame_memory, may_be_used_while_a_thread_ends) {
    on_a_new_thread([] {
        late.frame = allocate_frame(64); // constructed first, hence destroyed last
        free_frame(allocate_frame(64), 64);
    }); // LeakSanitizer has the last word
}

task<int> made_here() { co_return 6; }

TEST(frame_memory, an_unstarted_task_may_run_on_another_thread) {
    auto work = made_here();
    on_a_new_thread([&work] { EXPECT_EQ(sync_wait(std::move(work)).value(), 6); });
}

TEST(frame_memory, a_burst_of_frames_of_one_size_leaves_room_for_other_sizes) {
    on_a_new_thread([] {
        constexpr std::size_t big = 512, small = 64;
        auto const take_and_give_back = [](std::size_t count, std::size_t size) {
            std::vector<void*> frames(count);
            for (auto& frame : frames) frame = allocate_frame(size);
            for (auto* const frame : frames) free_frame(frame, size);
        };
        take_and_give_back(2 * frame_cache_bytes_max / big, big);
        take_and_give_back(100, small);
        auto const before = frame_memory_statistics().allocations;
        take_and_give_back(100, small);
        if (is_recycling) {
            EXPECT_EQ(frame_memory_statistics().allocations, before);
        }
        EXPECT_LE(frame_memory_statistics().cached_bytes, frame_cache_bytes_max);
    });
}

// ---- No heap in loops

[[gnu::noinline]] task<int> child(int value) { co_return value; }
task<std::uint64_t> allocations_of_a_loop(int rounds) {
    std::uint64_t before = 0;
    int sum = 0;
    for (int i = 0; i < rounds; ++i) {
        if (i == rounds / 2) before = frame_memory_statistics().allocations;
        sum += co_await child(i);
        auto const end = co_await as_outcome(child(i));
        sum += end.has_value() ? 1 : 0;
        auto const timed = co_await with_timeout(std::chrono::hours(1), child(i));
        sum += timed.value_or(0);
        auto const any = co_await when_any(child(i), child(i));
        sum += std::get<0>(any).value_or(0);
    }
    EXPECT_NE(sum, 0);
    co_return frame_memory_statistics().allocations - before;
}

TEST(frame_memory, a_loop_of_children_takes_nothing_from_the_heap_once_it_is_warm) {
    auto const allocations = sync_wait(allocations_of_a_loop(1000)).value();
    if (is_recycling) {
        EXPECT_EQ(allocations, 0u);
    }
}

} // namespace
