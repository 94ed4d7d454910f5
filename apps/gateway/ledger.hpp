#pragma once
#include "gateway/metrics.hpp"

#include <pitsaw/base/clock.hpp>
#include <pitsaw/stop/inplace_stop_token.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace gateway {

/// Where calls are written down, each exactly once: metrics, and a line of JSON with a number of its own.
/// Lines of several workers may come in another order than their numbers.
///
/// Threads: any, and so has the sink to be. Errors: std::bad_alloc; what was counted before stays so.
class ledger {
  public:
    using line_sink = std::function<void(std::string_view)>;
    using wall_clock = std::int64_t (*)() noexcept; ///< seconds since 1970

    ledger(line_sink lines, wall_clock clock) : lines_(std::move(lines)), clock_(clock) {}
    ledger(ledger&&) = delete;

    void know(std::string_view provider);
    void began();
    void ended(call_facts const& call);
    /// A request that did not become a call.
    void refused(std::string_view route, unsigned status);
    void forgotten();
    /// Calls that have not ended.
    [[nodiscard]] std::uint64_t open() const;
    /// `lines_dropped`: by the sink, besides those that there was no memory for here.
    [[nodiscard]] std::string metrics_text(std::uint64_t lines_dropped) const;

  private:
    /// Counts it; returns its number.
    [[nodiscard]] std::uint64_t count(call_facts const& call);

    line_sink const lines_;
    wall_clock const clock_;
    std::atomic<std::uint64_t> lines_lost_ = 0;
    mutable std::mutex mutex_; ///< of the rest; held for some map's lookups
    metrics metrics_;
    std::uint64_t number_ = 0; ///< of calls written down
};

/// A call from its head to its end, wherever that comes: its destructor writes it down.
///
/// Lifetime: within the ledger's and on its worker. Stopping: a call that is stopped before its end has
/// lost its client, or the gateway ends: the reason tells which.
class call_record {
  public:
    /// `stop`: what stops the call.
    call_record(ledger& in, std::string_view route, pitsaw::inplace_stop_token stop);
    call_record(call_record&&) = delete;
    ~call_record();

    call_facts facts;

    [[nodiscard]] pitsaw::time_point began() const noexcept { return began_; }
    void note_first_token();
    /// It is not written down: it turns out to be none.
    void forget() noexcept { is_forgotten_ = true; }

  private:
    struct note_stop {
        call_record& self;
        pitsaw::inplace_stop_token stop;
        void operator()() const noexcept;
    };

    ledger& ledger_;
    pitsaw::time_point began_;
    bool is_forgotten_ = false;
    pitsaw::inplace_stop_callback<note_stop> on_stop_;
};

} // namespace gateway
