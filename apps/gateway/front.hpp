#pragma once
#include "gateway/ledger.hpp"
#include "gateway/provider.hpp"
#include "gateway/shared_state.hpp"

#include <pitsaw/http/message.hpp>
#include <pitsaw/http/server.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/net/tcp_listener.hpp>
#include <pitsaw/task/task.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway {

/// What one worker has of the gateway: its clients, and connections of its own to the providers.
///
/// Lifetime: outlives `serve`, within the shared state's. Threads: its worker's. Errors, stopping: as
/// `gateway_service`.
class front {
  public:
    explicit front(shared_state& of);
    front(front&&) = delete;

    /// `connections_max`: of this worker; 0: as the server has it.
    [[nodiscard]] pitsaw::task<pitsaw::io_result<void>> serve(pitsaw::tcp_listener listener,
                                                              std::uint32_t connections_max);

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

    shared_state& shared_;
    std::vector<std::unique_ptr<provider>> providers_;
};

} // namespace gateway
