#pragma once
#include <atomic>
#include <cstdint>

namespace pitsaw::inline v0 {

/// Where a driver's generations begin: far from where those of others do, so that a descriptor of one reaches
/// nothing in another (laws 10 and 11). Threads: any.
[[nodiscard]] inline auto first_generation() noexcept -> std::uint32_t {
    static std::atomic<std::uint32_t> drivers = 0;
    constexpr std::uint32_t apart = 0x9E37'79B9; // 2^32 divided by the golden ratio
    auto const made = drivers.fetch_add(1, std::memory_order_relaxed) * apart + 1;
    return made == 0 ? 1 : made; // 0 means no descriptor
}

} // namespace pitsaw::inline v0
