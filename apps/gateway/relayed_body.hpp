#pragma once
#include "gateway/ledger.hpp"
#include "gateway/token_usage.hpp"

#include <pitsaw/base/clock.hpp>
#include <pitsaw/http/message.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace gateway {

/// How long an answer may take.
struct answer_limits {
    pitsaw::duration idle;          ///< between two pieces
    pitsaw::time_point first_until; ///< the first event of a stream; comments are none
    pitsaw::time_point until;       ///< all of it

    /// Until when the next piece must have come.
    [[nodiscard]] pitsaw::time_point of_the_next(pitsaw::time_point now,
                                                 bool is_first_event_awaited) const noexcept {
        return is_first_event_awaited ? first_until : std::min(until, pitsaw::saturating_add(now, idle));
    }
};

/// An answer on its way from a provider to a client: the same bytes, a piece at a time, and none before the
/// client has taken the one before. What goes by is looked at for its tokens. Who destroys it before its end
/// stops the provider.
class relayed_body final : public pitsaw::http::body_source {
  public:
    /// `begun`: what has been read of `from` already.
    relayed_body(std::unique_ptr<pitsaw::http::body_source> from, std::string begun, usage_scan::of what,
                 answer_limits limits, std::unique_ptr<call_record> record);
    ~relayed_body() override;

    [[nodiscard]] pitsaw::task<pitsaw::io_result<std::span<std::byte const>>> read() override;

  private:
    [[nodiscard]] std::span<std::byte const> passed(std::span<std::byte const> piece);

    std::unique_ptr<pitsaw::http::body_source> from_;
    std::string begun_;
    bool is_begun_read_ = false;
    usage_scan scan_;
    answer_limits limits_;
    std::unique_ptr<call_record> record_;
};

} // namespace gateway
