#include <pitsaw/task/frame_memory.hpp>

#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PITSAW_FRAMES_FROM_THE_HEAP 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define PITSAW_FRAMES_FROM_THE_HEAP 1
#endif

namespace pitsaw::inline v0 {

namespace {

constexpr std::size_t class_bytes = 32;
constexpr std::size_t class_count = (std::size_t{2} << 10) / class_bytes + 1;

#if defined(PITSAW_FRAMES_FROM_THE_HEAP)
constexpr bool is_recycling = false;
#else
constexpr bool is_recycling = true;
#endif

struct free_block {
    free_block* next;
};

struct recycler {
    free_block* free[class_count];
    frame_statistics statistics;
    bool has_reaper;
};

thread_local constinit recycler frames_of_this_thread{};

// Gives a thread's free lists back when the thread ends. A separate object, so that the lists themselves need no
// guard at each access; constructed at its first use.
struct reaper {
    reaper() = default;
    reaper(reaper&&) = delete;
    ~reaper() {
        for (auto& list : frames_of_this_thread.free)
            while (auto* const block = list) {
                list = block->next;
                ::operator delete(block);
            }
        frames_of_this_thread.statistics.cached_bytes = frame_cache_bytes_max; // what comes later is the heap's
    }
    void look_after_this_thread() noexcept { frames_of_this_thread.has_reaper = true; }
};
thread_local reaper reaper_of_this_thread;

constexpr std::size_t class_of(std::size_t const size) noexcept { return (size + class_bytes - 1) / class_bytes; }

} // namespace

void* allocate_frame(std::size_t const size) {
    auto& mine = frames_of_this_thread;
    auto const index = class_of(size);
    if (is_recycling && index < class_count) [[likely]] {
        if (auto* const block = mine.free[index]) [[likely]] {
            mine.free[index] = block->next;
            mine.statistics.cached_bytes -= index * class_bytes;
            ++mine.statistics.frames;
            ++mine.statistics.live;
            return block;
        }
    }
    void* const fresh = ::operator new(is_recycling ? index * class_bytes : size);
    ++mine.statistics.allocations;
    ++mine.statistics.frames;
    ++mine.statistics.live;
    return fresh;
}

void free_frame(void* const frame, std::size_t const size) noexcept {
    auto& mine = frames_of_this_thread;
    auto const index = class_of(size);
    --mine.statistics.live;
    if (is_recycling && index < class_count &&
        mine.statistics.cached_bytes + index * class_bytes <= frame_cache_bytes_max) [[likely]] {
        if (!mine.has_reaper) [[unlikely]] reaper_of_this_thread.look_after_this_thread();
        auto* const block = ::new (frame) free_block{mine.free[index]};
        mine.free[index] = block;
        mine.statistics.cached_bytes += index * class_bytes;
        return;
    }
    ::operator delete(frame);
}

frame_statistics frame_memory_statistics() noexcept { return frames_of_this_thread.statistics; }

} // namespace pitsaw::inline v0
