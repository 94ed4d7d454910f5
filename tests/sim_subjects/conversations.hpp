#pragma once
#include <pitsaw/http/client.hpp>
#include <pitsaw/http/event_stream.hpp>
#include <pitsaw/http/server.hpp>

#include "http_visit.hpp"
#include "sim_subjects/surroundings.hpp"

#include <chrono>
#include <string>
#include <system_error>
#include <utility>

/// HTTP, both sides in one world.
namespace pitsaw::testing::subjects {

inline task<http::response> echo(http::request& request) {
    auto whole = co_await or_return(http::read_all(request.body(), 1 << 20));
    co_return http::response(200, "text/plain", std::move(whole));
}
inline task<http::response> stream(http::request&) {
    auto const work = [](http::event_writer& to) -> result {
        for (int i = 0; i < 3; ++i) {
            co_await or_return(to.write(http::server_event(std::to_string(i))));
            co_await sleep(10ms);
        }
        co_return {};
    };
    co_return http::event_response(work);
}
inline result gets(http::client& client, endpoint at) {
    auto const all_of_it = co_await or_return(fetch(client, at, http::method::get, "/echo"));
    if (all_of_it != "200 ") co_return std::unexpected(std::make_error_code(std::errc::bad_message));
    co_return {};
}
inline result posts(http::client& client, endpoint at) {
    std::string const large(20'000, 'x');
    auto const answer = co_await or_return(fetch(client, at, http::method::post, "/echo", large));
    if (answer.size() != large.size() + 4)
        co_return std::unexpected(std::make_error_code(std::errc::bad_message));
    co_return {};
}
inline async_generator<std::string> pieces() {
    for (int i = 0; i < 3; ++i) {
        co_await sleep(1ms);
        co_yield std::string(40, 'x');
    }
}
inline result uploads_a_stream(http::client& client, endpoint at) {
    http::client_request ask(http::method::post, "a", "/echo");
    ask.body() = http::body(pieces());
    auto reply = co_await or_return(client.send(at, std::move(ask)));
    auto const whole = co_await or_return(http::read_all(reply.body(), 1000));
    if (whole.size() != 120) co_return std::unexpected(std::make_error_code(std::errc::bad_message));
    co_return {};
}
inline result reads_a_stream(http::client& client, endpoint at) {
    http::client_request ask(http::method::get, "a", "/stream");
    auto reply = co_await or_return(client.send(at, std::move(ask)));
    http::event_reader events(reply.body());
    std::string all_of_it;
    for (;;) {
        auto const event = co_await or_return(events.read());
        if (!event.has_value()) break;
        all_of_it += event->data;
    }
    if (all_of_it != "012") co_return std::unexpected(std::make_error_code(std::errc::bad_message));
    co_return {};
}
template <auto Visit> result over_http(surroundings&) {
    http::router routes;
    routes.post("/echo", echo).get("/echo", echo).get("/stream", stream);
    http::client client;
    auto const visit = [&client](endpoint at) { return Visit(client, at); };
    co_return co_await while_served(routes, visit);
}

} // namespace pitsaw::testing::subjects
