#pragma once
#include <pitsaw/io/result.hpp>

#include <cstddef>
#include <cstdint>

namespace pitsaw::inline v0 {

struct operation;

enum class event_flag : std::uint8_t {
    none = 0,
    more = 1, // not the final event: the operation is still in flight
};

/// What a driver reports of one operation; plain data, copied by value.
///
/// `result` is a count of bytes, a native handle, 0, or a negative native error that `to_result` translates.
/// A handle in it belongs to the `on_event` that receives it (driver.hpp, law 4).
struct event {
    operation* op = nullptr;
    std::int32_t result = 0;
    event_flag flags = event_flag::none;

    [[nodiscard]] constexpr bool is_final() const noexcept { return flags != event_flag::more; }
};
static_assert(sizeof(event) == 16);

/// The event's result as a value or an error.
[[nodiscard]] inline auto to_result(event const& done) noexcept -> io_result<std::size_t> {
    if (done.result < 0) return std::unexpected(to_error(done.result));
    return static_cast<std::size_t>(done.result);
}

} // namespace pitsaw::inline v0
