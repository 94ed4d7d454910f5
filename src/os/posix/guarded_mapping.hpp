#pragma once
#include <cstddef>

/// Memory that no other mapping can grow into from below. No policy. Threads: any.
namespace pitsaw::inline v0::posix {

/// A page.
[[nodiscard]] auto guard_bytes() noexcept -> std::size_t;

/// `bytes` in all, the guard at their beginning included, which nobody may touch; the rest is zero. Null:
/// there is no memory.
[[nodiscard]] auto map_behind_guard(std::size_t bytes) noexcept -> std::byte*;

void unmap(std::byte* mapping, std::size_t bytes) noexcept;

} // namespace pitsaw::inline v0::posix
