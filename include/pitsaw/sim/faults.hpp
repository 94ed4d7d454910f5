#pragma once
#include <pitsaw/base/clock.hpp>

#include <chrono>
#include <cstdint>

namespace pitsaw::inline v0::sim {

/// What goes wrong between a program and its system beyond what is normal: short transfers, late completions,
/// late cancels and multishot operations that end unasked come with every seed, and a calm world has none.
///
/// ```cpp
/// ps::sim::world_options with{.seed = 7};
/// with.faults = ps::sim::faults::some();
/// ```
/// A chance is in percent, each time; the seed decides. Lifetime, threads: a value.
struct faults {
    unsigned no_buffer_percent = 0; ///< a pooled receive finds its pool empty: `no_buffer_space`
    /// Of the completions that are due only one is handed out, as after an overflow of the completion queue.
    unsigned overflow_percent = 0;
    unsigned no_descriptor_percent = 0; ///< a new socket or an accept: `too_many_files_open`
    unsigned refused_percent = 0;       ///< a connect: `connection_refused`
    unsigned reset_percent = 0;         ///< a receive or send finds that the network broke the connection
    unsigned stall_percent = 0;         ///< a node's turn comes late: its clock steps
    duration stall_max = std::chrono::milliseconds(20);
    /// Descriptors that a node may have open at a time; 0: as many as it likes.
    std::uint32_t descriptors_max = 0;

    /// A little of each that a program must survive without an error of its own.
    [[nodiscard]] static constexpr faults harmless() noexcept {
        faults made;
        made.no_buffer_percent = made.overflow_percent = made.stall_percent = 5;
        return made;
    }
    /// A little of each.
    [[nodiscard]] static constexpr faults some() noexcept {
        auto made = harmless();
        made.no_descriptor_percent = made.refused_percent = made.reset_percent = 2;
        return made;
    }
};

} // namespace pitsaw::inline v0::sim
