#pragma once
#include <pitsaw/http/message.hpp>
#include <pitsaw/http/method.hpp>
#include <pitsaw/task/task.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pitsaw::inline v0::http {

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
/// handler if it has none of its own. Lifetime: outlives the server, and does not change meanwhile. Threads:
/// its server's worker. Errors: std::invalid_argument for a pattern that does not begin with `/`, an empty
/// parameter's name, more than 8 of them, or `...` elsewhere than at the end. Stopping: none.
class router {
  public:
    using handler = std::move_only_function<task<response>(request&)>;

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

    /// The answer to `to`, whose parameters are set.
    [[nodiscard]] task<response> answer(request& to);

  private:
    struct route {
        method of;
        std::string pattern;
        bool has_parameters;
        handler answer;
    };

    [[nodiscard]] route* find(request& to, method of) noexcept;
    [[nodiscard]] std::string allowed(request& to);

    std::vector<route> routes_;
    handler otherwise_;
};

} // namespace pitsaw::inline v0::http
