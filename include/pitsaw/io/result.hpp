#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <system_error>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0 {

/// What an operation that is expected to fail now and then returns: its value or the error.
template <class T> using io_result = std::expected<T, std::error_code>;

/// The error of a transfer that had moved some bytes before it failed.
///
/// ```
/// std::expected<std::size_t, transfer_error> copied = ...;
/// if (!copied) log("lost the peer after {} bytes", copied.error().transferred);
/// ```
/// The count is there to be used. Where it means nothing, `forget_progress` says so in the code.
struct transfer_error {
    std::error_code code;
    std::size_t transferred = 0; // bytes
};

/// Drops the count of a `transfer_error`, on purpose and visibly.
template <class T>
[[nodiscard]] constexpr auto forget_progress(std::expected<T, transfer_error> result) -> io_result<T> {
    if (!result) return std::unexpected(result.error().code);
    if constexpr (std::is_void_v<T>)
        return {};
    else
        return std::move(*result);
}

/// The one translation of a driver's negative result to an error (driver.hpp, law 9).
///
/// On POSIX systems and in the simulator the result is `-errno`, and the code's category is
/// `std::generic_category()`, so that it equals both a `std::errc` and what `std::make_error_code` gives.
[[nodiscard]] auto to_error(std::int32_t result) noexcept -> std::error_code;

} // namespace pitsaw::inline v0
