#include "gateway/token_usage.hpp"

#include <utility>

namespace gateway {
namespace {

json_scalars scalars_into(token_usage& into) {
    return json_scalars([&into](std::string_view path, json_scalar const& value) {
        if (value.what != json_scalar::kind::number) return;
        constexpr std::string_view inside = "x_groq.";
        if (path.starts_with(inside)) path.remove_prefix(inside.size());
        if (path == "usage.prompt_tokens")
            into.prompt = value.number;
        else if (path == "usage.completion_tokens")
            into.completion = value.number;
        else
            return;
        into.is_known = true;
    });
}

} // namespace

usage_scan::usage_scan(of const what) : what_(what), document_(scalars_into(found_)) {}

void usage_scan::feed(std::string_view piece) {
    if (what_ == of::document) {
        (void)document_.feed(piece);
        return;
    }
    while (!piece.empty()) {
        if (is_skipping_ && !skip_event(piece)) return;
        auto const from = piece;
        while (auto const event = events_.next(piece)) look_at(*event);
        if (!events_.is_too_long()) return;
        has_event_ = is_skipping_ = true;
        is_at_line_begin_ = false;
        piece = from;
    }
}

/// Drops what comes before an empty line, from where the events are looked at again.
bool usage_scan::skip_event(std::string_view& piece) {
    for (std::size_t i = 0; i < piece.size(); ++i) {
        char const before = std::exchange(last_, piece[i]);
        if (piece[i] == '\n' && before == '\r') continue; // one end of a line
        bool const is_end = piece[i] == '\n' || piece[i] == '\r';
        if (is_end && is_at_line_begin_) {
            piece.remove_prefix(i + 1);
            is_skipping_ = false;
            events_ = pitsaw::http::event_parser(event_bytes_max);
            return true;
        }
        is_at_line_begin_ = is_end;
    }
    return false;
}

void usage_scan::look_at(pitsaw::http::server_event const& event) {
    has_event_ = true;
    if (event.data.find("\"usage\"") == std::string::npos) return; // as almost all
    token_usage found;
    auto scalars = scalars_into(found);
    (void)scalars.feed(event.data);
    if (found.is_known) found_ = found;
}

token_usage const& usage_scan::finish() {
    if (what_ == of::events)
        if (auto const event = events_.finish()) look_at(*event);
    return found_;
}

} // namespace gateway
