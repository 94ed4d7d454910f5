#include <pitsaw/http/method.hpp>

#include <array>
#include <cstddef>

namespace pitsaw::inline v0::http {
namespace {

constexpr std::array<std::string_view, 10> spelled{"GET",   "HEAD",    "POST",    "PUT",   "DELETE",
                                                   "PATCH", "OPTIONS", "CONNECT", "TRACE", ""};

} // namespace

std::string_view name(method const of) noexcept { return spelled[static_cast<std::size_t>(of)]; }

method method_of(std::string_view const name) noexcept {
    for (std::size_t i = 0; i + 1 < spelled.size(); ++i)
        if (spelled[i] == name) return static_cast<method>(i);
    return method::other;
}

bool is_idempotent(method const of) noexcept {
    return of != method::post && of != method::patch && of != method::connect && of != method::other;
}

} // namespace pitsaw::inline v0::http
