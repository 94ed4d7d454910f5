#pragma once
#include <pitsaw/http/client.hpp>
#include <pitsaw/http/server.hpp>
#include <pitsaw/net/tcp_listener.hpp>
#include <pitsaw/pitsaw.hpp>

#include "stream_pair.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace pitsaw::testing {

/// What a client does with the server at an endpoint.
using http_visit = std::function<task<io_result<void>>(endpoint)>;

/// Serves while the visit lasts, and gives what that gives.
[[nodiscard]] inline task<io_result<void>> while_served(http::router& routes, http_visit visit,
                                                        http::server_options how = {},
                                                        tcp_listener_options listening = {}) {
    auto listener = co_await or_return(tcp_listener::bind(endpoint::loopback(0), listening));
    auto const at = co_await or_return(listener.local_endpoint());
    auto first = co_await when_any(http::serve(listener, routes, how), visit(at));
    if (auto& done = std::get<1>(first)) co_return *done;
    co_return std::unexpected(std::make_error_code(std::errc::connection_aborted));
}

/// The status of an answer and its body.
[[nodiscard]] inline task<io_result<std::string>> fetch(http::client& with, endpoint at, http::method how,
                                                        std::string_view target, std::string text = "") {
    http::client_request ask(how, "a", target);
    ask.body() = http::body(std::move(text));
    auto reply = co_await or_return(with.send(at, std::move(ask)));
    auto all = co_await or_return(http::read_all(reply.body(), 1 << 20));
    co_return io_result<std::string>(std::to_string(reply.status()) + " " + all);
}

/// Everything up to the end of the stream.
[[nodiscard]] inline task<io_result<std::string>> receive_all(tcp_stream& from) {
    std::string all;
    for (;;) {
        auto const chunk = co_await or_return(from.receive());
        if (chunk.empty()) co_return io_result<std::string>(std::move(all));
        all += text_of(chunk.bytes());
    }
}

/// A request without a body.
[[nodiscard]] inline task<io_result<void>> ask(tcp_stream& peer, std::string_view target) {
    auto const text = "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n";
    co_return co_await peer.send_all(bytes_of(text));
}

/// The peer sees that the connection is broken.
[[nodiscard]] inline task<io_result<void>> break_off(tcp_stream& which) {
    co_await or_return(which.set_option(socket_option::reset_on_close, 1));
    co_return co_await which.async_close();
}

/// Waits until something that other tasks do has happened; a failure if it does not.
[[nodiscard]] inline task<> wait_until(std::function<bool()> has_happened) {
    constexpr int looks_max = 20'000;
    for (int looks = 0; looks < looks_max; ++looks) {
        if (has_happened()) co_return;
        co_await sleep(std::chrono::milliseconds(1));
    }
    ADD_FAILURE() << "what was waited for did not happen";
}

} // namespace pitsaw::testing
