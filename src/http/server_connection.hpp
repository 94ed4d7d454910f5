#pragma once
#include <pitsaw/http/server.hpp>
#include <pitsaw/net/tcp_stream.hpp>

#include "http/exchange_scope.hpp"
#include "http/head_parser.hpp"
#include "http/input_buffer.hpp"
#include "http/output_buffer.hpp"
#include "http/received_body.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pitsaw::inline v0::http {

/// What the connections of a server share.
struct server_state {
    server_state(router& answering, server_options const& how) noexcept : routes(answering), options(how) {}
    server_state(server_state&&) = delete;

    router& routes;
    server_options options;

    [[nodiscard]] head_limits limits() const noexcept {
        return {options.header_bytes_max, options.target_bytes_max, options.headers_max};
    }
    /// The field Date with its CRLF; empty without a clock. Made once a second.
    [[nodiscard]] std::string_view date(time_point now) noexcept;

  private:
    time_point date_at_ = never; // of the worker's clock
    std::size_t date_size_ = 0;
    char date_[40];
};

/// One connection of a server: finds heads, answers them in order, and gathers the answers.
class server_connection {
  public:
    server_connection(tcp_stream& client, server_state& of) noexcept;

    /// Looks for a head in what has been received: its length, 0, or -status.
    [[nodiscard]] std::ptrdiff_t look() noexcept {
        return in_.has_begun() ? search_.look(in_.unread(), shared_.limits()) : 0;
    }

    /// Answers the requests that are there, the first of whose heads has so many bytes.
    [[nodiscard]] task<next_step> exchange(std::size_t head_bytes);
    /// Says why no head was taken, and that this is the end.
    [[nodiscard]] task<next_step> refuse(unsigned status);
    /// Lets the client read the answer before the connection is closed: a close while bytes of the client are
    /// unread would break it, and the answer be lost.
    [[nodiscard]] task<> linger();

    [[nodiscard]] input_buffer& in() noexcept { return in_; }
    /// Holds no memory any more, for nothing is there.
    void release() noexcept {
        in_.release();
        out_.release();
    }
    [[nodiscard]] bool& is_draining() noexcept { return is_draining_; }

  private:
    /// How the answer to one request is framed, and whether the next may follow.
    struct plan {
        bool has_body = true;
        bool is_kept = true;
        framed_writer::framing framing = framed_writer::framing::length;
        bool has_length = true;
        std::uint64_t length = 0;
    };

    void fill(request& to, message_head const& head) const noexcept;
    [[nodiscard]] task<next_step> refuse(unsigned status, message_head& head);
    /// What goes out where no handler answers.
    [[nodiscard]] response answer_to_refused(unsigned status, message_head const& head);
    [[nodiscard]] plan plan_for(message_head const& head, response& reply) noexcept;
    void write_head(message_head const& head, response const& reply, plan const& how);
    [[nodiscard]] task<next_step> respond(message_head const& head, response& reply);
    /// After a response: what is left of the request's body is dropped.
    [[nodiscard]] task<next_step> next_request();

    tcp_stream& stream_;
    server_state& shared_;
    input_buffer in_;
    output_buffer out_;
    received_body body_;
    head_search search_;
    bool is_draining_ = false; // the server was stopped: this exchange is the last
};

/// Serves a client until its connection ends.
[[nodiscard]] task<> serve_client(tcp_stream client, server_state& of);

} // namespace pitsaw::inline v0::http
