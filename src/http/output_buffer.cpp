#include "http/output_buffer.hpp"

#include <pitsaw/io/buffer.hpp>
#include <pitsaw/io/write.hpp>
#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/or_return.hpp>

#include <array>
#include <charconv>
#include <system_error>

namespace pitsaw::inline v0::http {

/// Counts what a send took.
io_result<void> output_buffer::note(io_result<std::size_t> const& went, std::size_t& sent) noexcept {
    if (went.has_value() && *went != 0) {
        sent += *went;
        has_sent_ = true;
        return {};
    }
    auto const why = went.has_value() ? std::make_error_code(std::errc::broken_pipe) : went.error();
    is_broken_ = why != std::errc::timed_out;
    return std::unexpected(why);
}

task<io_result<void>> output_buffer::flush() {
    std::size_t sent = 0;
    while (sent < text_.size()) {
        auto const rest = std::as_bytes(std::span(text_)).subspan(sent);
        auto const went = co_await with_timeout(write_timeout_, stream_.send(rest));
        co_await or_return(note(went, sent));
    }
    text_.clear();
    co_return io_result<void>();
}

task<io_result<void>> output_buffer::flush_with(std::string_view const data, std::string_view const tail) {
    source_span const all[] = {
        {text_.data(), text_.size()}, {data.data(), data.size()}, {tail.data(), tail.size()}};
    auto const total = text_.size() + data.size() + tail.size();
    std::size_t sent = 0;
    std::array<source_span, 3> window{};
    while (sent < total) {
        auto const left = pieces_after(all, sent, window);
        auto const went = co_await with_timeout(write_timeout_, stream_.send_pieces(left));
        co_await or_return(note(went, sent));
    }
    text_.clear();
    co_return io_result<void>();
}

task<io_result<void>> framed_writer::write(std::span<std::byte const> const piece) {
    std::string_view const data(reinterpret_cast<char const*>(piece.data()), piece.size());
    if (data.empty()) co_return co_await to_.flush(); // an empty chunk would end the body
    if (how_ == framing::length) {
        if (data.size() > left_) co_return std::unexpected(std::make_error_code(std::errc::message_size));
        left_ -= data.size();
    }
    if (how_ != framing::chunked) co_return co_await to_.flush_with(data, {});
    char digits[16];
    auto const end = std::to_chars(digits, digits + sizeof digits, data.size(), 16).ptr;
    to_.text().append(digits, end).append("\r\n");
    co_return co_await to_.flush_with(data, "\r\n");
}

io_result<void> framed_writer::finish() {
    if (how_ == framing::chunked) to_.text().append("0\r\n\r\n");
    if (how_ == framing::length && left_ != 0)
        return std::unexpected(std::make_error_code(std::errc::message_size));
    return {};
}

task<io_result<void>> write_body(body& from, framed_writer& to) {
    if (auto* const write = from.as_writer()) {
        co_await or_return((*write)(to));
        co_return to.finish();
    }
    auto* const stream = from.as_stream();
    for (;;) {
        auto const piece = co_await or_return(stream->source->read());
        if (piece.empty()) break;
        co_await or_return(to.write(piece));
    }
    co_return to.finish();
}

} // namespace pitsaw::inline v0::http
