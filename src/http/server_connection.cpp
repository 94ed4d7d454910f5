#include "http/server_connection.hpp"

#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/this_task.hpp>

#include <charconv>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

namespace pitsaw::inline v0::http {
namespace {

constexpr std::size_t copied_max = 8192;     // bytes of a body that go out with the head, copied
constexpr std::size_t gathered_max = 65536;  // bytes of answers to pipelined requests
constexpr std::uint64_t dropped_max = 65536; // bytes of an unread body that are received and dropped

void append_number(recycled_string& to, std::uint64_t const value) {
    char digits[20];
    to.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append_status(recycled_string& to, unsigned const status) {
    to.append("HTTP/1.1 ");
    append_number(to, status);
    to.append(" ").append(reason_of(status)).append("\r\n");
}

} // namespace

server_connection::server_connection(tcp_stream& client, server_state& of) noexcept
    : stream_(client), shared_(of), out_(client, of.options.write_timeout),
      body_(client, in_, of.options.body_bytes_max, {of.options.body_timeout, of.options.body_rate_min}) {}

void server_connection::fill(request& to, message_head const& head) const noexcept {
    to.method_ = head.what;
    to.client_ = &stream_;
    to.target_ = head.target;
    to.headers_ = header_view(head.headers);
    to.body_ = const_cast<received_body*>(&body_);
    to.path_ = head.target;
    if (!to.path_.starts_with('/') && to.path_ != "*") { // a whole URL
        auto const authority = to.path_.find("//") + 2;
        auto const slash = to.path_.find('/', authority);
        to.path_ = slash == std::string_view::npos ? std::string_view("/") : to.path_.substr(slash);
    }
    auto const question = to.path_.find('?');
    if (question == std::string_view::npos) return;
    to.query_ = to.path_.substr(question + 1);
    to.path_ = to.path_.substr(0, question);
}

response server_connection::answer_to_refused(unsigned const status, message_head const& head) {
    return shared_.routes.refuse(refusal(status, stream_, head.method_name, head.target));
}

server_connection::plan server_connection::plan_for(message_head const& head, response& reply) noexcept {
    plan made;
    auto const status = reply.status();
    bool const is_never_there = status == 204 || status == 304;
    made.has_body = head.what != method::head && !is_never_there;
    auto& body = reply.body();
    if (auto const* const stream = body.as_stream()) {
        made.has_length = stream->length.has_value();
        made.length = stream->length.value_or(0);
    } else {
        made.has_length = body.as_writer() == nullptr;
        made.length = body.whole().size();
    }
    using enum framed_writer::framing;
    if (!made.has_length) made.framing = head.minor == 1 ? chunked : close;
    made.has_length = made.has_length && !is_never_there;
    body_.skip_buffered();
    bool const is_body_over = body_.refusal() == 0 && !body_.is_awaited() && body_.left() <= dropped_max;
    made.is_kept = !head.asks_to_close && !is_draining_ && !reply.headers().asks_to_close() && is_body_over &&
                   (made.framing != close || !made.has_body);
    return made;
}

void server_connection::write_head(message_head const& head, response const& reply, plan const& how) {
    auto& out = out_.text();
    append_status(out, reply.status());
    out.append(shared_.date(this_task::now()));
    out.append(reply.headers().text());
    if (how.has_length) {
        out.append("Content-Length: ");
        append_number(out, how.length);
        out.append("\r\n");
    } else if (how.has_body && how.framing == framed_writer::framing::chunked) {
        out.append("Transfer-Encoding: chunked\r\n");
    }
    if (!how.is_kept)
        out.append("Connection: close\r\n");
    else if (head.minor == 0)
        out.append("Connection: keep-alive\r\n");
    out.append("\r\n");
}

task<next_step> server_connection::refuse(unsigned const status, message_head& head) {
    head.asks_to_close = true;
    auto reply = answer_to_refused(status, head);
    co_return co_await respond(head, reply);
}

task<next_step> server_connection::refuse(unsigned const status) {
    message_head unknown;
    co_return co_await refuse(status, unknown);
}

task<next_step> server_connection::respond(message_head const& head, response& reply) {
    auto const how = plan_for(head, reply);
    write_head(head, reply, how);
    auto const whole = reply.body().whole();
    io_result<void> sent;
    if (!how.has_body) {
    } else if (reply.body().as_stream() != nullptr || reply.body().as_writer() != nullptr) {
        framed_writer writer(out_, how.framing, how.length);
        sent = co_await write_body(reply.body(), writer);
    } else if (whole.size() <= copied_max) {
        out_.text().append(whole);
    } else {
        sent = co_await out_.flush_with(whole, {});
    }
    if (!sent.has_value()) { // cut off, so that nobody takes it for whole
        if (how.framing == framed_writer::framing::close)
            (void)stream_.set_option(socket_option::reset_on_close,
                                     1); // the end itself would say that it is whole
        co_return next_step::close;
    }
    if (how.is_kept) co_return next_step::go_on;
    auto const last = co_await out_.flush();
    if (!last.has_value()) co_return next_step::close;
    co_return body_.is_done() && in_.unread().empty() ? next_step::close : next_step::linger;
}

task<next_step> server_connection::next_request() {
    if (!body_.is_done()) {
        auto const sent = co_await out_.flush();
        if (!sent.has_value()) co_return next_step::close;
        for (;;) {
            auto const piece = co_await body_.read();
            if (!piece.has_value()) co_return next_step::linger;
            if (piece->empty()) break;
        }
    }
    in_.next_head();
    search_ = head_search();
    co_return next_step::go_on;
}

task<next_step> server_connection::exchange(std::size_t head_bytes) {
    message_head head;
    for (;;) {
        auto const text = in_.unread().substr(0, head_bytes);
        int const refused = parse_request_head(text, shared_.limits(), head);
        if (refused != 0) co_return co_await refuse(static_cast<unsigned>(refused), head);
        in_.consume(head_bytes);
        if (!body_.begin(head, head.expects_continue ? &out_ : nullptr)) co_return co_await refuse(413, head);
        request to;
        fill(to, head);
        response reply;
        bool is_answered = false;
        try {
            reply = co_await shared_.routes.answer(to);
            is_answered = reply.status() >= 200 && reply.status() <= 599;
        } catch (...) {
            bool const is_clients_doing = body_.refusal() != 0 || body_.is_broken();
            if (!is_clients_doing) current_executor()->lost_error(std::current_exception());
        }
        if (body_.is_broken()) co_return next_step::close;
        if (body_.refusal() != 0) co_return co_await refuse(static_cast<unsigned>(body_.refusal()), head);
        if (!is_answered) reply = answer_to_refused(500, head);
        auto step = co_await respond(head, reply);
        if (step == next_step::go_on) step = co_await next_request();
        if (step != next_step::go_on) co_return step;
        in_.skip_empty_lines();
        auto const found = look();
        if (found <= 0 || out_.text().size() > gathered_max) {
            auto const sent = co_await out_.flush();
            if (!sent.has_value()) co_return next_step::close;
        }
        if (found < 0) co_return co_await refuse(static_cast<unsigned>(-found));
        if (found == 0) co_return next_step::go_on;
        head_bytes = static_cast<std::size_t>(found);
    }
}

task<> server_connection::linger() {
    auto const until = saturating_add(this_task::now(), shared_.options.linger_timeout);
    auto const ended = co_await stream_.shutdown_send();
    if (!ended.has_value()) co_return;
    std::uint64_t dropped = 0;
    while (dropped <= shared_.options.linger_bytes_max) {
        auto const got = co_await with_deadline(until, stream_.receive());
        if (!got.has_value() || got->empty()) break;
        dropped += got->size();
    }
}

task<> serve_client(tcp_stream client, server_state& of) {
    auto const& options = of.options;
    server_connection connection(client, of);
    auto& in = connection.in();
    exchange_limits const limits{options.watch_after, options.drain_timeout,
                                 options.gone == client_gone::when_broken ? op_option::broken
                                                                          : op_option::none};
    // Until then a head begins or, once it has, is there. Empty lines before it gain no time.
    auto until = saturating_add(this_task::now(), options.idle_timeout);
    bool has_begun = false;
    for (;;) {
        auto step = next_step::go_on;
        in.skip_empty_lines();
        if (!has_begun && in.has_begun()) {
            has_begun = true;
            until = saturating_add(this_task::now(), options.header_timeout);
        }
        auto const found = connection.look();
        if (found > 0) {
            auto work = connection.exchange(static_cast<std::size_t>(found));
            auto const end =
                co_await exchange_scope(client.as_descriptor(), limits, connection.is_draining(), work);
            until = saturating_add(this_task::now(), options.idle_timeout);
            has_begun = false;
            step = end.value_or(next_step::close);
        } else if (found < 0) {
            step = co_await connection.refuse(static_cast<unsigned>(-found));
        } else if (in.unread().empty()) {
            connection.release();
            auto got = co_await with_deadline(until, client.receive());
            if (!got.has_value() || got->empty()) break;
            in.take_head(std::move(*got));
        } else {
            auto const got = co_await with_deadline(until, client.receive(in.room()));
            if (got.has_value() && *got > 0)
                in.came(*got);
            else if (!got.has_value() && got.error() == std::errc::timed_out)
                step = co_await connection.refuse(408);
            else
                break;
        }
        if (step == next_step::linger) co_await connection.linger();
        if (step != next_step::go_on) break;
    }
}

} // namespace pitsaw::inline v0::http
