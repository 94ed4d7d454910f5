#include "os/posix/guarded_mapping.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace pitsaw::inline v0::posix {

auto guard_bytes() noexcept -> std::size_t { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

auto map_behind_guard(std::size_t const bytes) noexcept -> std::byte* {
    auto* const made = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return nullptr;
    auto* const mapping = static_cast<std::byte*>(made);
    auto const guard = guard_bytes();
    if (mprotect(mapping + guard, bytes - guard, PROT_READ | PROT_WRITE) == 0) return mapping;
    munmap(made, bytes);
    return nullptr;
}

void unmap(std::byte* const mapping, std::size_t const bytes) noexcept { munmap(mapping, bytes); }

} // namespace pitsaw::inline v0::posix
