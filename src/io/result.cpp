#include <pitsaw/io/result.hpp>

namespace pitsaw::inline v0 {

auto to_error(std::int32_t result) noexcept -> std::error_code {
    if (result >= 0) return {};
    return {static_cast<int>(-static_cast<std::int64_t>(result)), std::generic_category()};
}

} // namespace pitsaw::inline v0
