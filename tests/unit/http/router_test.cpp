// Which handler answers what.
#include <pitsaw/http/router.hpp>

#include <pitsaw/http/server.hpp>
#include <pitsaw/pitsaw.hpp>
#include <pitsaw/sim/world.hpp>

#include "stream_pair.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace ps = pitsaw;
namespace http = pitsaw::http;
using namespace std::string_literals;

namespace {

/// A handler that says which one it is, and with what.
http::router::handler says(std::string name, std::string parameter = "") {
    return [name, parameter](http::request& request) -> ps::task<http::response> {
        auto text =
            name + ":" + std::string(request.parameter(parameter)) + "?" + std::string(request.query());
        co_return http::response(200, "text/plain", std::move(text));
    };
}

ps::task<ps::io_result<std::string>> ask(ps::endpoint at, std::string line) {
    auto peer = co_await ps::or_return(ps::tcp_stream::connect(at));
    line += " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    co_await ps::or_return(peer.send_all(ps::testing::bytes_of(line)));
    std::string answer;
    for (;;) {
        auto const chunk = co_await ps::or_return(peer.receive());
        if (chunk.empty()) co_return ps::io_result<std::string>(std::move(answer));
        answer += ps::testing::text_of(chunk.bytes());
    }
}

ps::task<ps::io_result<std::string>> routed(http::router& routes, std::string line) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    auto first = co_await ps::when_any(http::serve(listener, routes), ask(at, std::move(line)));
    co_return *std::get<1>(first);
}

/// The whole answer.
std::string answer_to(http::router& routes, std::string line) {
    ps::sim::world world;
    return *world.run(routed(routes, std::move(line))).value();
}
/// The text of a 200, else the status.
std::string text_to(http::router& routes, std::string line) {
    auto const answer = answer_to(routes, std::move(line));
    auto const status = answer.substr(9, 3);
    return status == "200" ? answer.substr(answer.find("\r\n\r\n") + 4) : status;
}

TEST(router, finds_the_handler_and_its_parameters) {
    http::router routes;
    routes.get("/users/{id}", says("user", "id")).get("/users/me", says("me"));
    routes.get("/users/{id}/items/{item}", says("item", "item"))
        .get("/files/{path...}", says("file", "path"));
    routes.post("/users", says("new"));
    EXPECT_EQ(text_to(routes, "GET /users/7"), "user:7?");
    EXPECT_EQ(text_to(routes, "GET /users/me?a=b"), "me:?a=b");
    EXPECT_EQ(text_to(routes, "GET /users/7/items/x%2Fy"), "item:x%2Fy?");
    EXPECT_EQ(text_to(routes, "GET /files/a/b/c"), "file:a/b/c?");
    EXPECT_EQ(text_to(routes, "GET http://a/users/7"), "user:7?");
    EXPECT_EQ(text_to(routes, "POST /users"), "new:?");
    EXPECT_EQ(text_to(routes, "GET /users/"), "404");
    EXPECT_EQ(text_to(routes, "GET /users/7/"), "404");
    EXPECT_EQ(text_to(routes, "GET /"), "404");
}

TEST(router, says_which_methods_there_are) {
    http::router routes;
    routes.get("/a/{b}", says("a")).delete_("/a/{b}", says("delete"));
    auto const answer = answer_to(routes, "POST /a/b");
    EXPECT_EQ(answer.substr(9, 3), "405");
    EXPECT_NE(answer.find("Allow: GET, HEAD, DELETE\r\n"), std::string::npos) << answer;
}

TEST(router, answers_head_by_get) { // HT10
    http::router routes;
    routes.get("/", says("root"));
    auto const answer = answer_to(routes, "HEAD /");
    EXPECT_EQ(answer.substr(9, 3), "200");
    EXPECT_NE(answer.find("Content-Length: 6\r\n"), std::string::npos);
    EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST(router, refuses_what_is_no_pattern) {
    http::router routes;
    for (auto const* const pattern :
         {"", "a", "/{}x", "/a{b}", "/{a...}/b", "/{...}", "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}"})
        EXPECT_THROW(routes.get(pattern, says("x")), std::invalid_argument) << pattern;
}

TEST(router, percent_decoding_refuses_what_is_no_character) {
    EXPECT_EQ(http::percent_decoded("a%2fb%20"), "a/b ");
    EXPECT_FALSE(http::percent_decoded("a%2").has_value());
    EXPECT_FALSE(http::percent_decoded("%zz").has_value());
}

} // namespace
