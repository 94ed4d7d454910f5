#pragma once
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/world.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pitsaw::testing {

/// 0: the calm world; 1 and so on: those from the environment's seed on, without one from 1 on.
inline sim::world_options with_seed(std::uint64_t number) {
    sim::world_options made;
    made.seed = number == 0 ? 0 : sim::seed_from_environment(1) + (number - 1);
    made.is_calm = number == 0;
    return made;
}

/// What every test of a simulated network wants: somebody who answers, and somebody who asks.
inline constexpr std::uint16_t echo_port = 7;

inline task<io_result<void>> echo_to(tcp_stream peer) {
    for (;;) {
        auto const chunk = co_await or_return(peer.receive());
        if (chunk.empty()) co_return {};
        co_await or_return(peer.send_all(chunk));
    }
}

inline task<io_result<void>> serve_echo(endpoint at = endpoint::any(echo_port)) {
    auto listener = co_await or_return(tcp_listener::bind(at));
    auto const accepts = [&](task_group& clients) -> task<io_result<void>> {
        for (;;) clients.spawn(echo_to(co_await or_return(listener.accept())));
    };
    co_return co_await task_group::run(on_failure::keep_others, accepts);
}

inline std::vector<std::byte> bytes_of(std::string_view text) {
    auto const bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

/// As many bytes as were sent; fewer are an error.
inline task<io_result<std::string>> receive_exactly(tcp_stream& from, std::size_t count) {
    std::string all;
    while (all.size() < count) {
        auto const some = co_await or_return(from.receive());
        if (some.empty()) co_return std::unexpected(std::make_error_code(std::errc::connection_aborted));
        all.append(reinterpret_cast<char const*>(some.bytes().data()), some.size());
    }
    co_return io_result<std::string>(std::move(all));
}

/// What came back of `words`.
inline task<io_result<std::string>> ask_echo(endpoint at, std::string words) {
    auto peer = co_await or_return(tcp_stream::connect(at));
    auto const bytes = bytes_of(words);
    co_await or_return(peer.send_all(bytes));
    co_return co_await receive_exactly(peer, words.size());
}

} // namespace pitsaw::testing
