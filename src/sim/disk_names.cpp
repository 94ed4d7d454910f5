#include "sim/disk_names.hpp"

#include "sim/disk_content.hpp"

#include <algorithm>
#include <utility>

namespace pitsaw::inline v0::sim {

auto disk_names::find(place const& where) const -> std::uint32_t {
    auto const& in = cached(where.directory);
    auto const found = in.find(where.name);
    return found == in.end() ? nobody : found->second;
}

void disk_names::create(place const& where, std::uint32_t node) {
    operation made;
    made.effects[0] = {where, node};
    note(std::move(made));
}

void disk_names::rename(place const& from, place const& to) {
    operation made;
    made.effects[0] = {to, find(from)};
    made.effects[1] = {from, nobody};
    note(std::move(made));
}

void disk_names::remove(place const& where) {
    operation made;
    auto const node = find(where);
    made.effects[0] = {where, nobody};
    if (is_directory(node)) made.removed_directory = node;
    note(std::move(made));
}

void disk_names::set(entries& in, effect const& how) {
    if (how.node == nobody)
        in.erase(how.where.name);
    else
        in[how.where.name] = how.node;
}

void disk_names::note(operation made) {
    for (auto const& how : made.effects)
        if (how.where.directory != nobody) set(directories_.at(how.where.directory).cached, how);
    operations_.push_back(std::move(made));
    if (operations_.size() <= unsynced_max) return;
    std::vector<bool> oldest(operations_.size());
    oldest[0] = true;
    write_where(oldest);
}

auto disk_names::touches(operation const& made, std::uint32_t directory) noexcept -> bool {
    return std::ranges::any_of(made.effects,
                               [&](effect const& how) { return how.where.directory == directory; });
}

/// A later operation on a name cannot be there without the earlier one, nor the end of a directory without
/// what emptied it.
auto disk_names::rests_on(operation const& later, operation const& earlier) -> bool {
    for (auto const& how : later.effects) {
        if (how.where.directory == nobody) continue;
        for (auto const& before : earlier.effects)
            if (before.where == how.where) return true;
    }
    return later.removed_directory != nobody && touches(earlier, later.removed_directory);
}

/// Makes the chosen operations durable, in their order, and forgets them.
void disk_names::write_where(std::vector<bool> const& chosen) {
    std::deque<operation> left;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
        if (!chosen[i]) {
            left.push_back(std::move(operations_[i]));
            continue;
        }
        for (auto const& how : operations_[i].effects) {
            auto const in = directories_.find(how.where.directory);
            if (in != directories_.end()) set(in->second.durable, how);
        }
    }
    operations_ = std::move(left);
}

void disk_names::sync(std::uint32_t directory) {
    std::vector<bool> chosen(operations_.size());
    for (std::size_t i = 0; i < operations_.size(); ++i) {
        bool is_whole = touches(operations_[i], directory);
        for (auto& how : operations_[i].effects) {
            if (how.where.directory == directory) how.is_synced = true;
            if (how.where.directory != nobody && !how.is_synced) is_whole = false;
        }
        chosen[i] = is_whole;
    }
    for (auto later = operations_.size(); later-- > 0;)
        for (std::size_t earlier = 0; chosen[later] && earlier < later; ++earlier)
            if (rests_on(operations_[later], operations_[earlier])) chosen[earlier] = true;
    write_where(chosen);
}

void disk_names::lose_power(random_source& random, disk_faults const& faults) {
    std::vector<bool> chosen(operations_.size());
    for (std::size_t i = 0; i < operations_.size(); ++i) {
        bool survives = draw_fate(random, faults) != fate::lost; // there is no half of it
        for (std::size_t earlier = 0; survives && earlier < i; ++earlier)
            if (!chosen[earlier] && rests_on(operations_[i], operations_[earlier])) survives = false;
        chosen[i] = survives;
    }
    write_where(chosen);
    operations_.clear();
    for (auto& [node, its] : directories_) its.cached = its.durable;
}

auto disk_names::collect() -> std::set<std::uint32_t> {
    std::set<std::uint32_t> reached{root};
    std::vector<std::uint32_t> to_do{root};
    auto const reach = [&](std::uint32_t node) {
        if (node != nobody && reached.insert(node).second) to_do.push_back(node);
    };
    for (auto const& made : operations_) {
        reach(made.removed_directory);
        for (auto const& how : made.effects) {
            reach(how.where.directory);
            reach(how.node);
        }
    }
    while (!to_do.empty()) {
        auto const found = directories_.find(to_do.back());
        to_do.pop_back();
        if (found == directories_.end()) continue;
        for (auto const* in : {&found->second.cached, &found->second.durable})
            for (auto const& [name, node] : *in) reach(node);
    }
    std::erase_if(directories_, [&](auto const& one) { return !reached.contains(one.first); });
    return reached;
}

} // namespace pitsaw::inline v0::sim
