#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/http/router.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/net/tcp_listener.hpp>
#include <pitsaw/task/task.hpp>

#include <chrono>
#include <cstdint>
#include <type_traits>

namespace pitsaw::inline v0::http {

/// Seconds since 1970, for the field Date.
using wall_clock = std::int64_t (*)() noexcept;
[[nodiscard]] std::int64_t system_time() noexcept;

/// When a client counts as gone, and its handler is stopped.
enum class client_gone : std::uint8_t {
    when_broken,   ///< its connection is reset; one that has only finished sending still listens
    when_finished, ///< also when it has finished sending, as most servers before an expensive upstream want
};

/// The limits of a server. Each has a value that suits a small service.
struct server_options {
    std::uint32_t connections_max = 10'000; ///< at a time; further ones wait in the backlog

    duration idle_timeout = std::chrono::seconds(75);   ///< of a connection without a request
    duration header_timeout = std::chrono::seconds(10); ///< for a head, from its first byte: 408
    duration body_timeout = std::chrono::seconds(20);   ///< for a body, of the time its handler waits: 408;
    std::uint32_t body_rate_min = 1024;                 ///< and for each so many bytes a second more
    duration write_timeout = std::chrono::seconds(30);  ///< in which a client takes no byte

    std::uint32_t header_bytes_max = 16'384; ///< of a head: 431
    std::uint32_t target_bytes_max = 8'192;  ///< of a target: 414
    std::uint32_t headers_max = 100;         ///< fields of a head: 431
    std::uint64_t body_bytes_max = 1 << 20;  ///< of a request's body: 413

    duration drain_timeout = std::chrono::seconds(10);        ///< for requests in progress, after a stop
    duration linger_timeout = std::chrono::seconds(2);        ///< for a refused client to read the answer,
    std::uint64_t linger_bytes_max = std::uint64_t{64} << 20; ///< and the bytes it may send meanwhile

    duration watch_after =
        std::chrono::milliseconds(10); ///< how long a handler runs before its client is watched
    client_gone gone = client_gone::when_broken;
    wall_clock clock = system_time; ///< null: no field Date
};
static_assert(std::is_trivially_copyable_v<server_options>);

/// Serves HTTP/1.1 and 1.0 until it is stopped.
///
/// ```cpp
/// ps::http::router routes;
/// routes.get("/", [](ps::http::request&) -> ps::task<ps::http::response> {
///     co_return ps::http::response(200, "text/plain", "hello\n");
/// });
/// ps::http::server_options limits{.header_timeout = 5s, .body_bytes_max = 64 << 20};
/// co_await ps::or_return(ps::http::serve(std::move(listener), routes, limits));
/// ```
/// Requests of one connection are answered in order; several that came together with few sends. What a
/// request may not be is answered with 400, 408, 413, 414, 417, 431, 501 or 505, and the connection is closed
/// once the client has read that. A handler that throws is answered for with 500, and the exception goes to
/// `on_lost_error`. `router::refused` hears of each of these, and says what their answers look like.
/// Lifetime: the router outlives it, and so does a listener that is lent; it ends after its last connection.
/// Threads: the listener's worker. Errors: the listener's; a connection's end with it. Stopping: no new
/// connection is accepted: a listener that was given closes at once, so that clients are refused and go
/// elsewhere; before one that is lent they wait for whoever owns it. Idle connections close at once, and a
/// request in progress has `drain_timeout` to be answered; then its handler is stopped; a second stop does
/// that at once. A handler is also stopped, with `stop_reason::peer_gone`, when its client is gone: see
/// `client_gone`. Sizes: an idle connection has some 1,100 bytes and no buffer. Source: RFC 9110 and 9112.
[[nodiscard]] task<io_result<void>> serve(tcp_listener&& listener, router& routes, server_options how = {});
[[nodiscard]] task<io_result<void>> serve(tcp_listener& listener, router& routes, server_options how = {});

} // namespace pitsaw::inline v0::http
