#pragma once
#include <string>

namespace pitsaw::cli {

/// What `pitsaw record` is told.
struct record_options {
    std::string from; // a process's number, or a file that was saved
    std::string raw;  // where to save it; empty: it is printed
};

/// Prints the flight recorders of a process, which need not help and may go on running, or of a file.
///
/// Returns the status to exit with: 0, or 1 with a line on standard error.
[[nodiscard]] auto record(record_options const& options) -> int;

} // namespace pitsaw::cli
