#pragma once
#include <cstdint>

namespace pitsaw::inline v0 {

/// The calling thread's number: from 1 on, and never given to another thread, as its id is once it has ended.
[[nodiscard]] std::uint64_t this_thread_number() noexcept;

} // namespace pitsaw::inline v0
