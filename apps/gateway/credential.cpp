#include "gateway/credential.hpp"

#include "gateway/secret.hpp"

#include <algorithm>

namespace gateway {

std::string_view credential_of(pitsaw::http::header_view const headers) {
    auto const found = headers.find("authorization").value_or("");
    auto const space = std::min(found.find(' '), found.size());
    return found.substr(std::min(found.find_first_not_of(' ', space), found.size()));
}

bool quotes_key(std::string_view const text, std::string_view const key) noexcept {
    return key.size() >= secret::bytes_min && text.find(key) != std::string_view::npos;
}

} // namespace gateway
