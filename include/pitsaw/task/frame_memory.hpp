#pragma once
#include <cstddef>
#include <cstdint>

namespace pitsaw::inline v0 {

/// What the calling thread's frame recycler has done so far; counts only grow, except `live` and
/// `cached_bytes`.
struct frame_statistics {
    std::uint64_t frames = 0;       ///< taken, recycled or not
    std::uint64_t allocations = 0;  ///< of them, those that went to the heap
    std::int64_t live = 0;          ///< taken minus given back by this thread
    std::uint64_t cached_bytes = 0; ///< waiting to be taken again; at most `frame_cache_bytes_max`
};

/// The bound of a thread's cache; what is freed beyond it goes to the heap.
inline constexpr std::size_t frame_cache_bytes_max = std::size_t{4} << 20;

/// Memory for a coroutine frame (or a group's node), from the thread's free lists: one list for each 16 bytes
/// of size, up to 2 KiB and a little; larger ones are the heap's.
///
/// Threads: any; a frame may be given back on another thread than it was taken on. Errors: std::bad_alloc.
/// Under AddressSanitizer each frame is the heap's own, for the sanitizer's quarantine finds what a recycler
/// would hide. Never inlined: coroutines move between threads, and thread-locals are read in here.
[[nodiscard, gnu::noinline, gnu::returns_nonnull]] void* allocate_frame(std::size_t size);
[[gnu::noinline]] void free_frame(void* frame, std::size_t size) noexcept;

/// The calling thread's figures.
[[nodiscard, gnu::noinline]] frame_statistics frame_memory_statistics() noexcept;

/// A base that takes a coroutine's frame from the recycler.
struct recycled_frame {
    [[nodiscard]] static void* operator new(std::size_t const size) { return allocate_frame(size); }
    static void operator delete(void* const frame, std::size_t const size) noexcept {
        free_frame(frame, size);
    }
};

} // namespace pitsaw::inline v0
