#pragma once
#include <cstddef>
#include <span>

/// Files that are written as a whole. No policy. Threads: any.
namespace pitsaw::inline v0::posix {

/// Makes a new file that its owner alone may read, whatever was at `path` and whoever has that open, and puts
/// it there once it is whole; until then it stands in the same folder, where this user must be allowed to
/// make it. A link is not followed, and only a file is replaced. 0 or a negative errno. Allocates nothing.
[[nodiscard]] auto write_whole_file(char const* path, std::span<std::byte const> bytes) noexcept -> int;

} // namespace pitsaw::inline v0::posix
