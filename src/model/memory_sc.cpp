#include "model/memory.hpp"

// How sequentially consistent operations and fences are ordered, [atomics.order]/4. A member of the order is
// an operation or a fence. Of two accesses to one object, the first coherence-ordered before the second, all
// that `before` gives for the first come before all that `after` gives for the second.

namespace pitsaw::inline v0::model {

/// The access itself, and the fences that happen before it.
auto memory::before(access const& of) const -> sc_order::set {
    sc_order::set found;
    if (sc_.has_fences()) found = sc_.within(of.past, true);
    if (of.sc != sc_order::nobody) found.set(static_cast<std::size_t>(of.sc));
    return found;
}

/// The access itself, and the fences that it happens before.
auto memory::after(access const& of) const -> sc_order::set {
    sc_order::set found;
    if (sc_.has_fences()) found = sc_.fences_after(of.thread, of.step);
    if (of.sc != sc_order::nobody) found.set(static_cast<std::size_t>(of.sc));
    return found;
}

/// Whether `first` is coherence-ordered before an access that reads the store of rank `below` or (`writes`)
/// stands directly above it.
auto memory::precedes(location const& at, access const& first, std::uint32_t below, bool writes) noexcept
    -> bool {
    if (first.written != access::none && at.stores[first.written].rank <= below) return true;
    if (first.from == access::none) return false;
    auto const read = at.stores[first.from].rank;
    return read < below || (read == below && writes && first.written == access::none);
}

auto memory::neighbours(location const& at, std::uint32_t below, bool writes) const -> sc_neighbours {
    sc_neighbours found;
    for (auto const& each : at.accesses) {
        if (precedes(at, each, below, writes))
            found.before |= before(each);
        else if ((each.written != access::none && at.stores[each.written].rank > below) ||
                 (each.from != access::none && at.stores[each.from].rank > below))
            found.after |= after(each);
    }
    return found;
}

/// Whether an access there leaves the order without a cycle.
auto memory::is_allowed(location const& at, thread_view const& by, bool is_sc, std::uint32_t below,
                        bool writes) const -> bool {
    if (sc_.is_empty() || (!is_sc && !sc_.has_fences())) return true;
    auto const near = neighbours(at, below, writes);
    if (near.after.none()) return true;
    auto first = sc_.within(by.past, !is_sc);
    if (is_sc) first |= near.before;
    return !sc_.contradicts(first, near.after);
}

auto memory::note_sc(location const& at, thread_view const& by, bool is_sc, std::uint32_t below, bool writes)
    -> int {
    if (!is_sc && !sc_.has_fences()) return sc_order::nobody;
    auto const near = neighbours(at, below, writes);
    auto first = sc_.within(by.past, true);
    auto added = sc_order::nobody;
    if (is_sc) {
        added = sc_.add(by.number, by.steps, by.past, false, near.before | sc_.within(by.past, false));
        first.set(static_cast<std::size_t>(added));
    }
    sc_.order(first, near.after);
    return added;
}

void memory::execute_fence(thread_view& by, std::memory_order order) {
    if (is_acquire(order)) by.past.join(by.acquirable);
    if (order == std::memory_order_seq_cst) {
        auto earlier = sc_.within(by.past, false);
        for (std::uint32_t i = 0; i < count_; ++i) {
            auto const& at = locations_[i];
            if (at.traits->kind != detail::object_kind::atomic) continue;
            for (auto const& second : at.accesses) {
                if (!by.past.covers(second.thread, second.step)) continue;
                bool const writes = second.written != access::none;
                auto const below = second.from != access::none ? at.stores[second.from].rank
                                                               : at.stores[second.written].rank - 1;
                for (auto const& first : at.accesses)
                    if (&first != &second && precedes(at, first, below, writes)) earlier |= before(first);
            }
        }
        sc_.add(by.number, by.steps, by.past, true, earlier);
    }
    if (is_release(order)) by.fenced = by.past;
}

} // namespace pitsaw::inline v0::model
