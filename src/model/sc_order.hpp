#pragma once
#include "model/clock.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <vector>

namespace pitsaw::inline v0::model {

/// The single order of all sequentially consistent operations and fences ([atomics.order]/4), as what is
/// known of it: a graph without a cycle, which therefore has a linear order. It need not be the order of
/// execution.
class sc_order {
  public:
    static constexpr std::size_t members_max = 256;
    using set = std::bitset<members_max>;
    static constexpr int nobody = -1;

    void clear() noexcept { members_.clear(); }
    [[nodiscard]] auto is_full() const noexcept -> bool { return members_.size() == members_max; }
    [[nodiscard]] auto is_empty() const noexcept -> bool { return members_.empty(); }
    [[nodiscard]] auto has_fences() const noexcept -> bool;

    /// Adds an operation that follows all in `before`.
    auto add(unsigned thread, std::uint32_t step, vector_clock const& past, bool is_fence, set const& before)
        -> int;

    /// Adds "each of `first` before each of `second`".
    void order(set const& first, set const& second) noexcept;

    /// Whether somebody in `first` already stands after somebody in `second` (or is the same).
    [[nodiscard]] auto contradicts(set const& first, set const& second) const noexcept -> bool;

    /// Members that happen before whoever has this past.
    [[nodiscard]] auto within(vector_clock const& past, bool fences_only) const noexcept -> set;

    /// Fences that this step of a thread happens before.
    [[nodiscard]] auto fences_after(unsigned thread, std::uint32_t step) const noexcept -> set;

  private:
    struct member {
        unsigned thread;
        std::uint32_t step;
        vector_clock past;
        bool is_fence;
        set after; // all that come later, directly or not
    };
    std::vector<member> members_;
};

} // namespace pitsaw::inline v0::model
