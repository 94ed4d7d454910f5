// An HTTP server and its client in one process: a route with a parameter, a body, and events as they happen.
#include <pitsaw/http/client.hpp>
#include <pitsaw/http/event_stream.hpp>
#include <pitsaw/http/server.hpp>
#include <pitsaw/pitsaw.hpp>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

using namespace std::chrono_literals;
namespace ps = pitsaw;
namespace http = pitsaw::http;

ps::task<http::response> greet(http::request& request) {
    co_return http::response(200, "text/plain", "hello, " + std::string(request.parameter("name")));
}

ps::task<http::response> count(http::request& request) {
    auto const text = co_await ps::or_return(http::read_all(request.body(), 65536));
    co_return http::response(200, "text/plain", std::to_string(text.size()) + " bytes");
}

ps::task<ps::io_result<void>> send_ticks(http::event_writer& to) {
    for (int i = 1; i <= 3; ++i) {
        co_await ps::or_return(to.write(http::server_event("tick " + std::to_string(i))));
        co_await ps::sleep(10ms); // stopped here when the client goes
    }
    co_return {};
}
ps::task<http::response> ticks(http::request&) { co_return http::event_response(send_ticks); }

ps::task<ps::io_result<void>> show(http::client& client, ps::endpoint at, http::client_request ask) {
    auto const line = std::string(name(ask.method())) + " " + std::string(ask.target());
    auto reply = co_await ps::or_return(ps::with_timeout(5s, client.send(at, std::move(ask))));
    auto const text = co_await ps::or_return(http::read_all(reply.body(), 65536));
    std::printf("%s: %u %s\n", line.c_str(), reply.status(), text.c_str());
    co_return {};
}

ps::task<ps::io_result<void>> listen_to_ticks(http::client& client, ps::endpoint at) {
    http::client_request ask(http::method::get, "localhost", "/ticks");
    auto reply = co_await ps::or_return(client.send(at, std::move(ask)));
    http::event_reader events(reply.body());
    for (;;) {
        auto const event = co_await ps::or_return(events.read());
        if (!event.has_value()) co_return {};
        std::printf("event: %s\n", event->data.c_str());
    }
}

ps::task<ps::io_result<void>> conversation(ps::endpoint at) {
    http::client client; // one connection serves all of it
    co_await ps::or_return(
        show(client, at, http::client_request(http::method::get, "localhost", "/greet/Ada")));
    http::client_request upload(http::method::post, "localhost", "/count");
    upload.body() = http::body(std::string(1000, 'x'));
    co_await ps::or_return(show(client, at, std::move(upload)));
    co_await ps::or_return(show(client, at, http::client_request(http::method::get, "localhost", "/count")));
    co_return co_await listen_to_ticks(client, at);
}

ps::task<ps::io_result<void>> work() {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(0)));
    auto const at = co_await ps::or_return(listener.local_endpoint());
    http::router routes;
    routes.get("/greet/{name}", greet).post("/count", count).get("/ticks", ticks);
    auto first = co_await ps::when_any(http::serve(std::move(listener), routes), conversation(at));
    if (auto& served = std::get<0>(first)) co_return *served;
    co_return *std::get<1>(first);
}

int main() { return ps::run(work()); }

// prints:
// GET /greet/Ada: 200 hello, Ada
// POST /count: 200 1000 bytes
// GET /count: 405 Method Not Allowed
//
// event: tick 1
// event: tick 2
// event: tick 3
