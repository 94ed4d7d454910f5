// pitsaw_http_server PORT: answers GET / as the peers do; for bench/gateway it is the provider as well.
#include <pitsaw/http/server.hpp>
#include <pitsaw/pitsaw.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

namespace ps = pitsaw;
namespace http = pitsaw::http;

namespace {

ps::task<http::response> hello(http::request&) {
    co_return http::response(200, "text/plain", http::body::borrowed("Hello, world!"));
}

ps::task<http::response> complete(http::request& request) {
    auto const asked = co_await ps::or_return(http::read_all(request.body(), 1 << 20));
    if (asked.find("\"stream\":true") == std::string::npos)
        co_return http::response(
            200, "application/json",
            R"({"choices":[{"index":0,"message":{"role":"assistant","content":"hello"}}],)"
            R"("usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}})");
    auto const events = [](http::body_writer& to) -> ps::task<ps::io_result<void>> {
        for (int i = 0; i < 20; ++i)
            co_await ps::or_return(
                to.write("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"}}]}\n\n"));
        co_return co_await to.write("data: [DONE]\n\n");
    };
    co_return http::response(200, "text/event-stream", http::body(events));
}

ps::task<ps::io_result<void>> serve(std::uint16_t const port) {
    auto listener = co_await ps::or_return(ps::tcp_listener::bind(ps::endpoint::loopback(port)));
    http::router routes;
    routes.get("/", hello).post("/v1/chat/completions", complete);
    co_return co_await http::serve(std::move(listener), routes);
}

} // namespace

int main(int const count, char** const arguments) {
    if (count != 2) return 2;
    return ps::run(serve(static_cast<std::uint16_t>(std::atoi(arguments[1]))));
}
