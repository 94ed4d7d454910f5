// Answers that come before a request has been sent to its end.
#include <pitsaw/http/client.hpp>

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/check_stop.hpp>
#include <pitsaw/sim/world.hpp>

#include "each_driver.hpp"
#include "http_visit.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace ps = pitsaw;
namespace http = pitsaw::http;
using namespace std::chrono_literals;
using ps::testing::bytes_of;
using ps::testing::text_of;

namespace {

using result = ps::task<ps::io_result<void>>;
using script = result (*)(ps::tcp_stream&);
using upload = result (*)(http::client&, ps::endpoint);

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::string_view refused = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno";
constexpr std::string_view accepted = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

// ---- What a server does

result refuse_and_not_read(ps::tcp_stream& peer) {
    co_await ps::or_return(peer.receive());
    co_await ps::or_return(peer.send_all(bytes_of(refused)));
    co_await ps::sleep(10s); // longer than any client here waits
    co_return {};
}
result refuse_and_close(ps::tcp_stream& peer) {
    co_await ps::or_return(peer.receive());
    co_return co_await peer.send_all(bytes_of(refused)); // with bytes unread, so that the connection breaks
}
result say_go_on_and_read(ps::tcp_stream& peer) {
    std::string_view const interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n";
    std::size_t size = 0;
    while (size < 4 * mebibyte) {
        auto const got = co_await ps::or_return(peer.receive());
        if (got.empty()) co_return {};
        if (size == 0) co_await ps::or_return(peer.send_all(bytes_of(interim)));
        size += got.size();
    }
    for (std::string last; !last.ends_with("0\r\n\r\n");) {
        auto const got = co_await ps::or_return(peer.receive());
        if (got.empty()) co_return {};
        last += text_of(got.bytes());
    }
    co_return co_await peer.send_all(bytes_of(accepted));
}
result never_answer(ps::tcp_stream& peer) {
    for (;;) {
        auto const got = co_await ps::or_return(peer.receive());
        if (got.empty()) co_return {};
    }
}

// ---- What a client sends

http::client_request post(http::body what) {
    http::client_request ask(http::method::post, "a", "/");
    ask.body() = std::move(what);
    return ask;
}
http::body written() {
    auto const write = [](http::body_writer& to) -> result {
        std::string const piece(mebibyte, 'x');
        for (int i = 0; i < 5; ++i) co_await ps::or_return(to.write(piece));
        co_return {};
    };
    return http::body(http::body::writer(write));
}
http::body failing() {
    auto const write = [](http::body_writer& to) -> result {
        co_await ps::or_return(to.write("some"));
        co_return std::unexpected(std::make_error_code(std::errc::io_error));
    };
    return http::body(http::body::writer(write));
}

result expect_answer(http::client& client, ps::endpoint at, http::body what, unsigned status) {
    auto reply = co_await ps::or_return(ps::with_timeout(5s, client.send(at, post(std::move(what)))));
    EXPECT_EQ(reply.status(), status);
    auto const text = co_await ps::or_return(http::read_all(reply.body(), 100));
    EXPECT_EQ(text, status == 200 ? "hi" : "no");
    co_return {};
}
result in_memory_refused(http::client& client, ps::endpoint at) {
    static std::string const large(12 * mebibyte, 'x');
    co_await ps::or_return(expect_answer(client, at, http::body::borrowed(large), 401));
    EXPECT_EQ(client.idle(), 0u);
    co_return {};
}
result written_refused(http::client& client, ps::endpoint at) {
    auto const endless = [](http::body_writer& to) -> result {
        std::string const piece(mebibyte, 'x');
        for (;;) co_await ps::or_return(to.write(piece));
    };
    co_await ps::or_return(expect_answer(client, at, http::body(http::body::writer(endless)), 401));
    EXPECT_EQ(client.idle(), 0u);
    co_return {};
}
result written_accepted(http::client& client, ps::endpoint at) {
    co_await ps::or_return(expect_answer(client, at, written(), 200));
    EXPECT_EQ(client.idle(), 1u);
    co_return {};
}
result refused_again_and_again(http::client& client, ps::endpoint at) {
    for (int i = 0; i < 5; ++i) {
        co_await ps::or_return(in_memory_refused(client, at));
        co_await ps::or_return(written_refused(client, at));
    }
    co_return {};
}
result fails_to_write(http::client& client, ps::endpoint at) {
    auto const reply = co_await ps::with_timeout(5s, client.send(at, post(failing())));
    EXPECT_EQ(reply.has_value() ? std::error_code() : reply.error(), std::errc::io_error);
    co_return {};
}

result serve(ps::tcp_listener& listener, script what) {
    for (;;) {
        auto peer = co_await ps::or_return(listener.accept());
        (void)co_await what(peer);
    }
}

result meet(script server, upload what) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    http::client client;
    auto first = co_await ps::when_any(serve(listener, server), what(client, at));
    if (auto& done = std::get<1>(first)) co_return *done;
    co_return std::unexpected(std::make_error_code(std::errc::connection_aborted));
}

using early_answer = ps::testing::on_a_driver;

TEST_P(early_answer, ends_an_upload_that_nobody_reads) { run(meet(refuse_and_not_read, in_memory_refused)); }
TEST_P(early_answer, ends_a_stream_that_nobody_reads) { run(meet(refuse_and_not_read, written_refused)); }
TEST_P(early_answer, is_given_though_its_server_has_closed) {
    run(meet(refuse_and_close, refused_again_and_again));
}
TEST_P(early_answer, ends_nothing_if_it_is_an_interim_one) {
    run(meet(say_go_on_and_read, written_accepted));
}
TEST_P(early_answer, is_not_waited_for_when_the_body_fails) { run(meet(never_answer, fails_to_write)); }

INSTANTIATE_TEST_SUITE_P(drivers, early_answer, ps::testing::every_driver(), ps::testing::name_of_driver);

TEST(early_answer_in_any_world, is_given) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        ps::sim::world world({.seed = seed});
        auto const end = world.run(meet(refuse_and_close, written_refused));
        ASSERT_TRUE(end.has_value());
        EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
        EXPECT_EQ(world.imbalance(), "");
    }
}

TEST(early_answer_in_any_world, leaves_nothing_behind_when_stopped_at_any_suspension) {
    ps::sim::check_stop_options options;
    options.points_max = 200;
    auto const report =
        ps::sim::check_stop([] { return meet(refuse_and_not_read, written_refused); }, options);
    EXPECT_TRUE(report) << report;
    EXPECT_GT(report.stopped_runs(), 0u);
}

} // namespace
