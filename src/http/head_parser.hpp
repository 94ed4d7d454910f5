#pragma once
#include <pitsaw/http/headers.hpp>
#include <pitsaw/http/method.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pitsaw::inline v0::http {

/// What a head may be at most.
struct head_limits {
    std::size_t bytes = 16384; // of all of it
    std::size_t target_bytes = 8192;
    std::size_t headers = 100;
};

/// Looks for the end of a head in text that grows, without looking at a byte twice.
class head_search {
  public:
    /// `text` begins with the same bytes as before. The length of the head once it is there, 0 before that,
    /// or -status of what refuses it: a line that does not end with CRLF, too long a line or head.
    [[nodiscard]] std::ptrdiff_t look(std::string_view text, head_limits const& limits) noexcept;

  private:
    std::size_t looked_at_ = 0;
    std::size_t line_ = 0; // where the line begins
};

/// How the body that follows a head ends.
enum class body_end : std::uint8_t { none, length, chunked, close };

/// A parsed head; views into its text.
struct message_head {
    method what = method::other;
    std::string_view method_name;
    std::string_view target;
    std::string_view reason;
    std::uint16_t status = 0; // of a response
    std::uint8_t minor = 1;   // HTTP/1.minor
    body_end framing = body_end::none;
    bool has_length = false;
    bool asks_to_close = false; // by version and `Connection`
    bool expects_continue = false;
    std::uint32_t keep_alive_s = UINT32_MAX; // how long the peer keeps the connection, if it said so
    std::uint64_t length = 0;                // bytes of the body, if the framing is `length`
    std::vector<header, recycled_allocator<header>> headers;
};

/// Parses a head that `head_search` has found. 0, or the status that refuses it: 400, 414, 417, 431, 501,
/// 505; method and target are then there if they could be read. RFC 9112 sections 2 to 7.
[[nodiscard]] int parse_request_head(std::string_view text, head_limits const& limits, message_head& into);

/// The same of a response to a request of the method `to`. 0, 431 for too many fields, or 502.
[[nodiscard]] int parse_response_head(std::string_view text, head_limits const& limits, method to,
                                      message_head& into);

} // namespace pitsaw::inline v0::http
