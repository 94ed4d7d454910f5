#pragma once
#include <cstdint>
#include <string_view>

namespace pitsaw::inline v0::http {

/// What a request asks for. Source: RFC 9110 section 9, RFC 5789.
///
/// ```cpp
/// if (request.method() == ps::http::method::post) ...
/// ```
enum class method : std::uint8_t { get, head, post, put, delete_, patch, options, connect, trace, other };

/// As it stands in a request; of `other`, "".
[[nodiscard]] std::string_view name(method of) noexcept;

/// The method of that name, in capitals as it must be; `other` of every other token.
[[nodiscard]] method method_of(std::string_view name) noexcept;

/// Whether sending it twice does what sending it once does (RFC 9110 section 9.2.2).
[[nodiscard]] bool is_idempotent(method of) noexcept;

} // namespace pitsaw::inline v0::http
