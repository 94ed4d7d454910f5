#pragma once
#include <pitsaw/io/result.hpp>
#include <pitsaw/io/socket_address.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pitsaw::inline v0 {

/// An IPv4 or IPv6 address: a value.
///
/// ```cpp
/// auto parsed = ps::address::parse("2001:db8::1");
/// if (parsed) log(parsed->to_string());
/// ```
/// Lifetime, threads: a value. Errors: `invalid_argument` for text that is no address. Stopping: none. Sizes:
/// 24 bytes. Source: RFC 4291 for the text that is read, RFC 5952 for the text that is written, RFC 4007 for
/// a scope, which is a number here: `fe80::1%2`.
class address {
  public:
    address() = default; ///< none
    [[nodiscard]] static io_result<address> parse(std::string_view text) noexcept;
    [[nodiscard]] static address v4(std::array<std::uint8_t, 4> bytes) noexcept;
    [[nodiscard]] static address v6(std::array<std::uint8_t, 16> bytes, std::uint32_t scope = 0) noexcept;

    [[nodiscard]] address_family family() const noexcept { return value_.family; }
    [[nodiscard]] bool is_loopback() const noexcept;
    [[nodiscard]] std::string to_string() const;

    friend bool operator==(address const&, address const&) noexcept = default;

  private:
    friend class endpoint;
    explicit address(socket_address const& of) noexcept : value_(of) { value_.port = 0; }

    socket_address value_; // the port is 0
};

} // namespace pitsaw::inline v0
