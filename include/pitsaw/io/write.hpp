#pragma once
#include <pitsaw/io/buffer.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/io/writable.hpp>
#include <pitsaw/task/task.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace pitsaw::inline v0 {

/// What both `send_all` of bytes are: `Count` is the caller's counter by reference, or one of its own.
template <class Count, writable S>
task<io_result<void>> send_rest(S& to, std::span<std::byte const> bytes, Count sent) {
    while (sent < bytes.size()) {
        auto const went = co_await to.send(bytes.subspan(sent));
        if (!went.has_value()) co_return std::unexpected(went.error());
        if (*went == 0) co_return std::unexpected(std::make_error_code(std::errc::broken_pipe));
        sent += *went;
    }
    co_return io_result<void>();
}

/// Sends the bytes from `sent` on, and counts into it: it is right on every ending, a stop too, so that
/// calling again with the same count goes on where this stopped.
///
/// ```cpp
/// std::size_t sent = 0;
/// auto done = co_await ps::with_timeout(1s, ps::send_all(peer, bytes, sent));
/// if (!done) done = co_await ps::send_all(peer, bytes, sent);
/// ```
/// Lifetime: stream, bytes and count live until it has ended. Threads: the stream's worker. Errors: the first
/// that a send reports; `broken_pipe` if one sends nothing. Stopping: between sends; what went is counted.
template <writable S>
task<io_result<void>> send_all(S& to, std::span<std::byte const> bytes, std::size_t& sent) {
    return send_rest<std::size_t&>(to, bytes, sent);
}

/// The same from the beginning, for who gives up on the stream if this does not end well.
template <writable S> task<io_result<void>> send_all(S& to, std::span<std::byte const> bytes) {
    return send_rest<std::size_t>(to, bytes, 0);
}

/// What a vectored send of pieces has left after `sent` bytes: at most as many pieces as fit in `into`.
[[nodiscard]] inline auto pieces_after(std::span<source_span const> pieces, std::size_t sent,
                                       std::span<source_span> into) noexcept -> std::span<source_span const> {
    std::size_t count = 0;
    for (auto const& piece : pieces) {
        if (count == into.size()) break;
        auto const skipped = std::min(sent, piece.length);
        sent -= skipped;
        if (skipped == piece.length) continue;
        into[count++] = {static_cast<std::byte const*>(piece.address) + skipped, piece.length - skipped};
    }
    return into.first(count);
}

/// Sends several pieces as one sequence of bytes, from `sent` on; see the first `send_all`.
template <class S>
    requires requires(S& to, std::span<source_span const> pieces) { to.send_pieces(pieces); }
task<io_result<void>> send_all(S& to, std::span<source_span const> pieces, std::size_t& sent) {
    std::array<source_span, 16> window{};
    for (auto left = pieces_after(pieces, sent, window); !left.empty();
         left = pieces_after(pieces, sent, window)) {
        auto const went = co_await to.send_pieces(left);
        if (!went.has_value()) co_return std::unexpected(went.error());
        if (*went == 0) co_return std::unexpected(std::make_error_code(std::errc::broken_pipe));
        sent += *went;
    }
    co_return io_result<void>();
}

} // namespace pitsaw::inline v0
