#include "gateway/credential.hpp"
#include "gateway/provider.hpp"

#include <pitsaw/http/client.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace gateway {
namespace {

namespace http = pitsaw::http;

/// Fields that are the client's business with the gateway. What an upstream compressed could not be looked
/// at.
bool stays_here(std::string_view name, bool passes_key) noexcept {
    constexpr std::array names{"accept-encoding", "cookie", "x-api-key", "api-key", "x-goog-api-key"};
    if (http::is_same_name(name, "authorization")) return !passes_key;
    return std::ranges::any_of(names, [name](auto one) { return http::is_same_name(name, one); });
}

bool is_event_stream(http::header_view headers) {
    constexpr std::string_view type = "text/event-stream";
    auto const found = headers.find("content-type");
    return found && http::is_same_name(found->substr(0, type.size()), type);
}

class openai_provider final : public provider {
  public:
    explicit openai_provider(provider_config const& how) : provider(how), client_(options(how)) {}

    pitsaw::task<pitsaw::io_result<upstream_answer>> call(upstream_call const& what) override {
        // A name may stand for addresses of which not all are served: `localhost` for ::1 and 127.0.0.1.
        auto sent = co_await client_.send(config.at[serving_], to_request(what));
        for (std::size_t tried = 1; !sent.has_value() && is_nobody_there(sent.error()); ++tried) {
            if (tried == config.at.size()) break;
            serving_ = (serving_ + 1) % config.at.size();
            sent = co_await client_.send(config.at[serving_], to_request(what));
        }
        if (!sent.has_value()) co_return std::unexpected(sent.error());
        auto& reply = *sent;
        upstream_answer made;
        made.status = reply.status();
        made.is_event_stream = is_event_stream(reply.headers());
        std::vector<http::header> returned;
        for (auto const& one : reply.headers())
            if (!is_confidential(one, what.headers)) returned.push_back(one);
        made.headers.add_end_to_end(http::header_view(returned));
        made.body = reply.take_body();
        co_return pitsaw::io_result<upstream_answer>(std::move(made));
    }

  private:
    [[nodiscard]] http::client_request to_request(upstream_call const& what) const {
        http::client_request ask(http::method::post, config.host, config.path + std::string(what.path));
        std::vector<http::header> passed;
        for (auto const& one : what.headers)
            if (!stays_here(one.name, what.passes_key)) passed.push_back(one);
        ask.headers().add_end_to_end(http::header_view(passed));
        if (!config.api_key.empty())
            ask.headers().add("Authorization", "Bearer " + std::string(config.api_key.reveal()));
        ask.body() = what.body.as_body();
        return ask;
    }
    [[nodiscard]] static bool is_nobody_there(std::error_code why) noexcept {
        return why == std::errc::connection_refused || why == std::errc::host_unreachable ||
               why == std::errc::network_unreachable;
    }
    /// Whether a field of an answer is the operator's business with the provider: his cookies, or a key.
    [[nodiscard]] bool is_confidential(http::header const& one, http::header_view asked) const {
        return http::is_same_name(one.name, "set-cookie") || quotes_key(one.value, config.api_key.reveal()) ||
               quotes_key(one.value, credential_of(asked));
    }
    static http::client_options options(provider_config const& how) {
        http::client_options made;
        made.connect_timeout = how.connect_timeout;
        return made;
    }

    http::client client_;
    std::size_t serving_ = 0; // which address answered last
};

} // namespace

std::unique_ptr<provider> make_openai_provider(provider_config const& how) {
    return std::make_unique<openai_provider>(how);
}

} // namespace gateway
