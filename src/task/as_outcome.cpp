#include <pitsaw/task/as_outcome.hpp>

#include <algorithm>
#include <cstdio>

namespace pitsaw::inline v0 {

void note_swallowed_stop(promise_header& header) noexcept {
    constexpr std::uint32_t logged_at = 1000;
    if (++header.edge->swallowed_stops != logged_at) return;
    auto const& where = header.awaiting;
    char line[512];
    int const length = std::snprintf(
        line, sizeof line, "a task has swallowed %u stops in a row and goes on: %s:%u %s", logged_at,
        where.file_name(), static_cast<unsigned>(where.line()), where.function_name());
    auto const shown = length < 0 ? 0 : std::min(static_cast<std::size_t>(length), sizeof line - 1);
    header.env->executor->log(std::string_view(line, shown));
}

} // namespace pitsaw::inline v0
