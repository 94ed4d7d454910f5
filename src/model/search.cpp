#include "model/search.hpp"

#include <bit>
#include <charconv>

namespace pitsaw::inline v0::model {
namespace {

[[nodiscard]] constexpr auto has(thread_mask set, unsigned thread) noexcept -> bool {
    return (set & bit(thread)) != 0;
}
[[nodiscard]] auto lowest(thread_mask set) noexcept -> unsigned {
    return static_cast<unsigned>(std::countr_zero(set));
}

} // namespace

search::search(options const& how)
    : preemptions_max_(how.preemptions_max),
      reduces_(how.reduces && how.preemptions_max == options::unbounded) {}

void search::begin_run() noexcept {
    depth_ = 0;
    known_until_ = nodes_.empty() ? 0 : static_cast<std::uint32_t>(nodes_.size()) - 1;
    is_redundant_ = false;
    preemptions_ = 0;
    next_sleep_ = {};
}

auto search::advance() noexcept -> bool {
    if (is_scripted_) return false;
    while (!nodes_.empty()) {
        auto& last = nodes_.back();
        auto const above = last.way == no_way || last.way == 63 ? 0 : last.ways >> (last.way + 1);
        if (above != 0) {
            last.way += 1 + static_cast<unsigned>(std::countr_zero(above));
            return true;
        }
        last.done |= bit(last.thread);
        if (auto const left = last.wanted & last.selectable & ~last.done; left != 0) {
            last.thread = lowest(left);
            last.way = no_way;
            last.ways = 0;
            return true;
        }
        nodes_.pop_back();
    }
    return false;
}

auto search::choose_thread(turn const& now) -> unsigned {
    if (is_scripted_) return choose_scripted(now);
    if (is_redundant_) return now.preferred;
    if (depth_ == nodes_.size()) return add_node(now);
    auto const& at = nodes_[depth_];
    if (!has(now.enabled, at.thread)) return threads_max;
    if (reduces_ && depth_ + 1 == nodes_.size()) fall_asleep(at, now);
    return take(at, now);
}

auto search::take(node const& at, turn const& now) noexcept -> unsigned {
    if (now.may_go_on && !now.is_free && at.thread != now.running) ++preemptions_;
    ++depth_;
    return at.thread;
}

auto search::add_node(turn const& now) -> unsigned {
    node made;
    made.thread = now.preferred;
    made.enabled = made.selectable = now.enabled;
    if (reduces_) {
        made.sleep = next_sleep_;
        for (unsigned i = 0; i < threads_max; ++i) {
            if (!has(now.enabled, i) || made.sleep[i] == awake) continue;
            if (made.sleep[i] == asleep || !(*now.has_fresh)(i, made.sleep[i] - 1))
                made.selectable &= ~bit(i);
        }
        if (made.selectable == 0) {
            is_redundant_ = true;
            return now.preferred;
        }
        if (!has(made.selectable, made.thread)) made.thread = lowest(made.selectable);
        made.wanted = bit(made.thread);
    } else {
        bool const is_fixed = now.is_free || (now.may_go_on && preemptions_ >= preemptions_max_);
        made.wanted = is_fixed ? bit(made.thread) : now.enabled;
    }
    nodes_.push_back(made);
    if (reduces_) fall_asleep(nodes_.back(), now);
    return take(nodes_.back(), now);
}

/// Who sleeps after this node's step: who slept before it or was tried here, unless the step disturbs him.
void search::fall_asleep(node const& at, turn const& now) noexcept {
    auto const& taken = now.next[at.thread];
    for (unsigned i = 0; i < threads_max; ++i) {
        auto state = at.sleep[i];
        auto const& other = now.next[i];
        if (has(at.done, i)) state = other.what.reads ? other.stores + 1 : asleep;
        if (i == at.thread || (taken.object == other.object && taken.object != no_object &&
                               effects::conflict(taken.what, other.what)))
            state = awake;
        next_sleep_[i] = state;
    }
}

auto search::stores_tried() const noexcept -> std::uint32_t {
    if (is_scripted_ || is_redundant_ || !reduces_ || depth_ == 0) return 0;
    auto const& at = nodes_[depth_ - 1];
    auto const state = at.sleep[at.thread];
    return state == awake ? 0 : state - 1;
}

auto search::choose_way(std::uint64_t mask) -> unsigned {
    auto const first = static_cast<unsigned>(std::countr_zero(mask));
    if (is_scripted_) {
        auto const place = depth_ - 1;
        return place < script_.size() ? script_[place].way : first;
    }
    if (is_redundant_) return first;
    auto& at = nodes_[depth_ - 1];
    at.ways = mask;
    if (at.way == no_way) at.way = first;
    return at.way;
}

void search::note(location* at, effects what, unsigned thread, std::uint32_t step, vector_clock& causal) {
    if (!reduces_ || is_scripted_) return;
    auto const depth = depth_ - 1;
    auto const earlier = causal;
    if (!is_redundant_) nodes_[depth].step = step;
    if (at != nullptr) {
        for (auto each = at->touches.rbegin(); each != at->touches.rend(); ++each) {
            if (each->thread == thread) continue;
            bool const is_new = !is_redundant_ && depth >= known_until_;
            if (is_new && effects::is_race(each->what, what) && !earlier.covers(each->thread, each->step))
                note_race(each->depth, depth, thread, earlier);
            if (!is_redundant_ && effects::conflict(each->what, what))
                causal.join(nodes_[each->depth].causal);
        }
        if (!is_redundant_) at->touches.push_back({depth, thread, step, what});
    }
}

void search::note_result(vector_clock const& causal) noexcept {
    if (reduces_ && !is_redundant_ && !is_scripted_) nodes_[depth_ - 1].causal = causal;
}

/// Wants one of those tried first at the earlier step with whom the later one can come before it: a thread
/// whose next step there needs nothing that came of the earlier step.
void search::note_race(std::uint32_t earlier, std::uint32_t later, unsigned thread,
                       vector_clock const& causal) noexcept {
    auto& at = nodes_[earlier];
    thread_mask initials = 0;
    std::array<std::uint32_t, threads_max> first{}; // of each thread among those that can come before
    auto const look_at = [&](unsigned whose, std::uint32_t number, vector_clock const& clock) {
        bool is_initial = first[whose] == 0;
        for (unsigned i = 0; i < threads_max; ++i)
            if (i != whose && first[i] != 0 && clock.covers(i, first[i])) is_initial = false;
        if (is_initial) initials |= bit(whose);
        if (first[whose] == 0) first[whose] = number;
    };
    for (auto i = earlier + 1; i < later; ++i) {
        auto const& each = nodes_[i];
        if (!each.causal.covers(at.thread, at.step)) look_at(each.thread, each.step, each.causal);
    }
    look_at(thread, nodes_[later].step, causal);
    if ((initials & at.wanted) != 0) return;
    auto const added = has(initials, thread) ? thread : lowest(initials);
    at.wanted |= has(at.enabled, added) ? bit(added) : at.enabled;
}

auto search::choose_scripted(turn const& now) -> unsigned {
    auto const place = depth_++;
    if (place >= script_.size()) return now.preferred;
    auto const thread = script_[place].thread;
    return thread < threads_max && has(now.enabled, thread) ? thread : threads_max;
}

auto search::read_script(std::string const& text) -> bool {
    is_scripted_ = true;
    script_.clear();
    char const* at = text.data();
    char const* const end = at + text.size();
    auto const number = [&](unsigned& into) { // at least one digit
        auto const [after, error] = std::from_chars(at, end, into);
        at = after;
        return error == std::errc();
    };
    while (at != end) {
        if (*at < 'a' || *at >= static_cast<char>('a' + threads_max)) return false;
        auto const thread = static_cast<unsigned>(*at++ - 'a');
        unsigned times = 1;
        if (at != end && *at >= '0' && *at <= '9' && (!number(times) || times == 0)) return false;
        script_.insert(script_.end(), times, scripted{thread, 0});
        if (at == end || *at != '/') continue;
        ++at;
        if (!number(script_.back().way)) return false;
    }
    return true;
}

} // namespace pitsaw::inline v0::model
