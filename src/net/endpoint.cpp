#include <pitsaw/net/endpoint.hpp>

#include <charconv>
#include <system_error>

namespace pitsaw::inline v0 {

io_result<endpoint> endpoint::parse(std::string_view const text) noexcept {
    auto const invalid = std::unexpected(std::make_error_code(std::errc::invalid_argument));
    auto const colon = text.rfind(':');
    if (colon == std::string_view::npos) return invalid;
    auto host = text.substr(0, colon);
    auto const digits = text.substr(colon + 1);
    std::uint16_t port = 0;
    auto const* const end = digits.data() + digits.size();
    auto const [stopped, error] = std::from_chars(digits.data(), end, port);
    if (digits.empty() || error != std::errc() || stopped != end) return invalid;
    bool const is_bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
    if (is_bracketed) host = host.substr(1, host.size() - 2);
    auto const parsed = address::parse(host);
    if (!parsed || (parsed->family() == address_family::ipv6) != is_bracketed) return invalid;
    return endpoint(*parsed, port);
}

endpoint endpoint::loopback(std::uint16_t const port) noexcept { return {address::v4({127, 0, 0, 1}), port}; }

endpoint endpoint::any(std::uint16_t const port) noexcept { return {address::v4({0, 0, 0, 0}), port}; }

std::string endpoint::to_string() const {
    auto const text = host().to_string();
    auto const shown = family() == address_family::ipv6 ? "[" + text + "]" : text;
    return shown + ":" + std::to_string(port());
}

} // namespace pitsaw::inline v0
