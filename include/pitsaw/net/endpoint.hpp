#pragma once
#include <pitsaw/io/result.hpp>
#include <pitsaw/io/socket_address.hpp>
#include <pitsaw/net/address.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace pitsaw::inline v0 {

/// Where a connection begins or ends: an address and a port.
///
/// ```cpp
/// auto at = ps::endpoint::parse("[::1]:80");
/// auto here = ps::endpoint::loopback(8080);
/// ```
/// Lifetime, threads: a value. Errors: `invalid_argument` for other text; a port is a number up to 65535, and
/// an IPv6 address stands in brackets. Stopping: none. Sizes: 24 bytes.
class endpoint {
  public:
    endpoint() = default; ///< nowhere
    endpoint(address const& on, std::uint16_t port) noexcept : value_(on.value_) { value_.port = port; }
    explicit endpoint(socket_address const& at) noexcept : value_(at) {}

    [[nodiscard]] static io_result<endpoint> parse(std::string_view text) noexcept;
    /// 127.0.0.1; port 0: a free one.
    [[nodiscard]] static endpoint loopback(std::uint16_t port) noexcept;
    /// Every IPv4 interface.
    [[nodiscard]] static endpoint any(std::uint16_t port) noexcept;

    [[nodiscard]] std::uint16_t port() const noexcept { return value_.port; }
    [[nodiscard]] address host() const noexcept { return address(value_); }
    [[nodiscard]] address_family family() const noexcept { return value_.family; }
    [[nodiscard]] socket_address const& as_socket_address() const noexcept { return value_; }
    [[nodiscard]] std::string to_string() const;

    friend bool operator==(endpoint const&, endpoint const&) noexcept = default;

  private:
    socket_address value_;
};

} // namespace pitsaw::inline v0
