#include "gateway/front.hpp"

#include "gateway/api_error.hpp"
#include "gateway/credential.hpp"
#include "gateway/relayed_body.hpp"

#include <pitsaw/http/router.hpp>
#include <pitsaw/scope/with_deadline.hpp>
#include <pitsaw/task/this_task.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>
#include <utility>

namespace gateway {
namespace {

namespace http = pitsaw::http;
using namespace std::string_view_literals;

constexpr std::array call_routes{"/v1/chat/completions"sv, "/v1/completions"sv, "/v1/embeddings"sv};
constexpr std::size_t held_bytes_max = 256 << 10; // of an answer that is sent only when all of it is there

std::string_view text_of(std::span<std::byte const> piece) noexcept {
    return {reinterpret_cast<char const*>(piece.data()), piece.size()};
}

http::response refuse(call_record& record, api_error const& why, call_end end = call_end::refused) {
    record.facts.end = end;
    record.facts.status = why.status;
    return to_response(why);
}

http::response failed(call_record& record, std::error_code why) {
    if (why == std::errc::timed_out)
        return refuse(record, {504, "server_error", "upstream_timeout", "the model's provider took too long"},
                      call_end::timed_out);
    return refuse(
        record,
        {502, "server_error", "upstream_error", "the model's provider could not be reached, or broke off"},
        call_end::upstream_failed);
}

/// The beginning of an answer: all of it, if it is short.
struct beginning {
    std::string text;
    bool is_all = false;
};

/// Waits for the first piece, or for as much as is held.
pitsaw::task<pitsaw::io_result<beginning>> begin(http::body_source& from, bool is_one_enough,
                                                 answer_limits const limits) {
    beginning made;
    while (made.text.size() <= held_bytes_max) {
        auto const until = limits.of_the_next(pitsaw::this_task::now(), made.text.empty());
        auto const piece = co_await pitsaw::with_deadline(until, from.read());
        if (!piece.has_value()) co_return std::unexpected(piece.error());
        made.is_all = piece->empty();
        made.text.append(text_of(*piece));
        if (made.is_all || is_one_enough) break;
    }
    co_return pitsaw::io_result<beginning>(std::move(made));
}

/// An error may quote the key that it refuses.
void hide(std::string& in, std::string_view const key) {
    if (!quotes_key(in, key)) return;
    std::string made;
    std::string_view left = in;
    for (std::size_t at = 0; (at = left.find(key)) != std::string_view::npos;) {
        made.append(left.substr(0, at)).append("***");
        left.remove_prefix(at + key.size());
    }
    in = made.append(left);
}

} // namespace

front::front(shared_state& of) : shared_(of) {
    for (auto const& one : shared_.how.providers)
        providers_.push_back(one.what == provider_config::kind::mock ? make_mock_provider(one)
                                                                     : make_openai_provider(one));
}

bool front::is_known(http::request const& request) const {
    if (shared_.how.keys.empty()) return true;
    auto const key = credential_of(request.headers());
    bool is_one = false; // all are compared, so that the time does not tell which
    for (auto const& each : shared_.how.keys) is_one |= each.is(key);
    return is_one;
}

provider* front::find(std::string_view const model) const noexcept {
    auto const found =
        std::ranges::find_if(providers_, [model](auto const& one) { return one->config.serves(model); });
    return found == providers_.end() ? nullptr : found->get();
}

std::string front::models() const {
    boost::json::array data;
    for (auto const& one : providers_)
        for (auto const& model : one->config.models)
            if (!model.ends_with('*'))
                data.push_back(boost::json::object{
                    {"id", model}, {"object", "model"}, {"created", 0}, {"owned_by", one->config.name}});
    return boost::json::serialize(boost::json::object{{"object", "list"}, {"data", std::move(data)}});
}

pitsaw::task<http::response> front::relay(http::request& request, std::string_view const route) {
    auto const stop = (co_await pitsaw::this_task::get_environment()).stop;
    auto kept_record = std::make_unique<call_record>(shared_.calls, route, stop);
    auto& record = *kept_record;
    if (!is_known(request))
        co_return refuse(record, {401, "invalid_request_error", "invalid_api_key",
                                  "the key is missing or is not one of this gateway"});
    spooled_body body(shared_.how.body_memory_bytes, shared_.bodies);
    request_scan scan;
    for (;;) {
        auto const piece = co_await request.body().read();
        if (!piece.has_value()) { // the server says why
            bool const is_refused = piece.error() == std::errc::message_size ||
                                    piece.error() == std::errc::timed_out ||
                                    piece.error() == std::errc::bad_message;
            if (is_refused) record.forget();
            record.facts.end = call_end::client_closed;
            throw std::system_error(piece.error());
        }
        if (piece->empty()) break;
        scan.feed(text_of(*piece));
        if (auto const kept = co_await body.append(*piece); !kept)
            co_return refuse(record, {503, "server_error", "no_space",
                                      "the request is too long for this gateway just now"});
        record.facts.bytes_in += piece->size();
    }
    auto const& facts = scan.finish();
    record.facts.is_stream = facts.is_stream;
    if (!facts.wrong.empty())
        co_return refuse(record, {400, "invalid_request_error", "", std::string(facts.wrong)});
    auto* const to = find(facts.model);
    if (to == nullptr)
        co_return refuse(
            record, {404, "invalid_request_error", "model_not_found", "nobody here answers for this model"});
    record.facts.model = facts.model; // what nobody answers for may be anything, a key too
    record.facts.provider = to->config.name;
    bool const passes_key = shared_.how.keys.empty() && to->config.api_key.empty();
    upstream_call const call{route.substr("/v1"sv.size()), request.headers(), body, facts, passes_key};
    co_return co_await pass_on(request, call, *to, std::move(kept_record));
}

pitsaw::task<http::response> front::pass_on(http::request const& request, upstream_call const what,
                                            provider& to, std::unique_ptr<call_record> kept_record) {
    auto& record = *kept_record;
    auto const& how = to.config;
    auto const now = pitsaw::this_task::now(); // the provider's time begins when its request is there
    auto const until = pitsaw::saturating_add(now, how.total_timeout);
    auto const first_until =
        what.facts.is_stream ? std::min(until, pitsaw::saturating_add(now, how.first_token_timeout)) : until;
    auto answer = co_await pitsaw::with_deadline(first_until, to.call(what));
    if (!answer.has_value()) co_return failed(record, answer.error());
    if (answer->status > 599) co_return failed(record, std::make_error_code(std::errc::bad_message));
    bool const is_stream =
        answer->is_event_stream && answer->status < 400; // an error is looked at as a whole
    answer_limits const limits{how.idle_timeout, first_until, until};
    auto begun = co_await begin(*answer->body, is_stream, limits);
    if (!begun.has_value()) co_return failed(record, begun.error());
    if (answer->status >= 400) {
        if (!begun->is_all) co_return failed(record, std::make_error_code(std::errc::message_size));
        hide(begun->text, how.api_key.reveal());
        hide(begun->text, credential_of(request.headers()));
    }
    record.facts.status = answer->status;
    http::response reply(answer->status);
    reply.headers() = std::move(answer->headers);
    if (begun->is_all) {
        usage_scan scan(is_stream ? usage_scan::of::events : usage_scan::of::document);
        scan.feed(begun->text);
        record.facts.usage = scan.finish();
        record.facts.bytes_out = begun->text.size();
        record.facts.end = call_end::ok;
        reply.body() = http::body(std::move(begun->text));
        co_return reply;
    }
    if (is_stream) {
        if (!reply.headers().find("cache-control")) reply.headers().add("Cache-Control", "no-cache");
        if (!reply.headers().find("x-accel-buffering")) reply.headers().add("X-Accel-Buffering", "no");
    }
    reply.body() = http::body(std::make_unique<relayed_body>(
        std::move(answer->body), std::move(begun->text),
        is_stream ? usage_scan::of::events : usage_scan::of::document, limits, std::move(kept_record)));
    co_return reply;
}

http::response front::refused(http::refusal const& what) {
    auto const status = what.status();
    auto const path = what.target().substr(0, what.target().find('?'));
    auto const route = std::ranges::find(call_routes, path);
    bool const is_calls = status == 500 && route != call_routes.end(); // it has written itself down
    if (!is_calls) shared_.calls.refused(route == call_routes.end() ? ""sv : *route, status);
    auto const type = status < 500 ? "invalid_request_error"sv : "server_error"sv;
    if (status == 404) return to_response({status, type, "unknown_url", "there is nothing at this path"});
    if (status == 405)
        return to_response({status, type, "method_not_allowed", "another method is wanted here"});
    if (status == 413)
        return to_response(
            {status, type, "request_too_large",
             "the body has more than " + std::to_string(shared_.how.body_bytes_max) + " bytes"});
    return to_response({status, type, "", std::string(http::reason_of(status))});
}

pitsaw::task<pitsaw::io_result<void>> front::serve(pitsaw::tcp_listener listener,
                                                   std::uint32_t const connections_max) {
    http::router routes;
    for (auto const route : call_routes)
        routes.post(route, [this, route](http::request& request) { return relay(request, route); });
    routes.get("/v1/models", [this](http::request& request) -> pitsaw::task<http::response> {
        if (!is_known(request)) {
            shared_.calls.refused("/v1/models", 401);
            co_return to_response({401, "invalid_request_error", "invalid_api_key",
                                   "the key is missing or is not one of this gateway"});
        }
        co_return http::response(200, "application/json", models());
    });
    routes.get("/healthz", [](http::request&) -> pitsaw::task<http::response> {
        co_return http::response(200, "text/plain", "ok\n");
    });
    routes.get("/metrics", [this](http::request&) -> pitsaw::task<http::response> {
        co_return http::response(200, "text/plain; version=0.0.4", shared_.metrics_text());
    });
    routes.refused([this](http::refusal const& what) { return refused(what); });
    http::server_options how;
    if (connections_max != 0) how.connections_max = connections_max;
    how.body_bytes_max = shared_.how.body_bytes_max;
    how.drain_timeout = shared_.how.drain_timeout;
    how.gone = http::client_gone::when_finished; // an upstream costs money
    co_return co_await http::serve(std::move(listener), routes, how);
}

} // namespace gateway
