#pragma once
#include <pitsaw/http/headers.hpp>
#include <pitsaw/http/method.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/net/endpoint.hpp>
#include <pitsaw/net/tcp_stream.hpp>
#include <pitsaw/task/async_generator.hpp>
#include <pitsaw/task/task.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace pitsaw::inline v0::http {

/// Where the bytes of a body come from, piece by piece: a received message, or a class of yours.
///
/// ```cpp
/// for (;;) {
///     auto const piece = co_await ps::or_return(request.body().read());
///     if (piece.empty()) break;                    // the whole of it has come
///     use(piece);
/// }
/// ```
/// Nothing is read ahead: who does not ask holds up the peer. Lifetime: a piece lives until the next read.
/// Threads: one read at a time, on the message's worker. Errors: the connection's; of a received body also
/// `bad_message` (no valid framing), `message_size` (longer than its limit), `timed_out` (too slow),
/// `connection_aborted` (it ended in the middle). Stopping: loses no byte: the next read goes on.
class body_source {
  public:
    body_source() = default;
    body_source(body_source&&) = delete;
    virtual ~body_source() = default;

    /// The next piece; empty at the end.
    [[nodiscard]] virtual task<io_result<std::span<std::byte const>>> read() = 0;
};

/// All that a source has left, if it is at most `bytes_max`; else `message_size`.
[[nodiscard]] task<io_result<std::string>> read_all(body_source& from, std::size_t bytes_max);

/// Where a body that is written piece by piece goes. Each write is on its way when it returns.
///
/// Lifetime: that of the message. Threads: one write at a time. Errors: the connection's; `timed_out` when
/// the peer takes nothing for `write_timeout`. Stopping: the message is then cut off, and the peer sees that.
class body_writer {
  public:
    using bound_to_worker = void; ///< see `transferable`

    body_writer() = default;
    body_writer(body_writer&&) = delete;
    virtual ~body_writer() = default;

    [[nodiscard]] virtual task<io_result<void>> write(std::span<std::byte const> piece) = 0;
    [[nodiscard]] task<io_result<void>> write(std::string_view const piece) {
        return write(std::as_bytes(std::span(piece)));
    }
};

/// The body of a message that is to be sent.
///
/// ```cpp
/// ps::http::body whole(std::string("hello"));                       // its length is known
/// ps::http::body streamed(upstream.take_body());                    // a body_source
/// ps::http::body generated(lines());                                // an async_generator of strings
/// ps::http::body written([](ps::http::body_writer& to) -> ps::task<ps::io_result<void>> {
///     co_return co_await to.write("hello");
/// });
/// ```
/// What has no known length is sent in chunks, to a client of HTTP/1.0 until the connection closes.
/// Lifetime: owns what it is made of, except `borrowed`, whose text outlives the message. Threads: one at a
/// time. Errors: a stream that fails cuts the message off, so that the peer does not take it for whole.
/// Stopping: none. Sizes: 48 bytes.
class body {
  public:
    using writer = std::move_only_function<task<io_result<void>>(body_writer&)>;
    struct stream {
        std::unique_ptr<body_source> source;
        std::optional<std::uint64_t> length; ///< bytes, where known
    };

    body() = default; ///< empty
    explicit body(std::string whole) : what_(std::move(whole)) {}
    explicit body(std::unique_ptr<body_source> source, std::optional<std::uint64_t> length = std::nullopt)
        : what_(stream{std::move(source), length}) {}
    explicit body(writer write) : what_(std::move(write)) {}
    explicit body(async_generator<std::string> pieces);
    [[nodiscard]] static body borrowed(std::string_view text) {
        body made;
        made.what_ = text;
        return made;
    }

    /// Null unless it is a stream.
    [[nodiscard]] stream* as_stream() noexcept { return std::get_if<stream>(&what_); }
    /// Null unless it is written.
    [[nodiscard]] writer* as_writer() noexcept { return std::get_if<writer>(&what_); }
    /// What is in memory.
    [[nodiscard]] std::string_view whole() const noexcept {
        if (auto const* const owned = std::get_if<std::string>(&what_)) return *owned;
        auto const* const text = std::get_if<std::string_view>(&what_);
        return text == nullptr ? std::string_view() : *text;
    }

  private:
    std::variant<std::string_view, std::string, stream, writer> what_;
};

class server_connection;

/// A request as a server's handler sees it.
///
/// ```cpp
/// routes.post("/items/{id}", [&](ps::http::request& request) -> ps::task<ps::http::response> {
///     auto const text = co_await ps::or_return(ps::http::read_all(request.body(), 65536));
///     co_return ps::http::response(200, "text/plain", items.store(request.parameter("id"), text));
/// });
/// ```
/// Lifetime: until the response has been sent; all views into it likewise. Threads: its connection's worker.
/// Errors: of the body, see body_source; a handler that gives up on one leaves the answer to the server,
/// which then says 408, 413 or 400. Stopping: the handler is stopped when its client is gone. Source:
/// RFC 9112.
class request {
  public:
    using bound_to_worker = void; ///< see `transferable`

    request(request&&) = delete;

    [[nodiscard]] http::method method() const noexcept { return method_; }
    /// As it came: `/path?query`, or a whole URL.
    [[nodiscard]] std::string_view target() const noexcept { return target_; }
    /// Of the target, not decoded.
    [[nodiscard]] std::string_view path() const noexcept { return path_; }
    /// What follows the `?`.
    [[nodiscard]] std::string_view query() const noexcept { return query_; }
    [[nodiscard]] header_view headers() const noexcept { return headers_; }
    /// What stands in the place of `{name}` in the route's pattern, not decoded; empty if it has none.
    [[nodiscard]] std::string_view parameter(std::string_view name) const noexcept;
    /// Empty for a request that has none. The first read tells a client that waits for it to go on.
    [[nodiscard]] body_source& body() const noexcept { return *body_; }
    /// Where the client is; a call of the system.
    [[nodiscard]] io_result<endpoint> peer() const noexcept;

  private:
    friend class server_connection;
    friend class router;
    static constexpr std::size_t parameters_max = 8;

    request() = default;

    std::string_view target_, path_, query_;
    header_view headers_;
    body_source* body_ = nullptr;
    tcp_stream const* client_ = nullptr;
    http::method method_ = http::method::other;
    std::uint8_t parameters_ = 0; ///< how many
    header parameter_[parameters_max];
};

/// What a handler answers.
///
/// ```cpp
/// ps::http::response reply(404, "text/plain", "nothing here\n");
/// reply.headers().add("Cache-Control", "no-store");
/// co_return reply;
/// ```
/// The server adds Date, how it is framed, and whether the connection stays open. A response to HEAD, a 204
/// and a 304 are sent without their body. Lifetime: a value. Threads: one at a time. Errors: a status that is
/// none of 200 to 599 is answered as 500. Stopping: none. Source: RFC 9110 section 15.
class response {
  public:
    explicit response(unsigned status = 200) noexcept : status_(status) {}
    response(unsigned status, std::string_view content_type, std::string text)
        : response(status, content_type, http::body(std::move(text))) {}
    response(unsigned status, std::string_view content_type, http::body body)
        : body_(std::move(body)), status_(status) {
        headers_.add("Content-Type", content_type);
    }
    [[nodiscard]] static response stream(unsigned status, http::body body) {
        response made(status);
        made.body_ = std::move(body);
        return made;
    }

    [[nodiscard]] unsigned status() const noexcept { return status_; }
    [[nodiscard]] http::headers& headers() noexcept { return headers_; }
    [[nodiscard]] http::headers const& headers() const noexcept { return headers_; }
    [[nodiscard]] http::body& body() noexcept { return body_; }

  private:
    http::headers headers_;
    http::body body_;
    unsigned status_;
};

/// The words after a status: "Not Found"; "" where there are none.
[[nodiscard]] std::string_view reason_of(unsigned status) noexcept;

/// Text whose `%41` are characters again; nothing if one of them is none.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

} // namespace pitsaw::inline v0::http
