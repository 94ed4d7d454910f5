#pragma once
#include <pitsaw/http/headers.hpp>

#include <string_view>

namespace gateway {

/// What stands behind the scheme in `Authorization: Bearer KEY`; empty: nothing.
[[nodiscard]] std::string_view credential_of(pitsaw::http::header_view headers);

/// Whether a text has the key in it. What is too short for a key is none.
[[nodiscard]] bool quotes_key(std::string_view text, std::string_view key) noexcept;

} // namespace gateway
