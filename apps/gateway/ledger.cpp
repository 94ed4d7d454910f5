#include "gateway/ledger.hpp"

#include <pitsaw/executor/environment.hpp>
#include <pitsaw/task/this_task.hpp>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <utility>

namespace gateway {
namespace {

double in_milliseconds(pitsaw::duration value) {
    return std::chrono::duration<double, std::milli>(value).count();
}

} // namespace

void ledger::ended(call_facts const& call) {
    metrics_.ended(call);
    boost::json::object line{{"time", clock_()},
                             {"call", ++number_},
                             {"route", call.route},
                             {"provider", call.provider},
                             {"model", call.model},
                             {"status", call.status},
                             {"end", name(call.end)},
                             {"stream", call.is_stream},
                             {"bytes_in", call.bytes_in},
                             {"bytes_out", call.bytes_out},
                             {"ms", in_milliseconds(call.took)}};
    if (call.first_token_after != pitsaw::duration::zero())
        line["first_token_ms"] = in_milliseconds(call.first_token_after);
    if (call.usage.is_known) {
        line["prompt_tokens"] = call.usage.prompt;
        line["completion_tokens"] = call.usage.completion;
    }
    lines_(boost::json::serialize(line));
}

call_record::call_record(ledger& in, std::string_view const route)
    : ledger_(&in), began_(pitsaw::this_task::now()) {
    facts.route = route;
    in.began();
}

call_record::call_record(call_record&& other) noexcept
    : facts(std::move(other.facts)), ledger_(std::exchange(other.ledger_, nullptr)), began_(other.began_) {}

call_record::~call_record() {
    if (ledger_ == nullptr) return;
    facts.took = pitsaw::current_executor()->now() - began_;
    ledger_->ended(facts);
}

void call_record::note_first_token() { facts.first_token_after = pitsaw::this_task::now() - began_; }

} // namespace gateway
