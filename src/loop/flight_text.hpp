#pragma once
#include "loop/flight_recorder.hpp"

#include <array>
#include <cstddef>
#include <cstdio>

namespace pitsaw::inline v0 {

/// One record in a line, without its end; `place` is where the chain that ended was waiting last, or null.
/// Allocates nothing.
[[nodiscard]] auto to_text(flight_record const& of, char const* place) noexcept -> std::array<char, 256>;

/// The last records of this process's own recorder, the oldest first.
void print_last(flight_recorder const& of, std::size_t count, std::FILE* to) noexcept;

} // namespace pitsaw::inline v0
