#pragma once
#include <pitsaw/http/client.hpp>
#include <pitsaw/net/tcp_stream.hpp>

#include "http/head_parser.hpp"
#include "http/input_buffer.hpp"
#include "http/output_buffer.hpp"
#include "http/received_body.hpp"

#include <memory>
#include <vector>

namespace pitsaw::inline v0::http {

/// One connection of a client, with one request at a time.
class client_connection {
  public:
    client_connection(tcp_stream to, endpoint at, client_options const& how) noexcept
        : stream_(std::move(to)), at_(at),
          limits_{how.header_bytes_max, how.header_bytes_max, how.headers_max},
          out_(stream_, how.write_timeout), body_(stream_, in_, how.body_bytes_max, {}) {}
    client_connection(client_connection&&) = delete;

    /// Sends, and receives the head of the answer.
    [[nodiscard]] task<io_result<void>> exchange(client_request& ask);

    [[nodiscard]] message_head const& head() const noexcept { return head_; }
    [[nodiscard]] received_body& body() noexcept { return body_; }
    [[nodiscard]] endpoint const& at() const noexcept { return at_; }
    /// Whether a byte of the answer has come.
    [[nodiscard]] bool has_received() const noexcept { return has_received_; }
    /// Whether another request may follow.
    [[nodiscard]] bool is_free() const noexcept {
        return is_kept_ && body_.is_done() && in_.unread().empty();
    }
    /// Whether the server has said nothing since, and has not closed it.
    [[nodiscard]] bool is_silent(driver& io) const noexcept;
    void release() noexcept {
        in_.release();
        out_.release();
    }

    time_point idle_since = never;

  private:
    void write_head(client_request& ask, framed_writer::framing how);
    [[nodiscard]] task<io_result<void>> write(client_request& ask);
    [[nodiscard]] task<io_result<void>> receive_more();
    [[nodiscard]] task<io_result<void>> receive_head(method to);

    tcp_stream stream_;
    endpoint at_;
    head_limits limits_;
    input_buffer in_;
    output_buffer out_;
    received_body body_;
    message_head head_;
    bool has_received_ = false;
    bool is_kept_ = false;
};

/// The connections that wait for a request.
class connection_pool {
  public:
    explicit connection_pool(client_options const& how) : options(how) { idle_.reserve(how.idle_max); }

    /// One to `at` that can be used, or null; what cannot is closed.
    [[nodiscard]] std::unique_ptr<client_connection> take(endpoint const& at, executor& on) noexcept;
    void give_back(std::unique_ptr<client_connection> one, time_point now);
    [[nodiscard]] std::size_t size() const noexcept { return idle_.size(); }

    client_options const options;

  private:
    std::vector<std::unique_ptr<client_connection>> idle_; // the one used last is at the end
};

} // namespace pitsaw::inline v0::http
