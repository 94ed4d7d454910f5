// What an application answers in the server's place, and what it hears of refused requests.
#include <pitsaw/http/server.hpp>

#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/world.hpp>

#include "each_driver.hpp"
#include "http_visit.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ps = pitsaw;
namespace http = pitsaw::http;
using namespace std::chrono_literals;
using namespace std::string_literals;
using ps::testing::bytes_of;
using ps::testing::receive_all;

namespace {

using result = ps::task<ps::io_result<void>>;
using lines = std::vector<std::string>;

http::router some_routes() {
    http::router routes;
    routes.get("/", [](http::request&) -> ps::task<http::response> { co_return http::response(200); });
    routes.get("/throws", [](http::request&) -> ps::task<http::response> {
        throw std::runtime_error("a handler that fails");
        co_return http::response(200);
    });
    routes.get("/nonsense", [](http::request&) -> ps::task<http::response> { co_return http::response(7); });
    routes.post("/", [](http::request& request) -> ps::task<http::response> {
        auto all = co_await ps::or_return(http::read_all(request.body(), 1 << 20));
        co_return http::response(200, "text/plain", std::move(all));
    });
    return routes;
}

/// Notes each refusal and answers as a gateway would.
void answer_in_json(http::router& routes, lines& log) {
    routes.refused([&log](http::refusal const& what) {
        log.push_back(std::to_string(what.status()) + " " + std::string(what.method()) + " " +
                      std::string(what.target()) + (what.peer().has_value() ? "" : " by nobody"));
        return http::response(what.status(), "application/json", "{}"s);
    });
}

/// Sends bytes and gives all that comes back.
ps::task<ps::io_result<std::string>> say(ps::endpoint at, std::string_view bytes) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
    co_await ps::or_return(peer.send_all(bytes_of(bytes)));
    co_return co_await receive_all(peer);
}

struct refused_request {
    std::string bytes;
    std::string status;
    std::string logged; // after the status
    bool is_kept = false;
};

std::vector<refused_request> refused_requests() {
    auto const end = " HTTP/1.1\r\nHost: a\r\n\r\n"s;
    auto const post = "POST / HTTP/1.1\r\nHost: a\r\n"s;
    return {
        {"nonsense\r\n\r\n", "400", " "},
        {"GET /x\r\n\r\n", "400", "GET "},
        {"GET / HTTP/1.1\r\n\r\n", "400", "GET /"},
        {"GET /" + std::string(9000, 'x') + end, "414", " "},
        {"GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x'), "431", " "},
        {"GET / HTTP/3.0\r\nHost: a\r\n\r\n", "505", "GET /"},
        {"BREW /pot" + end, "501", "BREW /pot"},
        {post + "Expect: more\r\n\r\n", "417", "POST /"},
        {post + "Content-Length: 99999999\r\n\r\n", "413", "POST /"},
        {post + "Transfer-Encoding: chunked\r\n\r\n9999999\r\n", "413", "POST /"},
        {post + "Transfer-Encoding: chunked\r\n\r\nx", "400", "POST /"},
        {post + "Content-Length: 5\r\n\r\nhel", "408", "POST /"},
        {"GET / HTT", "408", " "},
        {"GET /throws" + end, "500", "GET /throws", true},
        {"GET /nonsense" + end, "500", "GET /nonsense", true},
        {"GET /nowhere?x=1" + end, "404", "GET /nowhere?x=1", true},
        {"HEAD /nowhere" + end, "404", "HEAD /nowhere", true},
        {"PUT /" + end, "405", "PUT /", true},
    };
}

result refuse_each(ps::endpoint at, lines& log) {
    for (auto const& one : refused_requests()) {
        log.clear();
        auto const last = one.is_kept ? "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"s : ""s;
        auto const answer = co_await ps::or_return(say(at, one.bytes + last));
        EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 " + one.status) << one.bytes;
        EXPECT_NE(answer.find("Content-Type: application/json\r\n"), std::string::npos) << answer;
        EXPECT_EQ(answer.find("text/plain"), std::string::npos) << answer;
        auto const body = one.bytes.starts_with("HEAD") ? ""s : "{}"s;
        auto const rest = one.is_kept ? "HTTP/1.1 200 OK"s : ""s;
        auto const after = answer.substr(answer.find("\r\n\r\n") + 4);
        EXPECT_EQ(after.substr(0, body.size() + rest.size()), body + rest) << answer;
        EXPECT_EQ(answer.find("Allow: GET, HEAD, POST\r\n") != std::string::npos, one.status == "405");
        lines const once{one.status + " " + one.logged};
        EXPECT_EQ(log, once) << one.bytes;
    }
    co_return {};
}

result serve_refusing() {
    lines log;
    auto routes = some_routes();
    answer_in_json(routes, log);
    http::server_options how;
    how.header_timeout = how.body_timeout = 50ms;
    auto const visit = [&log](ps::endpoint at) { return refuse_each(at, log); };
    co_return co_await ps::testing::while_served(routes, visit, how);
}

using refusal_text = ps::testing::on_a_driver;

TEST_P(refusal_text, is_the_applications_for_each_status_that_the_server_makes) { run(serve_refusing()); }

INSTANTIATE_TEST_SUITE_P(drivers, refusal_text, ps::testing::every_driver(), ps::testing::name_of_driver);

/// The answer to a request that nobody serves, or to a handler that throws, and a second on the connection.
std::string answered_with(http::router::refusal_handler how) {
    auto routes = some_routes();
    routes.refused(std::move(how));
    std::string text;
    auto const visit = [&text](ps::endpoint at) -> result {
        text =
            co_await ps::or_return(say(at, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
                                           "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n"));
        co_return {};
    };
    http::server_options options;
    options.clock = nullptr;
    ps::sim::world world({.is_calm = true});
    auto const end = world.run(ps::testing::while_served(routes, visit, options));
    EXPECT_TRUE(end.has_value() && end.value().has_value());
    EXPECT_EQ(world.imbalance(), "");
    return text;
}

std::string const plain =
    "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\nNot Found\n"
    "HTTP/1.1 413 Content Too Large\r\nContent-Type: text/plain\r\nContent-Length: 18\r\n"
    "Connection: close\r\n\r\nContent Too Large\n";

TEST(refusal_handler, that_throws_costs_no_connection) {
    EXPECT_EQ(answered_with([](http::refusal const&) -> http::response { throw std::runtime_error("no"); }),
              plain);
}
TEST(refusal_handler, cannot_make_a_success_of_it) {
    EXPECT_EQ(answered_with([](http::refusal const&) { return http::response(200); }), plain);
}
TEST(refusal_handler, may_choose_another_status_and_more_fields) {
    auto const answer = answered_with([](http::refusal const&) {
        http::response made(503);
        made.headers().add("Retry-After", "7");
        return made;
    });
    EXPECT_EQ(answer, "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"
                      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nContent-Length: 0\r\n"
                      "Connection: close\r\n\r\n");
}
TEST(refusal_handler, may_stream_its_body) {
    auto const write = [](http::body_writer& to) -> result { co_return co_await to.write("why"); };
    auto const answer = answered_with([write](http::refusal const& what) {
        return http::response::stream(what.status(), http::body(http::body::writer(write)));
    });
    EXPECT_TRUE(answer.ends_with("Connection: close\r\n\r\n3\r\nwhy\r\n0\r\n\r\n")) << answer;
}

} // namespace
