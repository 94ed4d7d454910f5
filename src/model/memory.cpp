#include "model/memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace pitsaw::inline v0::model {
namespace {

[[nodiscard]] auto short_name(char const* file) noexcept -> char const* {
    auto const* const slash = std::strrchr(file, '/');
    return slash == nullptr ? file : slash + 1;
}

[[nodiscard]] auto line_of(std::source_location where) -> std::string {
    if (where.line() == 0) return {};
    return " at " + std::string(short_name(where.file_name())) + ':' + std::to_string(where.line());
}

[[nodiscard]] auto letter(unsigned thread) -> std::string {
    return std::string(1, static_cast<char>('a' + thread));
}

} // namespace

void memory::clear() noexcept {
    count_ = 0;
    indexed_ = 0;
    ++run_;
    names_.clear();
    sc_.clear();
}

auto memory::slot_of(void const* at) noexcept -> std::uint32_t& {
    auto const mask = index_.size() - 1;
    auto where = (reinterpret_cast<std::uintptr_t>(at) * 0x9E37'79B9'7F4A'7C15) >> 32 & mask;
    while (index_[where].run == run_ && index_[where].at != at) where = (where + 1) & mask;
    auto& found = index_[where];
    if (found.run != run_) {
        found = {at, access::none, run_};
        ++indexed_;
    }
    return found.location;
}

void memory::grow_index() {
    if (indexed_ * 2 < index_.size()) return;
    auto const old = std::move(index_);
    index_ = std::vector<index_entry>(old.size() * 2);
    indexed_ = 0;
    for (auto const& each : old)
        if (each.run == run_) slot_of(each.at) = each.location;
}

auto memory::add_location(detail::place const& object, unsigned maker, std::uint32_t made) -> std::uint32_t {
    if (count_ == locations_.size()) locations_.emplace_back();
    auto& at = locations_[count_];
    at.address = object.at;
    at.traits = object.traits;
    at.is_alive = true;
    at.name = nullptr;
    at.used_at = object.where;
    at.maker = maker;
    at.made_step = made;
    at.stores.clear();
    at.order.clear();
    at.accesses.clear();
    at.touches.clear();
    at.waiting.clear();
    at.floor_of = {};
    at.owner = location::nobody;
    at.release = {};
    at.reads = {};
    at.writer = maker;
    at.write = made;
    at.write_at = object.where;
    if (object.traits->kind == detail::object_kind::atomic) {
        at.stores.push_back({object.initial, {}, {}, 0, false, access::none});
        at.order.push_back(0);
    }
    grow_index();
    slot_of(object.at) = count_;
    return count_++;
}

auto memory::find(detail::place const& object, thread_view const& by, std::string& problem) -> std::uint32_t {
    auto const found = slot_of(object.at);
    if (found == access::none) return add_location(object, by.number, 0);
    auto& at = locations_[found];
    if (at.used_at.line() == 0) at.used_at = object.where;
    if (!at.is_alive)
        problem = "use after destruction of " + name_of(found);
    else if (at.maker != by.number && !by.past.covers(at.maker, at.made_step))
        problem = "use of " + name_of(found) + " by " + letter(by.number) +
                  " that its construction does not happen before";
    return found;
}

void memory::make(detail::place const& object, thread_view const& by) {
    add_location(object, by.number, by.steps + 1);
}

void memory::end(void const* object, thread_view const& by, std::string& problem) {
    auto const which = slot_of(object);
    if (which == access::none) return; // constant-initialised, and never used
    auto& at = locations_[which];
    if (!at.is_alive) {
        problem = "a second destruction of " + name_of(which);
        return;
    }
    auto const complain = [&](unsigned thread, std::source_location where) {
        problem = "destruction of " + name_of(which) + " by " + letter(by.number) +
                  " races with its use by " + letter(thread) + line_of(where);
    };
    for (auto const& each : at.accesses)
        if (each.thread != by.number && !by.past.covers(each.thread, each.step))
            complain(each.thread, each.where);
    if (at.writer != by.number && !by.past.covers(at.writer, at.write)) complain(at.writer, at.write_at);
    for (unsigned i = 0; i < threads_max; ++i)
        if (i != by.number && !by.past.covers(i, at.reads[i])) complain(i, at.reads_at[i]);
    if (!at.waiting.empty()) problem = "destruction of " + name_of(which) + ", on which a thread waits";
    if (at.owner != location::nobody) problem = "destruction of " + name_of(which) + " while it is locked";
    at.is_alive = false;
}

auto memory::name_of(std::uint32_t which) const -> std::string {
    auto const& at = locations_[which];
    for (auto const& each : names_)
        if (each.at == at.address) return each.text;
    constexpr char const* kinds[] = {"atomic", "var", "mutex", "condition"};
    return std::string(kinds[static_cast<unsigned>(at.traits->kind)]) + '#' + std::to_string(which) +
           (at.used_at.line() == 0 ? "" : " (first used" + line_of(at.used_at) + ')');
}

/// The lowest rank that the thread may still see: coherence, and what happens before.
auto memory::floor(location const& at, thread_view const& by) const noexcept -> std::uint32_t {
    std::uint32_t lowest = at.floor_of[by.number] == 0 ? 0 : at.stores[at.floor_of[by.number] - 1].rank;
    unsigned seen = 0; // the ranks of one thread only rise, so its latest known access decides
    for (auto each = at.accesses.rbegin(); each != at.accesses.rend(); ++each) {
        if ((seen >> each->thread & 1U) != 0) continue;
        if (each->thread != by.number && !by.past.covers(each->thread, each->step)) continue;
        seen |= 1U << each->thread;
        auto const store = each->written != access::none ? each->written : each->from;
        lowest = std::max(lowest, at.stores[store].rank);
    }
    return lowest;
}

void memory::list(thread_view const& by, step const& next, alternatives& out) const {
    using way = alternative::way;
    out.clear();
    auto const& at = locations_[next.object];
    auto const lowest = floor(at, by);
    auto const newest_rank = static_cast<std::uint32_t>(at.order.size()) - 1;
    auto const is_modified = [&](std::uint32_t rank) {
        return rank < newest_rank && at.stores[at.order[rank + 1]].is_modify;
    };
    bool const is_sc = next.order == std::memory_order_seq_cst;
    for (std::uint32_t rank = newest_rank + 1; rank-- > lowest;) {
        auto const store = at.order[rank];
        auto const is_free = !is_modified(rank);
        switch (next.kind) {
        case step_kind::load:
            if (is_allowed(at, by, is_sc, rank, false)) out.push_back({way::reads, store});
            break;
        case step_kind::store:
            if (is_free && is_allowed(at, by, is_sc, rank, true)) out.push_back({way::inserts, rank + 1});
            break;
        case step_kind::modify:
            if (is_free && is_allowed(at, by, is_sc, rank, true)) out.push_back({way::replaces, store});
            break;
        default: // compare_exchange
            auto const is_sc_failure = next.failure_order == std::memory_order_seq_cst;
            if (at.stores[store].value != next.expected) {
                if (is_allowed(at, by, is_sc_failure, rank, false)) out.push_back({way::fails, store});
                break;
            }
            if (is_free && is_allowed(at, by, is_sc, rank, true)) out.push_back({way::replaces, store});
            if (next.is_weak && by.spurious != 0 && is_allowed(at, by, is_sc_failure, rank, false))
                out.push_back({way::fails_spuriously, store});
            break;
        }
        if (next.newest_only) break;
    }
}

auto memory::insert(location& at, std::uint32_t rank, store_record added) -> std::uint32_t {
    auto const number = static_cast<std::uint32_t>(at.stores.size());
    added.rank = rank;
    at.stores.push_back(added);
    for (auto i = rank; i < at.order.size(); ++i) ++at.stores[at.order[i]].rank;
    at.order.insert(at.order.begin() + rank, number);
    return number;
}

auto memory::execute(thread_view& by, step const& now, alternative const& how, vector_clock& causal,
                     std::uint32_t logged) -> result {
    using way = alternative::way;
    auto& at = locations_[now.object];
    bool const reads = how.how != way::inserts;
    bool const writes = how.how == way::inserts || how.how == way::replaces;
    auto const order = writes || now.kind != step_kind::compare_exchange ? now.order : now.failure_order;
    auto const below = reads ? at.stores[how.store].rank : how.store - 1;
    if (how.how == way::fails_spuriously) --by.spurious;
    auto const sc = note_sc(at, by, order == std::memory_order_seq_cst, below, writes);
    result done{0, now.operand, access::none, access::none};
    vector_clock carried; // by a release sequence
    if (reads) {
        auto const& read = at.stores[how.store];
        done.before = read.value;
        done.from = how.store;
        (is_acquire(order) ? by.past : by.acquirable).join(read.release);
        causal.join(read.causal);
        if (writes) carried = read.release;
        by.looked_at.push_back(now.object);
    }
    if (writes) {
        if (now.change != nullptr) done.after = now.change(done.before, now.operand);
        carried.join(is_release(order) ? by.past : by.fenced);
        done.written = insert(at, below + 1, {done.after, carried, causal, 0, reads, logged});
    }
    at.accesses.push_back({by.number, by.steps, done.from, done.written, sc, by.past, now.where});
    return done;
}

auto memory::look_again(thread_view& by) noexcept -> bool {
    bool has_more = false;
    for (auto const which : by.looked_at) {
        auto& at = locations_[which];
        if (!at.is_alive) continue;
        has_more = has_more || floor(at, by) + 1 < at.order.size();
        at.floor_of[by.number] = at.order.back() + 1;
    }
    by.looked_at.clear();
    return has_more;
}

void memory::read_variable(location& at, thread_view const& by, std::source_location where,
                           std::string& problem) {
    if (at.writer != by.number && !by.past.covers(at.writer, at.write))
        problem = "data race: the read by " + letter(by.number) + line_of(where) + " and the write by " +
                  letter(at.writer) + line_of(at.write_at);
    at.reads[by.number] = by.steps + 1;
    at.reads_at[by.number] = where;
}

void memory::write_variable(location& at, thread_view const& by, std::source_location where,
                            std::string& problem) {
    auto const race = [&](char const* what, unsigned thread, std::source_location other) {
        problem = "data race: the write by " + letter(by.number) + line_of(where) + " and the " + what +
                  " by " + letter(thread) + line_of(other);
    };
    if (at.writer != by.number && !by.past.covers(at.writer, at.write)) race("write", at.writer, at.write_at);
    for (unsigned i = 0; i < threads_max; ++i)
        if (i != by.number && !by.past.covers(i, at.reads[i])) race("read", i, at.reads_at[i]);
    at.writer = by.number;
    at.write = by.steps + 1;
    at.write_at = where;
}

} // namespace pitsaw::inline v0::model
