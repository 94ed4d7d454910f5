#pragma once

namespace pitsaw::inline v0::sim {

/// Of which commit this library was built, or "unknown". Written by cmake/write_commit.cmake.
extern char const* const commit;

} // namespace pitsaw::inline v0::sim
