#include <pitsaw/sync/mutex.hpp>
#include <pitsaw/task/boundary.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <mutex>

// Debug checks: a wait for a mutex that cannot end. Whose guard has not been moved holds it in a frame that
// lives, and with it the chain of that frame: these may be looked at while the mutex says so, by their own
// worker. Everything else about them belongs to another thread, and is not looked at.

namespace pitsaw::inline v0 {

namespace {

/// Chains of tasks that wait for each other; far more than anybody locks at a time.
constexpr std::size_t cycle_max = 32;

/// Where a task awaits: a leaf of a combinator has no line of its own.
std::source_location place_of(promise_header const& waiting) noexcept {
    auto const* header = &waiting;
    while (header->awaiting.line() == 0 && header->parent != nullptr) header = header->parent;
    return header->awaiting;
}

/// Whether the end of `chain` waits for that of `waiting`: it is the same one, or awaits it, whatever comes.
bool ends_after(boundary const& chain, promise_header const& waiting) noexcept {
    auto const* edge = waiting.edge;
    while (edge != nullptr && edge != &chain && !edge->is_race) {
        auto const* const outer = edge->root->parent; // without one, or one of no chain, it is a runtime's
        edge = outer != nullptr ? outer->edge : nullptr;
    }
    return edge == &chain;
}

/// Of a cycle: a mutex was locked by who waits for another.
struct step {
    std::source_location locked_at;
    std::source_location waits_at;
};

void tell(step const& each) noexcept {
    std::fprintf(stderr, "locked at %s:%u by a task that waits at %s:%u\n", each.locked_at.file_name(),
                 unsigned(each.locked_at.line()), each.waits_at.file_name(), unsigned(each.waits_at.line()));
}

} // namespace

void mutex::note_owner(promise_header* const header) noexcept {
    std::scoped_lock const held(guard);
    owner_ = header;
    if (header != nullptr) locked_at_ = place_of(*header);
}

void mutex::look_for_cycle(promise_header& waiting) noexcept {
    auto& worker = *waiting.env->executor;
    std::array<step, cycle_max> steps;
    std::size_t count = 0;
    for (auto* wanted = this; count != steps.size(); ++count) {
        bool is_cycle = false;
        waiter* leaf = nullptr;
        {
            std::scoped_lock const held(wanted->guard);
            if (wanted->owner_ == nullptr) return;
            auto const& chain = *wanted->owner_->edge;
            steps[count].locked_at = wanted->locked_at_;
            is_cycle = ends_after(chain, waiting);
            if (chain.is_race && !(is_cycle && count == 0)) return; // one of several: a timeout may end it
            if (!is_cycle && wanted->owner_->env->executor != waiting.env->executor) return;
            if (!is_cycle) leaf = inner_boundary::leaf_below(chain.waiting);
        }
        if (is_cycle) {
            worker.current = &waiting;
            std::for_each_n(steps.begin(), count, tell);
            check_failed(
                "deadlock: a task waits for a mutex that was locked here, by itself or by who waits for it",
                steps[count].locked_at);
        }
        auto* const found = lock_awaiter::find(leaf, lock_awaiter::withdrawn);
        if (found == nullptr) return;
        auto& next = *static_cast<lock_awaiter*>(found);
        steps[count].waits_at = place_of(*next.header_);
        wanted = &next.of_;
        std::scoped_lock const held(wanted->guard);
        if (!next.is_waiting()) return;
    }
}

} // namespace pitsaw::inline v0
