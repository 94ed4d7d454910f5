#pragma once
#include <pitsaw/http/message.hpp>

#include <string>
#include <string_view>

namespace gateway {

/// An error as OpenAI's clients understand it.
struct api_error {
    unsigned status;
    std::string_view type; ///< `invalid_request_error`, `server_error`
    std::string_view code; ///< empty: null
    std::string message;
};

[[nodiscard]] pitsaw::http::response to_response(api_error const& error);

} // namespace gateway
