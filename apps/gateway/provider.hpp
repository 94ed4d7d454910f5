#pragma once
#include "gateway/config.hpp"
#include "gateway/request_facts.hpp"
#include "gateway/spooled_body.hpp"

#include <pitsaw/http/headers.hpp>
#include <pitsaw/http/message.hpp>
#include <pitsaw/io/result.hpp>
#include <pitsaw/task/task.hpp>

#include <memory>
#include <string_view>

namespace gateway {

/// A client's call, on its way to a provider.
struct upstream_call {
    std::string_view path; ///< `/chat/completions`
    pitsaw::http::header_view headers;
    spooled_body const& body;
    request_facts const& facts;
    bool passes_key; ///< the client's own, where neither gateway nor provider have one
};

/// What a provider answers; its body comes as it is read.
struct upstream_answer {
    unsigned status = 502;
    bool is_event_stream = false;
    pitsaw::http::headers headers;
    std::unique_ptr<pitsaw::http::body_source> body;
};

/// Somebody who answers for models.
///
/// Lifetime: outlives its answers. Threads: one worker's. Errors: of the connection. Stopping: a call that is
/// stopped, and an answer that is destroyed before its end, end the work at the provider.
class provider {
  public:
    explicit provider(provider_config const& how) : config(how) {}
    provider(provider&&) = delete;
    virtual ~provider() = default;

    [[nodiscard]] virtual pitsaw::task<pitsaw::io_result<upstream_answer>>
    call(upstream_call const& what) = 0;

    provider_config const config;
};

[[nodiscard]] std::unique_ptr<provider> make_openai_provider(provider_config const& how);
[[nodiscard]] std::unique_ptr<provider> make_mock_provider(provider_config const& how);

} // namespace gateway
