#pragma once
#include <pitsaw/io/operation.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace pitsaw::inline v0 {

/// The most bytes one operation moves, for a result counts in 31 bits. A longer buffer is filled in part.
inline constexpr std::size_t transfer_bytes_max = std::numeric_limits<std::int32_t>::max();

/// Lends `bytes` to a receive: the driver writes to them until the final event.
inline void set_buffer(operation& op, std::span<std::byte> bytes) noexcept {
    op.address = bytes.data();
    op.length = static_cast<std::uint32_t>(std::min(bytes.size(), transfer_bytes_max));
}

/// Lends `bytes` to a send or a connect: the driver reads them until the final event and never writes.
inline void set_source(operation& op, std::span<std::byte const> bytes) noexcept {
    // One field serves both directions, as in the records of a kernel.
    op.address = const_cast<std::byte*>(bytes.data());
    op.length = static_cast<std::uint32_t>(std::min(bytes.size(), transfer_bytes_max));
}

/// One piece of a vectored send. The layout is POSIX's `iovec`.
struct source_span {
    void const* address = nullptr;
    std::size_t length = 0; // bytes
};

/// At most this many pieces go into one vectored send: IOV_MAX of Linux.
inline constexpr std::size_t pieces_max = 1024;

/// Lends `pieces` and the bytes they name to a send, until its final event. More than `pieces_max` are sent
/// in part.
inline void set_pieces(wide_operation& op, std::span<source_span const> pieces) noexcept {
    op.address = const_cast<source_span*>(pieces.data()); // as in set_source
    op.length = static_cast<std::uint32_t>(std::min(pieces.size(), pieces_max));
    op.options = op.options | op_option::vectored;
}

/// The pieces lent, as a driver sees them.
[[nodiscard]] inline auto pieces_of(operation const& op) noexcept -> std::span<source_span const> {
    return {static_cast<source_span const*>(op.address), op.length};
}

/// The bytes lent, as a driver sees them.
[[nodiscard]] inline auto buffer_of(operation const& op) noexcept -> std::span<std::byte> {
    return {static_cast<std::byte*>(op.address), op.length};
}

} // namespace pitsaw::inline v0
