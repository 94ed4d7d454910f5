#pragma once
#include <string_view>

namespace pitsaw::inline v0 {

/// What `ps -L`, debuggers and the kernel call the calling thread: the first 15 bytes. Source: prctl(2),
/// PR_SET_NAME.
void set_thread_name(std::string_view name) noexcept;

} // namespace pitsaw::inline v0
