#pragma once
#include <pitsaw/io/result.hpp>

#include <cstddef>
#include <cstdint>

namespace pitsaw::inline v0 {

struct operation;

enum class event_flag : std::uint8_t { // bits
    none = 0,
    more = 1,   // not the final event: the operation is still in flight
    pooled = 2, // `buffer` holds the bytes received
};
[[nodiscard]] constexpr event_flag operator|(event_flag a, event_flag b) noexcept {
    return static_cast<event_flag>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
/// Whether `flags` has the bit `one`.
[[nodiscard]] constexpr bool has(event_flag flags, event_flag one) noexcept {
    return (static_cast<std::uint8_t>(flags) & static_cast<std::uint8_t>(one)) != 0;
}

/// What a driver reports of one operation; plain data, copied by value.
///
/// `result` is a count of bytes, a native handle, 0, or a negative native error that `to_result` translates.
/// A handle or a buffer in it belongs to the `on_event` that receives it (driver.hpp, law 4).
struct event {
    operation* op = nullptr;
    std::int32_t result = 0;
    event_flag flags = event_flag::none;
    std::uint16_t buffer = 0; // pooled: its number in the operation's pool

    [[nodiscard]] constexpr bool is_final() const noexcept { return !has(flags, event_flag::more); }
};
static_assert(sizeof(event) == 16);

/// The event's result as a value or an error.
[[nodiscard]] inline auto to_result(event const& done) noexcept -> io_result<std::size_t> {
    if (done.result < 0) return std::unexpected(to_error(done.result));
    return static_cast<std::size_t>(done.result);
}

} // namespace pitsaw::inline v0
