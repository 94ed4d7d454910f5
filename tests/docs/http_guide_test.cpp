// The code of docs/guide/http.md; docs.snippets compares.
#include <pitsaw/http/client.hpp>
#include <pitsaw/http/event_stream.hpp>
#include <pitsaw/http/server.hpp>
#include <pitsaw/pitsaw.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ps = pitsaw;
namespace http = pitsaw::http;
using namespace std::chrono_literals;

namespace {

ps::task<http::response> greet(http::request& request) {
    co_return http::response(200, "text/plain", "hello, " + std::string(request.parameter("name")));
}

ps::task<http::response> measure(http::request& request) {
    std::size_t size = 0;
    for (;;) {
        auto const piece = co_await ps::or_return(request.body().read());
        if (piece.empty()) break; // the whole of it has come
        size += piece.size();
    }
    co_return http::response(200, "text/plain", std::to_string(size));
}

ps::task<ps::io_result<void>> tick(http::event_writer& to) {
    for (int i = 0; i < 3; ++i) {
        co_await ps::or_return(to.write(http::server_event(std::to_string(i))));
        co_await ps::sleep(1s); // stopped here when the client goes
    }
    co_return {};
}

ps::task<http::response> ticks(http::request&) { co_return http::event_response(tick); }

http::response explain(http::refusal const& what) {
    auto text = R"({"status":)" + std::to_string(what.status()) + "}";
    return http::response(what.status(), "application/json", std::move(text));
}

ps::task<ps::io_result<void>> serve(ps::tcp_listener listener) {
    http::router routes;
    routes.get("/greet/{name}", greet).post("/measure", measure).get("/ticks", ticks);
    routes.refused(explain);
    http::server_options limits{.header_timeout = 5s, .body_bytes_max = 64 << 20};
    co_return co_await http::serve(std::move(listener), routes, limits);
}

ps::task<ps::io_result<std::string>> post(http::client& client, ps::endpoint at, std::string text) {
    http::client_request ask(http::method::post, "localhost", "/measure");
    ask.headers().add("Content-Type", "text/plain");
    ask.body() = http::body(std::move(text));
    auto reply = co_await ps::or_return(ps::with_timeout(5s, client.send(at, std::move(ask))));
    co_return co_await http::read_all(reply.body(), 65'536);
}

ps::task<ps::io_result<std::vector<std::string>>> listen(http::client& client, ps::endpoint at) {
    http::client_request ask(http::method::get, "localhost", "/ticks");
    auto reply = co_await ps::or_return(client.send(at, std::move(ask)));
    http::event_reader events(reply.body());
    std::vector<std::string> all;
    while (auto const event = co_await ps::or_return(events.read())) all.push_back(event->data);
    co_return ps::io_result<std::vector<std::string>>(std::move(all));
}

struct upstream {
    http::client client{};
    ps::endpoint at{};
};

ps::task<http::response> pass_on(upstream& to, http::request& request) {
    http::client_request passed(request.method(), "localhost", request.target());
    passed.headers().add_end_to_end(request.headers());
    auto reply = co_await to.client.send(to.at, std::move(passed));
    if (!reply.has_value()) co_return http::response(502);
    auto made = http::response::stream(reply->status(), http::body(reply->take_body()));
    made.headers().add_end_to_end(reply->headers());
    co_return made;
}

ps::task<ps::io_result<void>> talk(http::client& client, ps::endpoint at) {
    auto const size = co_await ps::or_return(post(client, at, "four"));
    EXPECT_EQ(size, "4");
    auto const events = co_await ps::or_return(listen(client, at));
    std::vector<std::string> const wanted{"0", "1", "2"};
    EXPECT_EQ(events, wanted);
    co_return {};
}

ps::task<ps::io_result<void>> talk_through_a_proxy(upstream& to, ps::endpoint at) {
    http::client_request ask(http::method::get, "localhost", "/greet/Ada");
    auto reply = co_await ps::or_return(to.client.send(at, std::move(ask)));
    auto const text = co_await ps::or_return(http::read_all(reply.body(), 100));
    EXPECT_EQ(text, "hello, Ada");
    co_return {};
}

ps::task<ps::io_result<void>> everything() {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto second = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const proxy_at = co_await ps::or_return(second.local_endpoint());
    upstream to;
    to.at = co_await ps::or_return(listener.local_endpoint());
    http::router proxy;
    proxy.get("/{path...}", [&to](http::request& request) { return pass_on(to, request); });
    auto const asks = [&]() -> ps::task<ps::io_result<void>> {
        co_await ps::or_return(talk(to.client, to.at));
        co_return co_await talk_through_a_proxy(to, proxy_at);
    };
    auto first = co_await ps::when_any(serve(std::move(listener)), http::serve(second, proxy), asks());
    co_return *std::get<2>(first);
}

TEST(http_guide, its_code_runs) {
    auto const end = ps::sync_wait(everything());
    ASSERT_TRUE(end.has_value());
    EXPECT_TRUE(end.value().has_value()) << end.value().error().message();
}

} // namespace
