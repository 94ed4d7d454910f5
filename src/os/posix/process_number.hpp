#pragma once

namespace pitsaw::inline v0::posix {

/// The calling process's number; a child of fork has another.
[[nodiscard]] auto process_number() noexcept -> long;

} // namespace pitsaw::inline v0::posix
