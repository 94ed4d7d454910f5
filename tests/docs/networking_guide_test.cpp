// The code of docs/guide/networking.md; docs.snippets compares.
#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ps = pitsaw;
using namespace std::chrono_literals;

namespace {

ps::task<ps::io_result<std::string>> ask(ps::endpoint server, std::string_view question) {
    auto peer = co_await ps::or_return(ps::with_timeout(5s, ps::tcp_stream::connect(server)));
    co_await ps::or_return(peer.send_all(std::as_bytes(std::span(question))));
    co_await ps::or_return(peer.shutdown_send()); // the server sees the end of the stream
    std::string answer;
    for (;;) {
        auto const chunk = co_await ps::or_return(peer.receive()); // a lease
        if (chunk.empty()) co_return answer;                       // the server has finished
        answer.append(reinterpret_cast<char const*>(chunk.bytes().data()), chunk.size());
    }
}

ps::task<ps::io_result<void>> answer(ps::tcp_stream peer) {
    for (;;) {
        auto const chunk = co_await ps::or_return(peer.receive());
        if (chunk.empty()) co_return {};
        co_await ps::or_return(peer.send_all(chunk));
    }
}

ps::task<ps::io_result<void>> serve(ps::tcp_listener& listener) {
    co_return co_await ps::task_group::run(
        ps::on_failure::keep_others, [&](ps::task_group& clients) -> ps::task<ps::io_result<void>> {
            for (;;) clients.spawn(answer(co_await ps::or_return(listener.accept())));
        });
}

ps::task<ps::io_result<std::size_t>> into_bytes_of_ours(ps::tcp_stream& peer) {
    std::array<std::byte, 512> buffer{};
    auto const got = co_await ps::or_return(peer.receive(buffer));
    std::vector<std::byte> owned(512);
    owned = co_await ps::or_return(peer.receive_into(std::move(owned))); // cut to what came
    co_return got + owned.size();
}

ps::task<ps::io_result<void>> deliver(ps::tcp_stream& peer, std::span<std::byte const> bytes) {
    std::size_t sent = 0;
    for (int attempts = 0; attempts < 3; ++attempts) {
        auto const done = co_await ps::with_timeout(1s, peer.send_all(bytes, sent));
        if (done.has_value() || done.error() != std::errc::timed_out) co_return done;
    }
    co_return std::unexpected(std::make_error_code(std::errc::timed_out));
}

ps::task<ps::io_result<void>> read_a_header(ps::tcp_stream& peer) {
    ps::buffered_reader reader{peer};
    auto header = co_await ps::with_timeout(1s, reader.read_exactly(4));
    if (!header.has_value()) header = co_await reader.read_exactly(4); // goes on where the first stopped
    if (!header.has_value()) co_return std::unexpected(header.error());
    auto const line = co_await ps::or_return(reader.read_line());
    EXPECT_EQ(line, "line");
    co_return {};
}

ps::task<ps::io_result<std::string>> while_the_peer_is_there(ps::tcp_stream& peer,
                                                             ps::task<std::string> work) {
    auto first = co_await ps::when_any(std::move(work), peer.closed());
    if (auto& done = std::get<0>(first)) co_return std::move(*done);
    co_return std::unexpected(std::make_error_code(std::errc::connection_aborted));
}

ps::task<ps::io_result<void>> say_farewell(ps::tcp_stream peer) {
    auto const body = [](ps::tcp_stream& to) -> ps::task<ps::io_result<void>> {
        co_return co_await to.send_all(std::as_bytes(std::span("farewell")));
    };
    co_return co_await ps::with(std::move(peer), body); // then tcp_stream::async_close()
}

ps::task<ps::io_result<void>> over_any_link(ps::tcp_stream peer) {
    ps::any_stream link(std::move(peer)); // or a stream of another type
    std::array<std::byte, 64> buffer{};
    auto const got = co_await ps::or_return(link.receive(buffer));
    co_return co_await link.send_all(std::span(buffer).first(got));
}

// ---- What makes them run

using result = ps::task<ps::io_result<void>>;

result send_text(ps::tcp_stream& to, std::string_view text) {
    co_return co_await to.send_all(std::as_bytes(std::span(text)));
}

ps::task<std::string> slow_work() {
    co_await ps::sleep(1h);
    co_return "done";
}

result converse(ps::endpoint at) {
    auto const heard = co_await ps::or_return(ask(at, "question"));
    EXPECT_EQ(heard, "question"); // an echo
    co_return {};
}

result send_again_and_again(ps::tcp_stream& to) {
    for (;;) {
        co_await ps::sleep(1ms);
        co_await ps::or_return(send_text(to, "more"));
    }
}

result pieces(ps::endpoint at) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
    co_await ps::or_return(deliver(peer, std::as_bytes(std::span("bytes"))));
    auto first = co_await ps::when_any(into_bytes_of_ours(peer), send_again_and_again(peer));
    EXPECT_TRUE(std::get<0>(first).has_value());
    co_return {};
}

result rest(ps::tcp_listener& own) {
    auto const at = co_await ps::or_return(own.local_endpoint());
    auto near = co_await ps::or_return(ps::tcp_stream::connect(at));
    auto far = co_await ps::or_return(own.accept());
    co_await ps::or_return(send_text(near, "headline\n"));
    co_await ps::or_return(read_a_header(far));
    co_await ps::or_return(send_text(near, "x"));
    co_await ps::or_return(over_any_link(std::move(far)));
    far = ps::tcp_stream();
    auto next = co_await ps::or_return(ps::tcp_stream::connect(at));
    auto last = co_await ps::or_return(own.accept());
    co_await ps::or_return(say_farewell(std::move(next)));
    auto const ended = co_await while_the_peer_is_there(last, slow_work());
    EXPECT_EQ(ended.error(), std::errc::connection_aborted);
    co_return {};
}

result everything() {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto own = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    auto const all = [](ps::endpoint to, ps::tcp_listener& mine) -> result {
        co_await ps::or_return(converse(to));
        co_await ps::or_return(pieces(to));
        co_return co_await rest(mine);
    };
    auto first = co_await ps::when_any(serve(listener), all(at, own));
    co_return *std::get<1>(first);
}

TEST(networking_guide, its_code_runs) {
    auto const end = ps::sync_wait(everything());
    ASSERT_TRUE(end.has_value());
    EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
}

TEST(networking_guide, its_addresses_are_read) {
    auto const from_text = ps::endpoint::parse("[2001:db8::1]:443");
    EXPECT_TRUE(from_text.has_value());
    EXPECT_EQ(ps::endpoint::loopback(8080).to_string(), "127.0.0.1:8080");
}

} // namespace
