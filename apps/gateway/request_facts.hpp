#pragma once
#include "gateway/json_scalars.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gateway {

/// What the gateway has to know of a request, which goes on as it came.
struct request_facts {
    std::string model;
    bool is_stream = false;
    bool wants_usage = false;     ///< `stream_options.include_usage`
    std::uint64_t tokens_max = 0; ///< `max_completion_tokens` or `max_tokens`; 0: not said
    std::string_view wrong;       ///< what is wrong with the request; empty: nothing
};

/// Finds them in a body that comes in pieces, wherever they stand.
class request_scan {
  public:
    request_scan();
    request_scan(request_scan&&) = delete;

    void feed(std::string_view piece) { (void)scalars_.feed(piece); }
    /// After the last piece.
    [[nodiscard]] request_facts const& finish();

  private:
    void note(std::string_view path, json_scalar const& value);

    request_facts facts_;
    bool has_model_ = false;
    json_scalars scalars_;
};

} // namespace gateway
