// pitsaw_attempts POLICY SHAPE PORT: a server on io_uring that attempts what POLICY says before it submits.
// SHAPE: `echo`, as bench/echo's; `upload`: a MiB comes in buffers of the pool, `upload_own`: in one of 64
// KiB of the server's own, and is answered by 64 bytes; `download`: 64 bytes are answered by a MiB.
#include "attempting_driver.hpp"

#include <pitsaw/pitsaw.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

namespace ps = pitsaw;

namespace {

constexpr std::size_t small_bytes = 64;
constexpr std::size_t large_bytes = std::size_t{1} << 20;
constexpr std::size_t own_bytes = std::size_t{64} << 10;

using conversation = ps::task<ps::io_result<void>> (*)(ps::tcp_stream);

ps::task<ps::io_result<void>> echo(ps::tcp_stream peer) {
    for (;;) {
        auto chunk = co_await ps::or_return(peer.receive());
        if (chunk.empty()) co_return {};
        co_await ps::or_return(peer.send_all(chunk));
    }
}

ps::task<ps::io_result<void>> answer(ps::tcp_stream peer, std::size_t const asked_bytes,
                                     std::size_t const answered) {
    std::vector<std::byte> const reply(answered, std::byte{'x'});
    for (std::size_t missing = asked_bytes;;) {
        auto chunk = co_await ps::or_return(peer.receive());
        if (chunk.empty()) co_return {};
        missing -= chunk.size();
        if (missing != 0) continue;
        chunk = {};
        co_await ps::or_return(peer.send_all(reply));
        missing = asked_bytes;
    }
}

ps::task<ps::io_result<void>> upload(ps::tcp_stream peer) {
    return answer(std::move(peer), large_bytes, small_bytes);
}

ps::task<ps::io_result<void>> download(ps::tcp_stream peer) {
    return answer(std::move(peer), small_bytes, large_bytes);
}

ps::task<ps::io_result<void>> upload_own(ps::tcp_stream peer) {
    std::vector<std::byte> buffer(own_bytes);
    std::vector<std::byte> const reply(small_bytes, std::byte{'x'});
    for (std::size_t missing = large_bytes;;) {
        auto const got = co_await ps::or_return(peer.receive(buffer));
        if (got == 0) co_return {};
        missing -= got;
        if (missing != 0) continue;
        co_await ps::or_return(peer.send_all(reply));
        missing = large_bytes;
    }
}

ps::task<ps::io_result<void>> serve(std::uint16_t const port, conversation const with) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(port)));
    co_return co_await ps::task_group::run(
        ps::on_failure::keep_others, [&](ps::task_group& clients) -> ps::task<ps::io_result<void>> {
            for (;;) clients.spawn(with(co_await ps::or_return(listener.accept())));
        });
}

conversation conversation_named(std::string_view const name) noexcept {
    if (name == "echo") return echo;
    if (name == "upload") return upload;
    if (name == "upload_own") return upload_own;
    return name == "download" ? download : nullptr;
}

} // namespace

int main(int const count, char** const arguments) {
    if (count != 4) return 2;
    auto const policy = policy_named(arguments[1]);
    auto const with = conversation_named(arguments[2]);
    if (!policy || with == nullptr) return 2;
    ps::runtime_options options;
    options.on_lost_error = [](std::exception_ptr) {}; // clients that go in the middle
    ps::runtime lender;                                // of its driver; it runs nothing itself
    ps::runtime on(std::make_unique<attempting_driver>(*lender.get_executor()->io, *policy), options);
    auto const end = ps::sync_wait(on, serve(static_cast<std::uint16_t>(std::atoi(arguments[3])), with));
    return end.has_value() ? 0 : 1;
}
