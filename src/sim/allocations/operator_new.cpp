// The program's operator new and delete, where a test links pitsaw::sim_allocations: a harness hears of each
// allocation of its thread and may refuse it. What it does not refuse is malloc's, as without this file.
#include "task/allocation_watch.hpp"

#include <cstdlib>
#include <new>

namespace {

void* watched_allocation(std::size_t const bytes, std::size_t const alignment = 0) {
    pitsaw::note_allocation(bytes);
    auto const wanted = bytes == 0 ? std::size_t{1} : bytes; // each allocation has an address of its own
    // aligned_alloc wants a multiple of the alignment (C17, 7.22.3.1, in its first wording).
    void* const made = alignment == 0
                           ? std::malloc(wanted)
                           : std::aligned_alloc(alignment, (wanted + alignment - 1) / alignment * alignment);
    if (made == nullptr) throw std::bad_alloc();
    return made;
}

void* watched_or_null(std::size_t const bytes, std::size_t const alignment = 0) noexcept {
    try {
        return watched_allocation(bytes, alignment);
    } catch (...) {
        return nullptr;
    }
}

std::size_t number_of(std::align_val_t const alignment) noexcept {
    return static_cast<std::size_t>(alignment);
}

} // namespace

void* operator new(std::size_t bytes) { return watched_allocation(bytes); }
void* operator new[](std::size_t bytes) { return watched_allocation(bytes); }
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept { return watched_or_null(bytes); }
void* operator new[](std::size_t bytes, std::nothrow_t const&) noexcept { return watched_or_null(bytes); }
void* operator new(std::size_t bytes, std::align_val_t to) {
    return watched_allocation(bytes, number_of(to));
}
void* operator new[](std::size_t bytes, std::align_val_t to) {
    return watched_allocation(bytes, number_of(to));
}
void* operator new(std::size_t bytes, std::align_val_t to, std::nothrow_t const&) noexcept {
    return watched_or_null(bytes, number_of(to));
}
void* operator new[](std::size_t bytes, std::align_val_t to, std::nothrow_t const&) noexcept {
    return watched_or_null(bytes, number_of(to));
}

void operator delete(void* which) noexcept { std::free(which); }
void operator delete[](void* which) noexcept { std::free(which); }
void operator delete(void* which, std::size_t) noexcept { std::free(which); }
void operator delete[](void* which, std::size_t) noexcept { std::free(which); }
void operator delete(void* which, std::nothrow_t const&) noexcept { std::free(which); }
void operator delete[](void* which, std::nothrow_t const&) noexcept { std::free(which); }
void operator delete(void* which, std::align_val_t) noexcept { std::free(which); }
void operator delete[](void* which, std::align_val_t) noexcept { std::free(which); }
void operator delete(void* which, std::size_t, std::align_val_t) noexcept { std::free(which); }
void operator delete[](void* which, std::size_t, std::align_val_t) noexcept { std::free(which); }
void operator delete(void* which, std::align_val_t, std::nothrow_t const&) noexcept { std::free(which); }
void operator delete[](void* which, std::align_val_t, std::nothrow_t const&) noexcept { std::free(which); }
