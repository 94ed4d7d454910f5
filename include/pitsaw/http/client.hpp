#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/http/message.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/net/endpoint.hpp>
#include <pitsaw/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace pitsaw::inline v0::http {

class connection_pool;

/// What a client asks.
///
/// ```cpp
/// ps::http::client_request ask(ps::http::method::post, "api.example", "/items");
/// ask.headers().add("Content-Type", "text/plain");
/// ask.body() = ps::http::body(std::string("an item"));
/// ```
/// Lifetime: a value. Threads: one at a time. Errors: std::invalid_argument for a host or a target with
/// characters that none may have. Stopping: none.
class client_request {
  public:
    client_request(http::method what, std::string_view host, std::string_view target);

    [[nodiscard]] http::method method() const noexcept { return method_; }
    [[nodiscard]] std::string_view host() const noexcept { return host_; }
    [[nodiscard]] std::string_view target() const noexcept { return target_; }
    [[nodiscard]] http::headers& headers() noexcept { return headers_; }
    [[nodiscard]] http::body& body() noexcept { return body_; }

    /// Lets the client send it again, once, though its method is not idempotent, when a kept connection ended
    /// before a byte of the answer: for a request that may be carried out twice. Its body must be in memory.
    void allow_repeat() noexcept { is_repeatable_ = true; }
    [[nodiscard]] bool is_repeatable() const noexcept { return is_repeatable_; }

  private:
    std::string host_;
    std::string target_;
    http::headers headers_;
    http::body body_;
    http::method method_;
    bool is_repeatable_ = false;
};

/// What a server answered.
///
/// ```cpp
/// auto reply = co_await ps::or_return(client.send(at, std::move(ask)));
/// if (reply.status() == 200) use(co_await ps::or_return(ps::http::read_all(reply.body(), 65536)));
/// ```
/// Lifetime: within the client's. Fields are views that live as long as the body, taken or not. Once the body
/// has been read to its end the connection serves the next request; dropped before that, it is closed.
/// Threads: the client's worker. Errors: of the body, see body_source. Stopping: see there.
class client_response {
  public:
    using bound_to_worker = void; ///< see `transferable`

    explicit client_response(std::unique_ptr<body_source> body, unsigned status, header_view headers) noexcept
        : body_(std::move(body)), headers_(headers), status_(status) {}

    [[nodiscard]] unsigned status() const noexcept { return status_; }
    [[nodiscard]] header_view headers() const noexcept { return headers_; }
    [[nodiscard]] body_source& body() noexcept { return *body_; }
    /// For `response::stream`, which passes it on.
    [[nodiscard]] std::unique_ptr<body_source> take_body() noexcept { return std::move(body_); }

  private:
    std::unique_ptr<body_source> body_;
    header_view headers_;
    unsigned status_;
};

/// The limits of a client.
struct client_options {
    std::uint32_t idle_max = 64;                      ///< connections that wait for a request, in all
    duration idle_timeout = std::chrono::seconds(60); ///< after which one is not used again
    std::uint32_t header_bytes_max = 65'536;          ///< of a response
    std::uint32_t headers_max = 200;
    std::uint64_t body_bytes_max = UINT64_MAX; ///< of a response
    duration connect_timeout = std::chrono::seconds(10);
    duration write_timeout = std::chrono::seconds(30); ///< in which a server takes no byte
};
static_assert(std::is_trivially_copyable_v<client_options>);

/// Sends requests, and keeps connections for the next.
///
/// ```cpp
/// ps::http::client client;
/// auto reply = co_await ps::or_return(ps::with_timeout(5s, client.send(at, std::move(ask))));
/// ```
/// A kept connection is closed as soon as the server closes it or says anything, and is not used for longer
/// than the server's `Keep-Alive: timeout` allows. If it closes one in the moment of the request, the request
/// is sent again, once, on a new connection, if its body is in memory and if it is idempotent or
/// `allow_repeat` was called or not a byte of it was sent; any other gives the error, for it may have been
/// carried out. An answer that comes while a body is being sent ends the sending. Lifetime: outlives its
/// responses, and ends before its runtime. Threads: one worker's. Errors: the connection's; `bad_message` for
/// an answer that is none or is framed in two ways; `message_size` for one above the limits. Stopping: stops
/// with its caller, whose scopes bound it in time; the connection is then closed. Sizes: 8 bytes, and for a
/// kept connection some 800. Source: RFC 9112 section 9.
class client {
  public:
    using bound_to_worker = void; ///< see `transferable`

    explicit client(client_options how = {});
    client(client&&) noexcept;
    ~client();

    /// The answer, once its head has come.
    [[nodiscard]] task<io_result<client_response>> send(endpoint to, client_request ask);

    /// How many connections wait for a request.
    [[nodiscard]] std::size_t idle() const noexcept;

  private:
    std::unique_ptr<connection_pool> pool_;
};

} // namespace pitsaw::inline v0::http
