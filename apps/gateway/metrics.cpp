#include "gateway/metrics.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace gateway {
namespace {

double in_seconds(pitsaw::duration value) { return std::chrono::duration<double>(value).count(); }

std::string number(double value) {
    char text[32];
    auto const size = std::snprintf(text, sizeof text, "%.9g", value);
    return {text, static_cast<std::size_t>(size)};
}

void describe(std::string& to, std::string_view metric, std::string_view type, std::string_view what) {
    to.append("# HELP ").append(metric).append(" ").append(what).append("\n");
    to.append("# TYPE ").append(metric).append(" ").append(type).append("\n");
}

/// A label's value: a configuration's names may have any characters.
std::string quoted(std::string_view value) {
    std::string made = "\"";
    for (char const c : value) {
        if (c == '\\' || c == '"') made += '\\';
        if (c == '\n')
            made += "\\n";
        else
            made += c;
    }
    return made + "\"";
}

} // namespace

std::string_view name(call_end const of) noexcept {
    switch (of) {
    case call_end::ok:
        return "ok";
    case call_end::refused:
        return "refused";
    case call_end::client_closed:
        return "client_closed";
    case call_end::timed_out:
        return "timed_out";
    case call_end::upstream_failed:
        return "upstream_failed";
    case call_end::shutdown:
        return "shutdown";
    case call_end::gateway_failed:
        return "gateway_failed";
    }
    return "";
}

void metrics::histogram::add(pitsaw::duration const value) noexcept {
    auto const at = std::lower_bound(seconds.begin(), seconds.end(), in_seconds(value));
    ++counts[static_cast<std::size_t>(at - seconds.begin())];
    sum += in_seconds(value);
}

void metrics::ended(call_facts const& call) {
    --open_;
    // What needs no memory comes first: tokens are money.
    if (auto const used = providers_.find(call.provider); used != providers_.end()) {
        auto& total = used->second;
        total.tokens.prompt += call.usage.prompt;
        total.tokens.completion += call.usage.completion;
        total.took.add(call.took);
        if (call.first_token_after != pitsaw::duration::zero()) total.first_token.add(call.first_token_after);
    }
    auto const label = std::tuple(call.route, call.provider, name(call.end), call.status);
    auto known = calls_.find(label);
    if (known == calls_.end()) {
        auto const& [route, provider, end, status] = label;
        known =
            calls_.try_emplace({std::string(route), std::string(provider), std::string(end), status}).first;
    }
    ++known->second;
}

void metrics::write(std::string& to, std::string_view metric, std::string_view provider,
                    histogram const& of) {
    std::uint64_t count = 0;
    auto const label = "{provider=" + quoted(provider);
    for (std::size_t i = 0; i <= seconds.size(); ++i) {
        count += of.counts[i];
        auto const le = i == seconds.size() ? std::string("+Inf") : number(seconds[i]);
        to.append(metric).append("_bucket").append(label).append(",le=\"").append(le).append("\"} ");
        to.append(std::to_string(count)).append("\n");
    }
    to.append(metric).append("_sum").append(label).append("} ").append(number(of.sum)).append("\n");
    to.append(metric).append("_count").append(label).append("} ").append(std::to_string(count)).append("\n");
}

std::string metrics::text(std::uint64_t const log_lines_dropped) const {
    std::string made;
    describe(made, "gateway_open_calls", "gauge", "Calls that have not ended.");
    made += "gateway_open_calls " + std::to_string(open_) + "\n";
    describe(made, "gateway_calls_total", "counter", "Calls that have ended; status 0: the client got none.");
    for (auto const& [key, count] : calls_) {
        auto const& [route, provider, end, status] = key;
        made += "gateway_calls_total{route=" + quoted(route) + ",provider=" + quoted(provider) +
                ",end=" + quoted(end) + ",status=\"" + std::to_string(status) + "\"} " +
                std::to_string(count) + "\n";
    }
    describe(made, "gateway_tokens_total", "counter", "Tokens, as the providers count them.");
    for (auto const& [provider, total] : providers_) {
        auto const label = "gateway_tokens_total{provider=" + quoted(provider) + ",kind=";
        made += label + "\"prompt\"} " + std::to_string(total.tokens.prompt) + "\n";
        made += label + "\"completion\"} " + std::to_string(total.tokens.completion) + "\n";
    }
    describe(made, "gateway_call_seconds", "histogram", "From a call's head to its end.");
    for (auto const& [provider, total] : providers_)
        write(made, "gateway_call_seconds", provider, total.took);
    describe(made, "gateway_first_token_seconds", "histogram",
             "From a call's head to a stream's first event.");
    for (auto const& [provider, total] : providers_)
        write(made, "gateway_first_token_seconds", provider, total.first_token);
    describe(made, "gateway_log_lines_dropped_total", "counter",
             "Lines of the access log that nobody took in time, or that there was no memory for.");
    made += "gateway_log_lines_dropped_total " + std::to_string(log_lines_dropped) + "\n";
    return made;
}

} // namespace gateway
