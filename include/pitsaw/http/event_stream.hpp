#pragma once
#include <pitsaw/http/message.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/task/task.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace pitsaw::inline v0::http {

/// One server-sent event.
struct server_event {
    server_event() = default;
    explicit server_event(std::string text) : data(std::move(text)) {}

    std::string data{}; ///< may have several lines
    std::string type{}; ///< empty: "message"
    std::string id{};   ///< the last one that the stream named
};

/// Takes a stream of events apart, however its bytes were cut.
///
/// ```cpp
/// ps::http::event_parser parser;
/// while (auto const event = parser.next(bytes)) use(*event);        // takes from the front of `bytes`
/// ```
/// Lines end with LF, CR or CRLF; a byte-order mark at the beginning, comments, unknown fields and events
/// without data are dropped. Lifetime: a value. Threads: one at a time. Errors: `is_too_long` after a line or
/// an event above the limit: nothing more comes of it. Stopping: none. Sizes: up to `bytes_max` for a line
/// and as much for an event. Source: WHATWG HTML, section 9.2.6.
class event_parser {
  public:
    explicit event_parser(std::size_t bytes_max = std::size_t{4} << 20) noexcept : bytes_max_(bytes_max) {}

    /// The next event, or nothing: all of `input` was taken.
    [[nodiscard]] std::optional<server_event> next(std::string_view& input);
    /// At the end of the stream: an event that lacks its last empty line. WHATWG drops it, but there are
    /// servers that end so.
    [[nodiscard]] std::optional<server_event> finish();

    [[nodiscard]] bool is_too_long() const noexcept { return is_too_long_; }
    /// How long to wait before connecting again, if the stream said so.
    [[nodiscard]] std::optional<std::uint64_t> retry_ms() const noexcept { return retry_ms_; }

  private:
    [[nodiscard]] bool take_line(std::string_view& input);
    [[nodiscard]] std::optional<server_event> line_ended();
    [[nodiscard]] std::optional<server_event> dispatch();

    std::size_t bytes_max_;
    std::string line_;
    std::string data_;
    std::string type_;
    std::string id_;
    std::optional<std::uint64_t> retry_ms_;
    bool has_data_ = false;
    bool is_first_line_ = true;
    bool is_after_cr_ = false; // an LF that comes now belongs to it
    bool is_too_long_ = false;
};

/// Reads the events of a body.
///
/// ```cpp
/// ps::http::event_reader events(reply.body());
/// while (auto event = co_await ps::or_return(events.read())) use(event->data);
/// ```
/// Lifetime: refers to the body. Threads: one read at a time. Errors: the body's; `message_size` above the
/// limit. Stopping: loses no byte: the next read goes on. Sizes: see event_parser.
class event_reader {
  public:
    explicit event_reader(body_source& from, std::size_t bytes_max = std::size_t{4} << 20) noexcept
        : from_(from), parser_(bytes_max) {}
    event_reader(event_reader&&) = delete;

    /// The next event; nothing at the end.
    [[nodiscard]] task<io_result<std::optional<server_event>>> read();
    [[nodiscard]] event_parser const& parser() const noexcept { return parser_; }

  private:
    body_source& from_;
    event_parser parser_;
    std::string_view left_; // of the piece that was read last
    bool is_over_ = false;
};

/// Writes events into a body; each is on its way when its write returns.
///
/// Lifetime: refers to the writer. Threads: one write at a time. Errors: the connection's; `invalid_argument`
/// for a type or an id with CR, LF or NUL. Stopping: see body_writer.
class event_writer {
  public:
    explicit event_writer(body_writer& to) noexcept : to_(to) {}

    [[nodiscard]] task<io_result<void>> write(server_event event);
    /// A comment, which keeps proxies and clients from giving up on a silent stream.
    [[nodiscard]] task<io_result<void>> heartbeat();

  private:
    body_writer& to_;
};

/// A response of events, with the fields that keep proxies from holding them back.
///
/// ```cpp
/// co_return ps::http::event_response([](ps::http::event_writer& to) -> ps::task<ps::io_result<void>> {
///     for (int i = 0;; ++i) {
///         co_await ps::or_return(to.write(ps::http::server_event(std::to_string(i))));
///         co_await ps::sleep(1s);
///     }
/// });
/// ```
[[nodiscard]] response event_response(std::move_only_function<task<io_result<void>>(event_writer&)> write);

} // namespace pitsaw::inline v0::http
