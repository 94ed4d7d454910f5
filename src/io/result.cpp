#include <pitsaw/io/result.hpp>

namespace pitsaw::inline v0 {

auto to_error(std::int32_t result) noexcept -> std::error_code {
    return {result < 0 ? -result : 0, std::generic_category()};
}

} // namespace pitsaw::inline v0
