// Requests that come together: in order, in few pieces, and behind one that is slow.
#include <pitsaw/http/server.hpp>

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/world.hpp>

#include "each_driver.hpp"
#include "http_visit.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace ps = pitsaw;
namespace http = pitsaw::http;
using namespace std::chrono_literals;
using ps::testing::bytes_of;
using ps::testing::receive_all;
using ps::testing::text_of;

namespace {

using result = ps::task<ps::io_result<void>>;

constexpr int count = 16;

http::router routes() {
    http::router made;
    made.get("/now/{id}", [](http::request& request) -> ps::task<http::response> {
        co_return http::response(200, "text/plain", std::string(request.parameter("id")));
    });
    made.get("/later/{id}", [](http::request& request) -> ps::task<http::response> {
        co_await ps::sleep(5ms);
        co_return http::response(200, "text/plain", std::string(request.parameter("id")));
    });
    made.post("/echo/{id}", [](http::request& request) -> ps::task<http::response> {
        auto text = co_await ps::or_return(http::read_all(request.body(), 100));
        co_return http::response(200, "text/plain", std::move(text));
    });
    return made;
}

std::string one_answer(int id) {
    auto const text = std::to_string(id);
    return "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(text.size()) +
           "\r\n\r\n" + text;
}
std::string all_answers() {
    std::string all;
    for (int i = 0; i < count; ++i) all += one_answer(i);
    return all;
}

/// Of four kinds in turn; a body has its length or chunks, and before one kind stands an empty line, which
/// some clients send behind a body (RFC 9112 section 2.2).
std::string all_requests() {
    std::string all;
    for (int i = 0; i < count; ++i) {
        auto const id = std::to_string(i), size = std::to_string(id.size());
        if (i % 4 == 0) all += "\r\nGET /now/" + id + " HTTP/1.1\r\nHost: a\r\n\r\n";
        if (i % 4 == 1) all += "GET /later/" + id + " HTTP/1.1\r\nHost: a\r\n\r\n";
        if (i % 4 == 2)
            all += "POST /echo/x HTTP/1.1\r\nHost: a\r\nContent-Length: " + size + "\r\n\r\n" + id;
        if (i % 4 == 3)
            all += "POST /echo/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + size + "\r\n" +
                   id + "\r\n0\r\n\r\n";
    }
    return all;
}

result send_all_and_finish(ps::endpoint at) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
    auto const requests = all_requests();
    co_await ps::or_return(peer.send_all(bytes_of(requests)));
    co_await ps::or_return(peer.shutdown_send());
    auto const answers = co_await ps::or_return(receive_all(peer));
    EXPECT_EQ(answers, all_answers());
    co_return {};
}

result serve_all(ps::testing::http_visit what) {
    auto made = routes();
    http::server_options how;
    how.clock = nullptr;
    co_return co_await ps::testing::while_served(made, std::move(what), how);
}

using pipelining = ps::testing::on_a_driver;

TEST_P(pipelining, answers_in_order_whatever_each_takes) { run(serve_all(send_all_and_finish)); }

INSTANTIATE_TEST_SUITE_P(drivers, pipelining, ps::testing::every_driver(), ps::testing::name_of_driver);

result receive_once(ps::endpoint at) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
    std::string requests;
    for (int i = 0; i < count; ++i)
        requests += "GET /now/" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n";
    co_await ps::or_return(peer.send_all(bytes_of(requests)));
    auto const chunk = co_await ps::or_return(peer.receive());
    EXPECT_EQ(text_of(chunk.bytes()), all_answers());
    co_return {};
}

TEST(pipelining_in_calm, answers_what_came_together_with_one_send) {
    ps::sim::world world({.is_calm = true});
    EXPECT_TRUE(world.run(serve_all(receive_once)).value().has_value());
}

} // namespace
