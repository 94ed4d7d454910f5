// A refusal reaches a client that is still sending.
#include <pitsaw/http/server.hpp>

#include <pitsaw/pitsaw.hpp>

#include "each_driver.hpp"
#include "http_visit.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace ps = pitsaw;
namespace http = pitsaw::http;
using namespace std::chrono_literals;
using ps::testing::bytes_of;
using ps::testing::receive_all;

namespace {

using result = ps::task<ps::io_result<void>>;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

ps::task<http::response> store(http::request& request) {
    std::size_t size = 0;
    for (;;) {
        auto const piece = co_await ps::or_return(request.body().read());
        if (piece.empty()) co_return http::response(200, "text/plain", std::to_string(size));
        size += piece.size();
    }
}

/// Sends all of it, and only then looks for an answer.
result upload(ps::endpoint at, std::string_view head, std::string_view piece, int pieces,
              std::string_view status) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
    co_await ps::or_return(peer.send_all(bytes_of(head)));
    for (int i = 0; i < pieces; ++i) co_await ps::or_return(peer.send_all(bytes_of(piece)));
    auto const answer = co_await ps::or_return(receive_all(peer)); // to its end, no reset
    EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 " + std::string(status));
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
    auto const body = answer.find("\r\n\r\n");
    EXPECT_NE(body, std::string::npos);
    EXPECT_NE(answer.find("\n", body + 4), std::string::npos) << "the answer was cut off: " << answer;
    co_return {};
}

using upload_kind = result (*)(ps::endpoint);

result announced(ps::endpoint at) {
    std::string const piece(mebibyte, 'x');
    co_return co_await upload(at, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12582912\r\n\r\n", piece, 12,
                              "413");
}
result in_chunks(ps::endpoint at) {
    std::string const piece = "100000\r\n" + std::string(mebibyte, 'x') + "\r\n";
    co_return co_await upload(at, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", piece,
                              12, "413");
}
result many_fields(ps::endpoint at) {
    std::string piece;
    for (int i = 0; i < 1000; ++i) piece += "X-Field-" + std::to_string(i) + ": value\r\n";
    co_return co_await upload(at, "GET / HTTP/1.1\r\nHost: a\r\n", piece, 5, "431");
}

result refuse(upload_kind what, int times) {
    http::router routes;
    routes.post("/", store);
    http::server_options how;
    how.body_bytes_max = 10 * mebibyte;
    how.linger_timeout = 60s;
    auto const visit = [what, times](ps::endpoint at) -> result {
        for (int i = 0; i < times; ++i) co_await ps::or_return(what(at));
        co_return {};
    };
    co_return co_await ps::testing::while_served(routes, visit, how);
}

class refusal : public ps::testing::on_a_driver {
  protected:
    /// A simulated kernel gives small pieces, and nothing there is different the next time.
    static void refuse_often(upload_kind what, int times) {
        run(refuse(what, std::string_view(GetParam().name) == "sim" ? 1 : times));
    }
};

TEST_P(refusal, reaches_a_client_that_announced_too_much) { refuse_often(announced, 100); }      // HT15
TEST_P(refusal, reaches_a_client_that_sends_too_many_chunks) { refuse_often(in_chunks, 100); }   // HT15
TEST_P(refusal, reaches_a_client_that_sends_too_many_fields) { refuse_often(many_fields, 100); } // HT15

result upload_by_our_client(ps::endpoint at) {
    http::client client;
    auto const is_refused = [&client, at](http::body body) -> result {
        http::client_request ask(http::method::post, "a", "/");
        ask.body() = std::move(body);
        auto reply = co_await ps::or_return(client.send(at, std::move(ask)));
        EXPECT_EQ(reply.status(), 413u);
        auto const text = co_await ps::or_return(http::read_all(reply.body(), 1000));
        EXPECT_EQ(text, "Content Too Large\n");
        co_return {};
    };
    co_await ps::or_return(is_refused(http::body(std::string(12 * mebibyte, 'x'))));
    auto const write = [](http::body_writer& to) -> result {
        std::string const piece(mebibyte, 'x');
        for (int i = 0; i < 12; ++i) co_await ps::or_return(to.write(piece));
        co_return {};
    };
    co_return co_await is_refused(http::body(http::body::writer(write)));
}

using refusal_of_our_client = ps::testing::on_a_driver;

TEST_P(refusal_of_our_client, is_read_after_its_upload) { run(refuse(upload_by_our_client, 10)); } // HT15

INSTANTIATE_TEST_SUITE_P(drivers, refusal_of_our_client, ps::testing::real_drivers(),
                         ps::testing::name_of_driver);

INSTANTIATE_TEST_SUITE_P(drivers, refusal, ps::testing::every_driver(), ps::testing::name_of_driver);

} // namespace
