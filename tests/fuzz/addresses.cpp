// An address that is taken is written so that it is taken again, and as the same.
#include "fuzz/targets.hpp"

#include <pitsaw/net/endpoint.hpp>

namespace pitsaw::fuzz {

void addresses(std::string_view const input) {
    auto const at = endpoint::parse(input);
    if (at.has_value()) {
        auto const again = endpoint::parse(at->to_string());
        require(again.has_value() && *again == *at, "an endpoint is not what its text says");
    }
    auto const host = address::parse(input);
    if (host.has_value()) {
        auto const again = address::parse(host->to_string());
        require(again.has_value() && *again == *host, "an address is not what its text says");
    }
}

} // namespace pitsaw::fuzz
