#pragma once
#include "gateway/metrics.hpp"

#include <pitsaw/base/clock.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace gateway {

/// Where calls are written down, each exactly once: metrics, and a line of JSON.
class ledger {
  public:
    using line_sink = std::function<void(std::string_view)>;
    using wall_clock = std::int64_t (*)() noexcept; ///< seconds since 1970

    ledger(line_sink lines, wall_clock clock) : lines_(std::move(lines)), clock_(clock) {}
    ledger(ledger&&) = delete;

    void began() noexcept { metrics_.began(); }
    void ended(call_facts const& call);
    [[nodiscard]] metrics const& counted() const noexcept { return metrics_; }

  private:
    metrics metrics_;
    line_sink lines_;
    wall_clock clock_;
    std::uint64_t number_ = 0; // of calls written down
};

/// A call from its head to its end, wherever that comes: its destructor writes it down.
///
/// Lifetime: within the ledger's and on its worker. A call that nobody has given another end to has lost its
/// client.
class call_record {
  public:
    call_record(ledger& in, std::string_view route);
    call_record(call_record&& other) noexcept;
    ~call_record();

    call_facts facts;

    [[nodiscard]] pitsaw::time_point began() const noexcept { return began_; }
    void note_first_token();

  private:
    ledger* ledger_; // null: moved from
    pitsaw::time_point began_;
};

} // namespace gateway
