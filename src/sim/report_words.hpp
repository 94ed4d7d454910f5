#pragma once
#include <pitsaw/task/promise_header.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace pitsaw::inline v0::sim {

/// Where a chain waits: the site of the innermost await and, behind it, those of its callers.
[[nodiscard]] std::string await_sites(promise_header const* leaf);

/// The same of the task that runs on this thread, or that none does.
[[nodiscard]] std::string sites_of_the_running_task();

/// Appends one of several things that are wrong; nothing for "".
void append_wrong(std::string& to, std::string_view what);

/// What `world::rerun` says of a run.
[[nodiscard]] std::string rerun_of(std::uint64_t seed, std::uint64_t step);

} // namespace pitsaw::inline v0::sim
