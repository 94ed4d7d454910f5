#include "http/received_body.hpp"

#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/or_return.hpp>
#include <pitsaw/task/this_task.hpp>

#include <algorithm>
#include <utility>

namespace pitsaw::inline v0::http {

bool received_body::begin(message_head const& head, output_buffer* const continue_through) noexcept {
    framing_ = head.framing;
    left_ = head.framing == body_end::length ? head.length : 0;
    came_ = 0;
    waited_ = duration::zero();
    decoder_ = chunked_decoder();
    refusal_ = 0;
    is_broken_ = false;
    continue_through_ = framing_ == body_end::none ? nullptr : continue_through;
    return left_ <= bytes_max_;
}

received_body::step received_body::next(std::string_view& piece) noexcept {
    auto input = in_.unread();
    auto const before = input.size();
    switch (framing_) {
    case body_end::none:
        return step::done;
    case body_end::length:
        if (left_ == 0) {
            framing_ = body_end::none;
            return step::done;
        }
        [[fallthrough]];
    case body_end::close:
        if (input.empty()) return step::need_more;
        piece = framing_ == body_end::close
                    ? input
                    : input.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, before)));
        in_.consume(piece.size());
        if (framing_ == body_end::length && (left_ -= piece.size()) == 0) framing_ = body_end::none;
        came_ += piece.size();
        return came_ > bytes_max_ ? refuse(413) : step::data;
    case body_end::chunked:
        break;
    }
    auto const found = decoder_.next(input, piece);
    in_.consume(before - input.size());
    if (found == chunked_decoder::step::bad) return refuse(400);
    // A chunk that is announced as too long is not waited for.
    if (came_ + decoder_.left() > bytes_max_) return refuse(413);
    if (found == chunked_decoder::step::done) {
        framing_ = body_end::none;
        return step::done;
    }
    if (found == chunked_decoder::step::need_more) return step::need_more;
    came_ += piece.size();
    return came_ > bytes_max_ ? refuse(413) : step::data;
}

void received_body::skip_buffered() noexcept {
    std::string_view piece;
    while (refusal_ == 0 && next(piece) == step::data) {
    }
}

duration received_body::allowed() const noexcept {
    if (pace_.grace == duration::max()) return pace_.grace;
    auto const earned =
        pace_.rate_min == 0 ? 0 : static_cast<std::int64_t>(came_ / pace_.rate_min * 1'000'000'000);
    return pace_.grace + duration(earned) - waited_;
}

std::error_code received_body::why() const noexcept {
    if (refusal_ == 413) return std::make_error_code(std::errc::message_size);
    return std::make_error_code(refusal_ == 408 ? std::errc::timed_out : std::errc::bad_message);
}

/// Waits for more. False: the body ends with the stream.
task<io_result<bool>> received_body::receive() {
    if (auto* const out = std::exchange(continue_through_, nullptr)) {
        out->text().append("HTTP/1.1 100 Continue\r\n\r\n");
        co_await or_return(out->flush());
    }
    auto const before = this_task::now();
    auto got = co_await with_timeout(allowed(), stream_.receive());
    waited_ += this_task::now() - before;
    if (!got.has_value()) {
        if (got.error() == std::errc::timed_out && pace_.grace != duration::max())
            refusal_ = 408;
        else
            is_broken_ = true;
        co_return std::unexpected(got.error());
    }
    if (got->empty()) {
        if (framing_ == body_end::close) {
            framing_ = body_end::none;
            co_return io_result<bool>(false);
        }
        is_broken_ = true;
        co_return std::unexpected(std::make_error_code(std::errc::connection_aborted));
    }
    in_.take_body(std::move(*got));
    co_return io_result<bool>(true);
}

task<io_result<std::span<std::byte const>>> received_body::read() {
    using result = io_result<std::span<std::byte const>>;
    for (;;) {
        if (refusal_ != 0) co_return std::unexpected(why());
        if (is_broken_) co_return std::unexpected(std::make_error_code(std::errc::connection_aborted));
        std::string_view piece;
        auto const found = next(piece);
        if (found == step::failed) continue;
        if (found == step::done) co_return result();
        if (found == step::data) {
            continue_through_ = nullptr; // the client did not wait
            co_return result(std::as_bytes(std::span(piece)));
        }
        bool const is_more = co_await or_return(receive());
        if (!is_more) co_return result();
    }
}

} // namespace pitsaw::inline v0::http
