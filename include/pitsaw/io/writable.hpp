#pragma once
#include <pitsaw/io/result.hpp>
#include <pitsaw/task/child.hpp>

#include <concepts>
#include <cstddef>
#include <span>

namespace pitsaw::inline v0 {

/// A sink of bytes: `send(span)` is awaited and gives how many went, at least one of a span that is not
/// empty.
///
/// ```cpp
/// template <ps::writable S> ps::task<> greet(S& to);
/// ```
/// Lifetime: the span lives until the send has ended. Threads: the stream's worker. Errors: in the result.
/// Stopping: a send that completed delivers its count; one that is stopped has sent nothing.
template <class S>
concept writable = requires(S& to, std::span<std::byte const> bytes) {
    { to.send(bytes) } -> awaitable;
    requires std::same_as<child_value<decltype(to.send(bytes))>, io_result<std::size_t>>;
};

} // namespace pitsaw::inline v0
