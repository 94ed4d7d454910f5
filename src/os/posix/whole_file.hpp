#pragma once
#include <cstddef>
#include <span>

/// Files that are written and read as a whole. No policy. Threads: any.
namespace pitsaw::inline v0::posix {

/// Replaces what was there; only this user may read it. 0 or a negative errno. Allocates nothing.
[[nodiscard]] auto write_whole_file(char const* path, std::span<std::byte const> bytes) noexcept -> int;

/// The calling process's number.
[[nodiscard]] auto process_id() noexcept -> long;

} // namespace pitsaw::inline v0::posix
