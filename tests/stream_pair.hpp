#pragma once
#include <pitsaw/net/tcp_listener.hpp>
#include <pitsaw/net/tcp_stream.hpp>
#include <pitsaw/pitsaw.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace pitsaw::testing {

/// The two ends of a TCP connection.
struct stream_pair {
    tcp_stream client, server;
};

/// Connects one through a listener of its own, on whatever driver the runtime has.
[[nodiscard]] inline task<io_result<stream_pair>> connect_pair(tcp_stream_options how = {}) {
    tcp_listener_options listening;
    listening.accepted = how;
    auto listener = co_await or_return(tcp_listener::bind(endpoint::loopback(0), listening));
    auto const at = co_await or_return(listener.local_endpoint());
    auto both = co_await or_return(when_all(tcp_stream::connect(at, how), listener.accept()));
    stream_pair made;
    made.client = std::move(std::get<0>(both));
    made.server = std::move(std::get<1>(both));
    co_return io_result<stream_pair>(std::move(made));
}

[[nodiscard]] inline std::span<std::byte const> bytes_of(std::string_view text) noexcept {
    return std::as_bytes(std::span(text));
}
[[nodiscard]] inline std::string_view text_of(std::span<std::byte const> bytes) noexcept {
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

} // namespace pitsaw::testing
