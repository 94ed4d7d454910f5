#include "model/sc_order.hpp"

#include <algorithm>

namespace pitsaw::inline v0::model {

auto sc_order::add(unsigned thread, std::uint32_t step, vector_clock const& past, bool is_fence,
                   set const& before) -> int {
    auto const added = members_.size();
    members_.push_back({thread, step, past, is_fence, {}});
    set alone;
    alone.set(added);
    order(before, alone);
    return static_cast<int>(added);
}

void sc_order::order(set const& first, set const& second) noexcept {
    set reached = second;
    for (std::size_t i = 0; i < members_.size(); ++i)
        if (second[i]) reached |= members_[i].after;
    for (std::size_t i = 0; i < members_.size(); ++i)
        if (first[i] || (members_[i].after & first).any()) members_[i].after |= reached;
}

auto sc_order::contradicts(set const& first, set const& second) const noexcept -> bool {
    if ((first & second).any()) return true;
    for (std::size_t i = 0; i < members_.size(); ++i)
        if (second[i] && (members_[i].after & first).any()) return true;
    return false;
}

auto sc_order::within(vector_clock const& past, bool fences_only) const noexcept -> set {
    set found;
    for (std::size_t i = 0; i < members_.size(); ++i)
        if ((members_[i].is_fence || !fences_only) && past.covers(members_[i].thread, members_[i].step))
            found.set(i);
    return found;
}

auto sc_order::fences_after(unsigned thread, std::uint32_t step) const noexcept -> set {
    set found;
    for (std::size_t i = 0; i < members_.size(); ++i)
        if (members_[i].is_fence && members_[i].past.covers(thread, step)) found.set(i);
    return found;
}

auto sc_order::has_fences() const noexcept -> bool {
    return std::ranges::any_of(members_, &member::is_fence);
}

} // namespace pitsaw::inline v0::model
