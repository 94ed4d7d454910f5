#pragma once
#include <pitsaw/model/thread.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace pitsaw::inline v0::model {

/// How much of each thread's past is known: its steps are numbered from 1, 0 knows none.
struct vector_clock {
    std::array<std::uint32_t, threads_max> at{};

    void join(vector_clock const& other) noexcept {
        for (unsigned i = 0; i < threads_max; ++i) at[i] = std::max(at[i], other.at[i]);
    }
    [[nodiscard]] auto covers(unsigned thread, std::uint32_t step) const noexcept -> bool {
        return at[thread] >= step;
    }
};

} // namespace pitsaw::inline v0::model
