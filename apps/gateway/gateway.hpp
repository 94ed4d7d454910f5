#pragma once
#include "gateway/config.hpp"
#include "gateway/shared_state.hpp"

#include <pitsaw/io/result.hpp>
#include <pitsaw/net/tcp_listener.hpp>
#include <pitsaw/task/task.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace gateway {

/// An OpenAI-compatible gateway: takes calls, finds who answers for their model, and passes both ways what
/// they say, byte by byte.
///
/// It serves on every worker of the runtime that `serve` runs on: each has a listener of its own at the same
/// place, and connections of its own to the providers; calls are counted and written down together, and the
/// connections that there may be are shared out evenly.
///
/// Lifetime: outlives `serve`. Threads: `serve` once; the rest any. Errors: the listeners'; whatever goes
/// wrong with a call is told to its client in OpenAI's form. Stopping: the listeners close and open calls
/// have `drain_timeout`; a client that leaves stops its call at the provider.
class gateway_service {
  public:
    gateway_service(config how, surroundings with) : shared_(std::move(how), std::move(with)) {}
    gateway_service(gateway_service&&) = delete;

    /// With more than one worker the listener has been bound with `reuse_port`.
    [[nodiscard]] pitsaw::task<pitsaw::io_result<void>> serve(pitsaw::tcp_listener listener);

    /// Calls that have not ended.
    [[nodiscard]] std::uint64_t open_calls() const { return shared_.calls.open(); }
    [[nodiscard]] std::string metrics_text() const { return shared_.metrics_text(); }

  private:
    shared_state shared_;
};

} // namespace gateway
