#pragma once
#include <pitsaw/http/message.hpp>
#include <pitsaw/http/method.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/net/endpoint.hpp>
#include <pitsaw/net/tcp_stream.hpp>
#include <pitsaw/task/task.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pitsaw::inline v0::http {

/// A request that the server or the router answers itself, because it may not be, or because there is no
/// handler or its handler failed.
///
/// ```cpp
/// routes.refused([](ps::http::refusal const& what) {
///     log(what.status(), what.method(), what.target());
///     return ps::http::response(what.status(), "application/json", error_text(what.status()));
/// });
/// ```
/// Lifetime: during the call, the views too. Threads: the server's worker. Errors, stopping: none. Sizes: 48
/// bytes.
class refusal {
  public:
    refusal(unsigned status, tcp_stream const& client, std::string_view method,
            std::string_view target) noexcept
        : client_(client), method_(method), target_(target), status_(status) {}
    refusal(refusal&&) = delete;

    /// 400, 404, 405, 408, 413, 414, 417, 431, 500, 501 or 505.
    [[nodiscard]] unsigned status() const noexcept { return status_; }
    /// As it came; empty where it could not be read.
    [[nodiscard]] std::string_view method() const noexcept { return method_; }
    /// Likewise.
    [[nodiscard]] std::string_view target() const noexcept { return target_; }
    /// Where the client is; a call of the system.
    [[nodiscard]] io_result<endpoint> peer() const noexcept { return client_.peer_endpoint(); }

  private:
    tcp_stream const& client_;
    std::string_view method_, target_;
    unsigned status_;
};

/// Which handler answers which request.
///
/// ```cpp
/// ps::http::router routes;
/// routes.get("/users/{id}", [](ps::http::request& request) -> ps::task<ps::http::response> {
///     co_return ps::http::response(200, "text/plain", std::string(request.parameter("id")));
/// });
/// routes.get("/files/{path...}", send_file);       // the rest of the path, slashes too
/// ```
/// A pattern without parameters goes before one with, otherwise the first that was added. What no pattern
/// meets is answered with 404, what only other methods have with 405 and `Allow`. HEAD is answered by GET's
/// handler if it has none of its own. What `refused` takes answers for both, and for whatever else the server
/// answers itself, in place of a line of plain text. Lifetime: outlives the server, and does not change
/// meanwhile. Threads: its server's worker. Errors: std::invalid_argument for a pattern that does not begin
/// with `/`, an empty parameter's name, more than 8 of them, or `...` elsewhere than at the end. Stopping:
/// none. Sizes: some 100 bytes and the routes.
class router {
  public:
    using handler = std::move_only_function<task<response>(request&)>;
    using refusal_handler = std::move_only_function<response(refusal const&)>;

    router& add(method of, std::string_view pattern, handler answer);
    router& get(std::string_view pattern, handler answer) {
        return add(method::get, pattern, std::move(answer));
    }
    router& post(std::string_view pattern, handler answer) {
        return add(method::post, pattern, std::move(answer));
    }
    router& put(std::string_view pattern, handler answer) {
        return add(method::put, pattern, std::move(answer));
    }
    router& patch(std::string_view pattern, handler answer) {
        return add(method::patch, pattern, std::move(answer));
    }
    router& delete_(std::string_view pattern, handler answer) {
        return add(method::delete_, pattern, std::move(answer));
    }
    /// Answers what no pattern meets, in place of 404.
    router& otherwise(handler answer);
    /// Says what is answered where no handler does, called once for each such request. If it throws, the
    /// exception goes to `on_lost_error`; then, and if the response's status is none of 400 to 599, a line of
    /// plain text is the answer.
    router& refused(refusal_handler answer);

    /// The answer to `to`, whose parameters are set.
    [[nodiscard]] task<response> answer(request& to);
    /// The answer where no handler gives one.
    [[nodiscard]] response refuse(refusal const& what);

  private:
    struct route {
        method of;
        std::string pattern;
        bool has_parameters;
        handler answer;
    };

    [[nodiscard]] task<response> refuse(unsigned status, request& to);
    [[nodiscard]] route* find(request& to, method of) noexcept;
    [[nodiscard]] std::string allowed(request& to);

    std::vector<route> routes_;
    handler otherwise_;
    refusal_handler refused_;
};

} // namespace pitsaw::inline v0::http
