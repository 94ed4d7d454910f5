#include "http/client_connection.hpp"

#include <pitsaw/executor/executor_ref.hpp>
#include <pitsaw/io/buffer.hpp>
#include <pitsaw/io/driver.hpp>
#include <pitsaw/io/event.hpp>
#include <pitsaw/io/socket_command.hpp>
#include <pitsaw/scope/when_any.hpp>
#include <pitsaw/task/or_return.hpp>
#include <pitsaw/time/sleep.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <new>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

namespace pitsaw::inline v0::http {
namespace {

constexpr unsigned interim_max = 16;     // 1xx before an answer
constexpr std::size_t heap_bytes = 4096; // of a receive where there is no pool
constexpr std::size_t at_once_bytes_max =
    16384; // of a body that a socket takes, whether its peer reads or not

bool is_whole(body& which) noexcept { return which.as_stream() == nullptr && which.as_writer() == nullptr; }

std::unexpected<std::error_code> failure(std::errc const what) noexcept {
    return std::unexpected(std::make_error_code(what));
}

} // namespace

void resting_receive::begin() noexcept {
    from_ = on_->find_buffers();
    if (from_ != nullptr) {
        options = op_option::pooled;
        pool = from_->number();
    } else {
        own_.reset(new (std::nothrow) std::byte[heap_bytes]);
        if (own_ == nullptr) return; // then nobody looks
        set_buffer(*this, {own_.get(), heap_bytes});
    }
    at_ = stage::in_flight;
    ++on_->operations;
    on_->io->submit(*this);
}

void resting_receive::abandon::operator()(resting_receive* const one) const noexcept {
    if (one->at_ != stage::in_flight) {
        delete one;
        return;
    }
    one->owner_ = nullptr;
    ++one->on_->abandoned;
}

void resting_receive::ended(operation& self, event const& done) noexcept {
    auto& receive = static_cast<resting_receive&>(self);
    --receive.on_->operations;
    receive.at_ = stage::ended;
    receive.result_ = done.result;
    auto const size = static_cast<std::uint32_t>(std::max(done.result, 0));
    if (has(done.flags, event_flag::pooled))
        receive.got_ = lease(*receive.from_, done.buffer, size);
    else if (size != 0)
        receive.got_ = lease(std::move(receive.own_), size);
    if (receive.owner_ == nullptr) {
        --receive.on_->abandoned;
        delete &receive;
    } else if (auto* const header = std::exchange(receive.header_, nullptr); header == nullptr) {
        receive.owner_->pool_.evict(*receive.owner_);
    } else if (done.result < 0 && header->env->stop.stop_requested() &&
               to_error(done.result) == std::errc::operation_canceled) {
        header->stop_here();
    } else {
        header->complete_here();
    }
}

void resting_receive::asked(waiter& self) noexcept {
    auto& receive = static_cast<resting_receive&>(self);
    receive.on_->io->cancel(receive);
}

std::coroutine_handle<> resting_receive::arrival::start(promise_header& header) noexcept {
    if (header.env->stop.stop_requested()) return header.stop_here();
    if (of.at_ == stage::ended) return transfer(header);
    of.header_ = &header;
    return header.suspend_at(of);
}

io_result<lease> resting_receive::take() noexcept {
    at_ = stage::none;
    own_.reset();
    if (result_ < 0) return std::unexpected(to_error(result_));
    return std::move(got_);
}

bool resting_receive::has_input() const noexcept {
    if (at_ == stage::ended) return true;
    socket_command look{.what = socket_command::look_for_input};
    return !on_->io->control(target, look).has_value() || look.value != 0;
}

bool can_be_repeated(client_request& ask) noexcept {
    return is_whole(ask.body()) && (is_idempotent(ask.method()) || ask.is_repeatable());
}

client_connection::client_connection(executor_ref const on, tcp_stream to, endpoint const at,
                                     connection_pool& of)
    : pool_(of), resting_(new resting_receive(on, to.as_descriptor(), *this)), stream_(std::move(to)),
      at_(at), limits_{of.options.header_bytes_max, of.options.header_bytes_max, of.options.headers_max},
      out_(stream_, of.options.write_timeout), body_(stream_, in_, of.options.body_bytes_max, {}) {}

void client_connection::rest(time_point const now) noexcept {
    in_.release();
    out_.release();
    idle_since_ = now;
    resting_->begin();
}

bool client_connection::is_old(time_point const now) const noexcept {
    auto idle_max = pool_.options.idle_timeout;
    if (head_.keep_alive_s != UINT32_MAX) // a second for what is under way
        idle_max = std::min(idle_max,
                            to_duration(std::chrono::seconds(head_.keep_alive_s) - std::chrono::seconds(1)));
    return saturating_difference(now, idle_since_) > idle_max;
}

bool client_connection::may_repeat(client_request& ask, std::error_code const why) const noexcept {
    if (!is_reused() || has_received_ || why == std::errc::timed_out) return false;
    return can_be_repeated(ask) || (!out_.has_sent() && is_whole(ask.body()));
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
    bool const has_length = is_whole(body) || (stream != nullptr && stream->length.has_value());
    auto const how = has_length ? framed_writer::framing::length : framed_writer::framing::chunked;
    write_head(ask, how);
    if (is_whole(body)) co_return co_await out_.flush_with(body.whole(), {});
    framed_writer writer(out_, how, stream != nullptr ? stream->length.value_or(0) : 0);
    co_await or_return(write_body(body, writer));
    co_return co_await out_.flush();
}

/// What comes when nothing is there.
task<io_result<lease>> client_connection::receive() {
    if (resting_->has_begun()) {
        auto got = co_await resting_->arrived();
        bool const is_left = !got.has_value() && got.error() == std::errc::no_buffer_space;
        if (!is_left) co_return io_result<lease>(std::move(got));
    }
    co_return co_await stream_.receive();
}

task<io_result<void>> client_connection::receive_more() {
    std::size_t came = 0;
    if (in_.unread().empty()) {
        auto got = co_await or_return(receive());
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

task<io_result<void>> client_connection::write_and_wait(client_request& ask) {
    sent_ = co_await write(ask);
    is_written_ = true;
    if (sent_.has_value() || may_be_answered()) co_await sleep(duration::max());
    co_return sent_;
}

task<io_result<void>> client_connection::exchange(client_request& ask) {
    has_received_ = is_kept_ = is_written_ = false;
    io_result<void> got;
    if (is_whole(ask.body()) && ask.body().whole().size() <= at_once_bytes_max) {
        sent_ = co_await write(ask);
        is_written_ = true;
        if (!sent_.has_value() && !may_be_answered()) co_return sent_;
        got = co_await receive_head(ask.method());
    } else {
        // A server that answers early may never read the rest of it (RFC 9112 section 9.5).
        auto const first = co_await when_any(write_and_wait(ask), receive_head(ask.method()));
        if (!std::get<1>(first).has_value()) co_return sent_;
        got = *std::get<1>(first);
    }
    bool const is_sent = is_written_ && sent_.has_value();
    if (!got.has_value()) co_return is_written_ && !is_sent ? sent_ : got;
    if (!body_.begin(head_, nullptr)) co_return failure(std::errc::message_size);
    is_kept_ =
        is_sent && !head_.asks_to_close && !ask.headers().asks_to_close() && head_.framing != body_end::close;
    co_return io_result<void>();
}

std::unique_ptr<client_connection> connection_pool::take(endpoint const& at, executor& on) noexcept {
    std::erase_if(idle_, [now = on.now()](auto const& one) { return one->is_old(now); });
    auto const found =
        std::find_if(idle_.rbegin(), idle_.rend(), [&](auto const& one) { return one->at() == at; });
    if (found == idle_.rend()) return nullptr;
    auto taken = std::move(*found);
    idle_.erase(std::next(found).base());
    return taken;
}

void connection_pool::give_back(std::unique_ptr<client_connection> one, time_point const now) noexcept {
    if (options.idle_max == 0) return;
    if (idle_.size() >= options.idle_max) idle_.erase(idle_.begin());
    one->rest(now);
    idle_.push_back(std::move(one)); // there is room: see the constructor
}

void connection_pool::evict(client_connection const& which) noexcept {
    std::erase_if(idle_, [&which](auto const& one) { return one.get() == &which; });
}

} // namespace pitsaw::inline v0::http
