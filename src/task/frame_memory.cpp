#include <pitsaw/task/frame_memory.hpp>

#include "task/allocation_watch.hpp"

#include <new>
#include <utility>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PITSAW_FRAMES_FROM_THE_HEAP 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define PITSAW_FRAMES_FROM_THE_HEAP 1
#endif

namespace pitsaw::inline v0 {

namespace {

// Sizes of 8, 24, 40 and so on: what fits into a block of glibc's malloc, whose blocks are multiples of 16
// bytes with 8 of its own.
constexpr std::size_t class_step = 16;
constexpr std::size_t class_least = 8;
constexpr std::size_t class_count = 129; // up to 2 KiB

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
    // Not next to `taken`: Clang would update both by one vector, and loading it would wait for two stores.
    std::size_t room; ///< bytes that may still be cached; none until the reaper looks after the thread
    std::uint64_t allocations;
    std::uint64_t taken;
    std::uint64_t given_back;
    std::uint32_t evicted_next; ///< the class that makes room for others
    bool has_reaper;
    allocation_watch* watched_by; ///< from its begin to its end
    allocation_watch* watch;      ///< the same, or null for a while; looked at where memory is the heap's
};

thread_local constinit recycler frames_of_this_thread{};

// Gives a thread's free lists back when the thread ends. A separate object, so that the lists themselves need
// no guard at each access; constructed at its first use.
struct reaper {
    reaper() = default;
    reaper(reaper&&) = delete;
    ~reaper() { give_all_back(); } // what comes later is the heap's
    void look_after_this_thread() noexcept {
        frames_of_this_thread.has_reaper = true;
        frames_of_this_thread.room = frames_of_this_thread.watched_by != nullptr ? 0 : frame_cache_bytes_max;
    }
    void give_all_back() noexcept {
        for (auto& list : frames_of_this_thread.free)
            while (auto* const block = list) {
                list = block->next;
                ::operator delete(block);
            }
        frames_of_this_thread.room = 0;
    }
};
thread_local reaper reaper_of_this_thread;

constexpr std::size_t class_of(std::size_t const size) noexcept {
    return (size + class_step - 1 - class_least) / class_step;
}
constexpr std::size_t bytes_of_class(std::size_t const index) noexcept {
    return index * class_step + class_least;
}
static_assert(bytes_of_class(class_of(1)) == 8 && bytes_of_class(class_of(8)) == 8 &&
              bytes_of_class(class_of(9)) == 24 && bytes_of_class(class_of(2048)) == 2056);

// Apart from the hot path, which then saves no registers.
[[gnu::noinline, gnu::cold]] void* allocate_on_the_heap(std::size_t const size) {
    note_allocation(size);
    unwatched_allocations const told_once;
    void* const fresh = ::operator new(is_recycling ? bytes_of_class(class_of(size)) : size);
    ++frames_of_this_thread.allocations;
    ++frames_of_this_thread.taken;
    return fresh;
}

// Gives cached blocks back until a frame of so many bytes can be cached in their place: a burst of frames
// of one size, which fills the cache, must not send those of every other size to the heap from then on.
bool make_room(std::size_t const bytes) noexcept {
    auto& mine = frames_of_this_thread;
    for (std::size_t looked_at = 0; mine.room < bytes && looked_at <= class_count; ++looked_at) {
        auto*& list = mine.free[mine.evicted_next];
        while (list != nullptr && mine.room < bytes) {
            auto* const block = list;
            list = block->next;
            ::operator delete(block);
            mine.room += bytes_of_class(mine.evicted_next);
        }
        if (list == nullptr) mine.evicted_next = (mine.evicted_next + 1) % class_count;
    }
    return mine.room >= bytes;
}

[[gnu::noinline, gnu::cold]] void free_without_room(void* const frame, std::size_t const size) noexcept {
    if (is_recycling && !frames_of_this_thread.has_reaper) {
        reaper_of_this_thread.look_after_this_thread();
        return free_frame(frame, size);
    }
    if (is_recycling && class_of(size) < class_count && make_room(bytes_of_class(class_of(size))))
        return free_frame(frame, size);
    ++frames_of_this_thread.given_back;
    ::operator delete(frame);
}

} // namespace

void* allocate_frame(std::size_t const size) {
    auto& mine = frames_of_this_thread;
    auto const index = class_of(size);
    if (!is_recycling || index >= class_count) [[unlikely]]
        return allocate_on_the_heap(size);
    auto* const block = mine.free[index];
    if (block == nullptr) [[unlikely]]
        return allocate_on_the_heap(size);
    mine.free[index] = block->next;
    mine.room += bytes_of_class(index);
    ++mine.taken;
    return block;
}

void free_frame(void* const frame, std::size_t const size) noexcept {
    auto& mine = frames_of_this_thread;
    auto const index = class_of(size);
    auto const bytes = bytes_of_class(index);
    if (!is_recycling || index >= class_count || mine.room < bytes) [[unlikely]]
        return free_without_room(frame, size);
    mine.free[index] = ::new (frame) free_block{mine.free[index]};
    mine.room -= bytes;
    ++mine.given_back;
}

void begin_allocation_watch(allocation_watch& by) noexcept {
    auto& mine = frames_of_this_thread;
    mine.watched_by = &by; // with no room and nothing cached, every frame comes from the heap
    reaper_of_this_thread.look_after_this_thread();
    reaper_of_this_thread.give_all_back();
    mine.watch = &by;
}

void end_allocation_watch() noexcept {
    auto& mine = frames_of_this_thread;
    mine.watch = nullptr;
    mine.watched_by = nullptr;
    reaper_of_this_thread.look_after_this_thread();
}

void note_allocation(std::size_t const bytes) {
    auto* const watch = frames_of_this_thread.watch;
    if (watch == nullptr) return;
    unwatched_allocations const its_own;
    watch->allocating(bytes);
}

unwatched_allocations::unwatched_allocations() noexcept
    : watch_(std::exchange(frames_of_this_thread.watch, nullptr)) {}
unwatched_allocations::~unwatched_allocations() { frames_of_this_thread.watch = watch_; }

watched_again::watched_again() noexcept
    : before_(std::exchange(frames_of_this_thread.watch, frames_of_this_thread.watched_by)) {}
watched_again::~watched_again() { frames_of_this_thread.watch = before_; }

frame_statistics frame_memory_statistics() noexcept {
    auto const& mine = frames_of_this_thread;
    auto const cached_bytes =
        mine.has_reaper && mine.watched_by == nullptr ? frame_cache_bytes_max - mine.room : 0;
    return {mine.taken, mine.allocations, static_cast<std::int64_t>(mine.taken - mine.given_back),
            cached_bytes};
}

} // namespace pitsaw::inline v0
