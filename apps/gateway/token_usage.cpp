#include "gateway/token_usage.hpp"

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
    while (auto const event = events_.next(piece)) look_at(*event);
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
