#include "sim/disk_content.hpp"

#include <algorithm>
#include <utility>

namespace pitsaw::inline v0::sim {

auto draw_fate(random_source& random, disk_faults const& faults) -> fate {
    // One number for both, so that a changed percentage does not shift what comes after.
    auto const drawn = static_cast<double>(random.below(1'000'000)) / 10'000;
    if (drawn < faults.lost_percent) return fate::lost;
    return drawn < faults.lost_percent + faults.torn_percent ? fate::torn : fate::whole;
}

void disk_content::write(std::uint64_t offset, std::span<std::byte const> bytes) {
    if (bytes.empty()) return;
    auto const end = offset + bytes.size();
    if (end > cached_.size()) cached_.resize(end);
    std::ranges::copy(bytes, cached_.begin() + static_cast<std::ptrdiff_t>(offset));
    change made{
        .is_resize = false, .first_byte = offset / sector_ * sector_, .size_after = size(), .content = {}};
    auto const last_byte = sectors_of(end) * sector_;
    made.content.resize(last_byte - made.first_byte); // zeros behind the end of the file
    auto const there = std::min<std::uint64_t>(last_byte, size()) - made.first_byte;
    std::ranges::copy(std::span(cached_).subspan(made.first_byte, there), made.content.begin());
    note(std::move(made));
}

void disk_content::resize(std::uint64_t bytes) {
    if (bytes == size()) return;
    cached_.resize(bytes);
    note({.is_resize = true, .first_byte = 0, .size_after = bytes, .content = {}});
}

auto disk_content::cost_of(change const& made) noexcept -> std::uint64_t {
    return std::max<std::uint64_t>(made.content.size(), sizeof(change));
}

void disk_content::note(change made) {
    dirty_ += cost_of(made);
    changes_.push_back(std::move(made));
}

void disk_content::write_sector(std::vector<std::byte>& to, change const& from, std::size_t which) const {
    auto const begin = from.first_byte + which * sector_;
    auto const end = std::min<std::uint64_t>(begin + sector_, from.size_after);
    if (end > to.size()) to.resize(end);
    auto const count = std::min<std::uint64_t>(sector_, to.size() - begin); // the file may be longer there
    std::ranges::copy(std::span(from.content).subspan(which * sector_, count),
                      to.begin() + static_cast<std::ptrdiff_t>(begin));
}

void disk_content::apply(std::vector<std::byte>& to, change const& made) const {
    if (made.is_resize) return to.resize(made.size_after);
    for (std::size_t which = 0; which < made.content.size() / sector_; ++which) write_sector(to, made, which);
}

void disk_content::write_oldest(std::uint64_t dirty_bytes_max) {
    while (dirty_ > dirty_bytes_max) {
        apply(durable_, changes_.front());
        dirty_ -= cost_of(changes_.front());
        changes_.pop_front();
    }
}

/// Writes some sectors. Gives whether one of them is missing.
auto disk_content::tear(change const& made, random_source& random) -> bool {
    bool is_missing = false;
    for (std::size_t which = 0; which < made.content.size() / sector_; ++which) {
        if (random.chance(0.5))
            write_sector(durable_, made, which);
        else
            is_missing = true;
    }
    // The new size may have been written without the data.
    if (random.chance(0.5) && made.size_after > durable_.size()) durable_.resize(made.size_after);
    return is_missing;
}

auto disk_content::settle(random_source& random, disk_faults const& faults) -> std::uint64_t {
    std::uint64_t not_whole = 0;
    for (auto const& made : changes_) {
        auto drawn = draw_fate(random, faults);
        if (drawn == fate::torn && made.is_resize) drawn = fate::whole; // one number: it has no parts
        if (drawn == fate::whole)
            apply(durable_, made);
        else if (drawn == fate::lost || tear(made, random))
            ++not_whole;
    }
    changes_.clear();
    dirty_ = 0;
    return not_whole;
}

void disk_content::forget_clean() {
    auto const bytes = cached_.size();
    cached_ = durable_;
    for (auto const& made : changes_) apply(cached_, made);
    cached_.resize(bytes); // of an open file the kernel keeps it
}

} // namespace pitsaw::inline v0::sim
