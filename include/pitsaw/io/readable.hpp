#pragma once
#include <pitsaw/io/result.hpp>
#include <pitsaw/task/child.hpp>

#include <concepts>
#include <cstddef>
#include <span>

namespace pitsaw::inline v0 {

/// A source of bytes: `receive(span)` is awaited and gives how many came, 0 at the end of the stream.
///
/// ```cpp
/// template <ps::readable S> ps::task<> drain(S& from);
/// ```
/// Lifetime: the span lives until the receive has ended. Threads: the stream's worker. Errors: in the result.
/// Stopping: a receive that completed delivers; one that is stopped has taken nothing.
template <class S>
concept readable = requires(S& from, std::span<std::byte> into) {
    { from.receive(into) } -> awaitable;
    requires std::same_as<child_value<decltype(from.receive(into))>, io_result<std::size_t>>;
};

} // namespace pitsaw::inline v0
