#include "http/client_connection.hpp"

#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/io/buffer.hpp>
#include <pitsaw/io/driver.hpp>
#include <pitsaw/io/event.hpp>
#include <pitsaw/task/or_return.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace pitsaw::inline v0::http {
namespace {

constexpr unsigned interim_max = 16; // 1xx before an answer

std::unexpected<std::error_code> failure(std::errc const what) noexcept {
    return std::unexpected(std::make_error_code(what));
}

} // namespace

bool client_connection::is_silent(driver& io) const noexcept {
    std::byte byte{};
    operation probe(op_code::receive, stream_.as_descriptor());
    set_buffer(probe, {&byte, 1});
    event done;
    return !io.attempt(probe, done);
}

void client_connection::write_head(client_request& ask, framed_writer::framing const how) {
    auto& out = out_.text();
    out.append(name(ask.method())).append(" ").append(ask.target()).append(" HTTP/1.1\r\nHost: ");
    out.append(ask.host()).append("\r\n").append(ask.headers().text());
    auto const* const stream = ask.body().as_stream();
    auto const length = stream != nullptr ? stream->length.value_or(0) : ask.body().whole().size();
    bool const needs_length = length != 0 || ask.method() == method::post || ask.method() == method::put ||
                              ask.method() == method::patch;
    if (how == framed_writer::framing::chunked) {
        out.append("Transfer-Encoding: chunked\r\n");
    } else if (needs_length) {
        char digits[20];
        auto const end = std::to_chars(digits, digits + sizeof digits, length).ptr;
        out.append("Content-Length: ").append(digits, end).append("\r\n");
    }
    if (ask.headers().asks_to_close()) out.append("Connection: close\r\n");
    out.append("\r\n");
}

task<io_result<void>> client_connection::write(client_request& ask) {
    auto& body = ask.body();
    auto const* const stream = body.as_stream();
    bool const is_whole = stream == nullptr && body.as_writer() == nullptr;
    bool const has_length = is_whole || (stream != nullptr && stream->length.has_value());
    auto const how = has_length ? framed_writer::framing::length : framed_writer::framing::chunked;
    write_head(ask, how);
    if (is_whole) co_return co_await out_.flush_with(body.whole(), {});
    framed_writer writer(out_, how, stream != nullptr ? stream->length.value_or(0) : 0);
    co_await or_return(write_body(body, writer));
    co_return co_await out_.flush();
}

task<io_result<void>> client_connection::receive_more() {
    std::size_t came = 0;
    if (in_.unread().empty()) {
        auto got = co_await or_return(stream_.receive());
        came = got.size();
        if (came != 0) in_.take_head(std::move(got));
    } else {
        came = co_await or_return(stream_.receive(in_.room()));
        in_.came(came);
    }
    if (came == 0) co_return failure(std::errc::connection_reset);
    has_received_ = true;
    co_return io_result<void>();
}

task<io_result<void>> client_connection::receive_head(method const to) {
    for (unsigned interim = 0; interim < interim_max; ++interim) {
        head_search search;
        auto found = search.look(in_.unread(), limits_);
        while (found == 0) {
            co_await or_return(receive_more());
            found = search.look(in_.unread(), limits_);
        }
        if (found < 0) co_return failure(found == -400 ? std::errc::bad_message : std::errc::message_size);
        auto const text = in_.unread().substr(0, static_cast<std::size_t>(found));
        int const refused = parse_response_head(text, limits_, to, head_);
        if (refused != 0)
            co_return failure(refused == 431 ? std::errc::message_size : std::errc::bad_message);
        in_.consume(text.size());
        if (head_.status >= 200) co_return io_result<void>();
        if (head_.status == 101) co_return failure(std::errc::bad_message); // nobody asked for it
    }
    co_return failure(std::errc::bad_message);
}

task<io_result<void>> client_connection::exchange(client_request& ask) {
    has_received_ = is_kept_ = false;
    auto const sent = co_await write(ask);
    // A server that refuses a body answers and closes while it is still being sent.
    auto const got = co_await receive_head(ask.method());
    if (!got.has_value()) co_return sent.has_value() ? got : sent;
    if (!body_.begin(head_, nullptr)) co_return failure(std::errc::message_size);
    is_kept_ = sent.has_value() && !head_.asks_to_close && !ask.headers().asks_to_close() &&
               head_.framing != body_end::close;
    co_return io_result<void>();
}

std::unique_ptr<client_connection> connection_pool::take(endpoint const& at, executor& on) noexcept {
    auto const is_old = [&](auto const& one) { return on.now() - one->idle_since > options.idle_timeout; };
    std::erase_if(idle_, is_old);
    for (;;) {
        auto const found =
            std::find_if(idle_.rbegin(), idle_.rend(), [&](auto const& one) { return one->at() == at; });
        if (found == idle_.rend()) return nullptr;
        auto taken = std::move(*found);
        idle_.erase(std::next(found).base());
        if (taken->is_silent(*on.io)) return taken;
    }
}

void connection_pool::give_back(std::unique_ptr<client_connection> one, time_point const now) {
    if (options.idle_max == 0) return;
    one->release();
    one->idle_since = now;
    if (idle_.size() >= options.idle_max) idle_.erase(idle_.begin());
    idle_.push_back(std::move(one));
}

} // namespace pitsaw::inline v0::http
