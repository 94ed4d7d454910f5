#pragma once
#include "gateway/config.hpp"
#include "gateway/ledger.hpp"
#include "gateway/provider.hpp"

#include <pitsaw/http/message.hpp>
#include <pitsaw/http/server.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/net/tcp_listener.hpp>
#include <pitsaw/task/task.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway {

/// What the gateway has from its surroundings, which a simulated world gives otherwise.
struct surroundings {
    ledger::line_sink log = [](std::string_view) {};
    ledger::wall_clock clock = pitsaw::http::system_time;
    std::function<std::uint64_t()> log_lines_dropped = [] { return std::uint64_t{0}; };
};

/// An OpenAI-compatible gateway: takes calls, finds who answers for their model, and passes both ways what
/// they say, byte by byte.
///
/// Lifetime: outlives `serve`. Threads: one worker's. Errors: the listener's; whatever goes wrong with a call
/// is told to its client in OpenAI's form. Stopping: the listener closes and open calls have `drain_timeout`;
/// a client that leaves stops its call at the provider.
class gateway_service {
  public:
    gateway_service(config how, surroundings with);
    gateway_service(gateway_service&&) = delete;

    [[nodiscard]] pitsaw::task<pitsaw::io_result<void>> serve(pitsaw::tcp_listener listener);

    /// Calls that have not ended.
    [[nodiscard]] std::uint64_t open_calls() const noexcept { return ledger_.counted().open(); }
    [[nodiscard]] std::string metrics_text() const;

  private:
    [[nodiscard]] pitsaw::task<pitsaw::http::response> relay(pitsaw::http::request& request,
                                                             std::string_view route);
    [[nodiscard]] pitsaw::task<pitsaw::http::response> pass_on(pitsaw::http::request const& request,
                                                               upstream_call what, provider& to,
                                                               std::unique_ptr<call_record> record);
    [[nodiscard]] pitsaw::http::response refused(pitsaw::http::refusal const& what);
    [[nodiscard]] bool is_known(pitsaw::http::request const& request) const;
    [[nodiscard]] provider* find(std::string_view model) const noexcept;
    [[nodiscard]] std::string models() const;

    config const config_;
    surroundings with_;
    ledger ledger_;
    spool spool_;
    std::vector<std::unique_ptr<provider>> providers_;
};

} // namespace gateway
