#include "gateway/provider.hpp"

#include <pitsaw/http/client.hpp>
#include <pitsaw/task/or_return.hpp>

#include <algorithm>
#include <array>
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
        http::client_request ask(http::method::post, config.host, config.path + std::string(what.path));
        std::vector<http::header> passed;
        for (auto const& one : what.headers)
            if (!stays_here(one.name, what.passes_key)) passed.push_back(one);
        ask.headers().add_end_to_end(http::header_view(passed));
        if (!config.api_key.empty())
            ask.headers().add("Authorization", "Bearer " + std::string(config.api_key.reveal()));
        ask.body() = what.body.as_body();

        auto reply = co_await pitsaw::or_return(client_.send(config.at, std::move(ask)));
        upstream_answer made;
        made.status = reply.status();
        made.is_event_stream = is_event_stream(reply.headers());
        std::vector<http::header> returned;
        for (auto const& one : reply.headers())
            if (!names_a_key(one.value, what.headers)) returned.push_back(one);
        made.headers.add_end_to_end(http::header_view(returned));
        made.body = reply.take_body();
        co_return pitsaw::io_result<upstream_answer>(std::move(made));
    }

  private:
    /// Whether a field of an answer quotes what was sent as a key: ours, or the client's.
    [[nodiscard]] bool names_a_key(std::string_view value, http::header_view asked) const {
        auto const has = [value](std::string_view key) {
            return !key.empty() && value.find(key) != value.npos;
        };
        auto const clients = asked.find("authorization").value_or("");
        return has(config.api_key.reveal()) || has(clients.substr(clients.rfind(' ') + 1));
    }
    static http::client_options options(provider_config const& how) {
        http::client_options made;
        made.connect_timeout = how.connect_timeout;
        return made;
    }

    http::client client_;
};

} // namespace

std::unique_ptr<provider> make_openai_provider(provider_config const& how) {
    return std::make_unique<openai_provider>(how);
}

} // namespace gateway
