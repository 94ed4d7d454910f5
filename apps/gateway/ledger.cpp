#include "gateway/ledger.hpp"

#include <pitsaw/executor/environment.hpp>
#include <pitsaw/task/this_task.hpp>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

namespace gateway {
namespace {

std::int64_t in_microseconds(pitsaw::duration value) {
    return std::chrono::duration_cast<std::chrono::microseconds>(value).count();
}

} // namespace

void ledger::know(std::string_view const provider) {
    std::scoped_lock const held(mutex_);
    metrics_.know(provider);
}

void ledger::began() {
    std::scoped_lock const held(mutex_);
    metrics_.began();
}

void ledger::forgotten() {
    std::scoped_lock const held(mutex_);
    metrics_.forgotten();
}

std::uint64_t ledger::open() const {
    std::scoped_lock const held(mutex_);
    return metrics_.open();
}

std::string ledger::metrics_text(std::uint64_t const lines_dropped) const {
    std::scoped_lock const held(mutex_);
    return metrics_.text(lines_dropped + lines_lost_);
}

std::uint64_t ledger::count(call_facts const& call) {
    std::scoped_lock const held(mutex_);
    metrics_.ended(call);
    return ++number_;
}

void ledger::ended(call_facts const& call) {
    ++lines_lost_; // until it is written
    auto const number = count(call);
    boost::json::object line{{"time", clock_()},
                             {"call", number},
                             {"route", call.route},
                             {"provider", call.provider},
                             {"model", call.model},
                             {"status", call.status},
                             {"end", name(call.end)},
                             {"stream", call.is_stream},
                             {"bytes_in", call.bytes_in},
                             {"bytes_out", call.bytes_out},
                             {"us", in_microseconds(call.took)}};
    if (call.first_token_after != pitsaw::duration::zero())
        line["first_token_us"] = in_microseconds(call.first_token_after);
    if (call.usage.is_known) {
        line["prompt_tokens"] = call.usage.prompt;
        line["completion_tokens"] = call.usage.completion;
    }
    lines_(boost::json::serialize(line));
    --lines_lost_;
}

void ledger::refused(std::string_view const route, unsigned const status) {
    call_facts facts;
    facts.route = route;
    facts.status = status;
    facts.end = call_end::refused;
    began();
    ended(facts);
}

call_record::call_record(ledger& in, std::string_view const route, pitsaw::inplace_stop_token const stop)
    : ledger_(in), began_(pitsaw::this_task::now()), on_stop_(stop, note_stop{*this, stop}) {
    facts.route = route;
    in.began();
}

call_record::~call_record() {
    if (is_forgotten_) {
        ledger_.forgotten();
        return;
    }
    if (facts.end == call_end::gateway_failed) facts.status = 500;
    facts.took = pitsaw::current_executor()->now() - began_;
    try {
        ledger_.ended(facts);
    } catch (...) { // no memory: this line is lost, which is counted, and the calls go on
        pitsaw::current_executor()->lost_error(std::current_exception());
    }
}

void call_record::note_stop::operator()() const noexcept {
    auto& end = self.facts.end;
    if (end != call_end::gateway_failed && end != call_end::client_closed) return; // it had ended before
    end = stop.reason() == pitsaw::stop_reason::shutdown ? call_end::shutdown : call_end::client_closed;
}

void call_record::note_first_token() { facts.first_token_after = pitsaw::this_task::now() - began_; }

} // namespace gateway
