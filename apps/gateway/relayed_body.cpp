#include "gateway/relayed_body.hpp"

#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/this_task.hpp>

#include <string_view>
#include <system_error>
#include <utility>

namespace gateway {

relayed_body::relayed_body(std::unique_ptr<pitsaw::http::body_source> from, std::string begun,
                           usage_scan::of const what, answer_limits const limits,
                           std::unique_ptr<call_record> record)
    : from_(std::move(from)), begun_(std::move(begun)), scan_(what), limits_(limits),
      record_(std::move(record)) {
    record_->facts.end = call_end::client_closed; // who reads it no further has lost the client
}

relayed_body::~relayed_body() { record_->facts.usage = scan_.found(); }

std::span<std::byte const> relayed_body::passed(std::span<std::byte const> const piece) {
    bool const was_awaited = scan_.awaits_first_event();
    scan_.feed({reinterpret_cast<char const*>(piece.data()), piece.size()});
    if (was_awaited && !scan_.awaits_first_event()) record_->note_first_token();
    record_->facts.bytes_out += piece.size();
    return piece;
}

pitsaw::task<pitsaw::io_result<std::span<std::byte const>>> relayed_body::read() {
    using result = pitsaw::io_result<std::span<std::byte const>>;
    if (!std::exchange(is_begun_read_, true) && !begun_.empty())
        co_return result(passed(std::as_bytes(std::span(begun_))));
    auto const until = limits_.of_the_next(pitsaw::this_task::now(), scan_.awaits_first_event());
    auto const piece = co_await pitsaw::with_deadline(until, from_->read());
    if (!piece.has_value()) {
        // The client's message is cut off as well, so that nobody takes it for whole.
        bool const is_late = piece.error() == std::errc::timed_out;
        record_->facts.end = is_late ? call_end::timed_out : call_end::upstream_failed;
        co_return std::unexpected(piece.error());
    }
    if (piece->empty()) {
        scan_.finish();
        record_->facts.end = call_end::ok;
    }
    co_return result(passed(*piece));
}

} // namespace gateway
