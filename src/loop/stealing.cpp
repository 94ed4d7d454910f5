#include "loop/stealing.hpp"

#include <pitsaw/base/check.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace pitsaw::inline v0 {

namespace {

constexpr std::uint32_t takes_between_injected = 61;
constexpr std::size_t injected_at_a_time = 64;

} // namespace

void stealing::enlist(sleeper& next) {
    places_.emplace_back(next, offers_max_).looks_at = static_cast<std::uint32_t>(places_.size());
    next.lane().share(*this);
}

void stealing::offer(std::uint32_t const number, continuation& child, bool const is_next) noexcept {
    auto& mine = places_[number];
    lay_open(mine, child);
    // seq_cst: with the end of a watch.
    bool const is_watched = is_next && watchman_.load(std::memory_order_seq_cst) != nobody;
    if (!is_watched || !mine.open.offers.is_small()) wake_one();
}

std::uint64_t stealing::offers_made() const noexcept {
    std::uint64_t sum = 0;
    for (auto const& each : places_) sum += each.open.offers.pushed();
    return sum;
}

/// Before the last look of one that falls asleep: it keeps watch if nobody does and there were offers since.
void stealing::take_the_watch(std::uint32_t const number) noexcept {
    auto nobody_does = nobody;
    // acquire: with the end of the watch before this one, for offers_seen_.
    if (watchman_.load(std::memory_order_relaxed) != nobody ||
        !watchman_.compare_exchange_strong(nobody_does, number, std::memory_order_acquire,
                                           std::memory_order_relaxed))
        return;
    auto const made = offers_made();
    bool const is_quiet = offers_seen_ == made;
    offers_seen_ = made;
    if (is_quiet) end_the_watch();
}

void stealing::end_the_watch() noexcept {
    // seq_cst: with the look in offer(); a look at the rings follows. As a release: with take_the_watch().
    watchman_.store(nobody, std::memory_order_seq_cst);
}

void stealing::lay_open(place& mine, continuation& child) noexcept {
    if (mine.open.offers.push(child)) return;
    std::array<continuation*, offer_queue::size_max / 2> oldest;
    auto const count = mine.open.offers.take(oldest, offer_queue::half);
    injected_.push(std::span(oldest).first(count));
    check(mine.open.offers.push(child), "an offer queue has no room although its owner has made some");
}

void stealing::wake_one() noexcept {
    if (auto const chosen = idle_.one_to_wake()) places_[*chosen].owner->wake_to_search();
}

bool stealing::take(std::uint32_t const number, ready_levels& ready) noexcept {
    auto& mine = places_[number];
    if (++mine.takes % takes_between_injected == 0 && take_injected(mine, ready)) return true;
    continuation* oldest = nullptr;
    if (mine.open.offers.take(std::span(&oldest, 1), offer_queue::one) == 0)
        return take_injected(mine, ready);
    ready.push(*oldest, resume_as::callback);
    return true;
}

void stealing::take_with_the_poll(std::uint32_t const number, ready_levels& ready) noexcept {
    continuation* oldest = nullptr;
    if (injected_.take(std::span(&oldest, 1)) != 0) ready.push(*oldest, resume_as::callback);
    if (places_[number].open.offers.take(std::span(&oldest, 1), offer_queue::one) != 0)
        ready.push(*oldest, resume_as::callback);
}

bool stealing::take_injected(place& mine, ready_levels& ready) noexcept {
    std::array<continuation*, injected_at_a_time> taken;
    auto const share = std::min(injected_.size() / places_.size() + 1, taken.size());
    auto const count = injected_.take(std::span(taken).first(share));
    if (count == 0) return false;
    ready.push(*taken[0], resume_as::callback);
    for (auto* const each : std::span(taken).first(count).subspan(1)) lay_open(mine, *each);
    return true;
}

bool stealing::steal(std::uint32_t const number, ready_levels& ready) noexcept {
    auto& mine = places_[number];
    auto const others = static_cast<std::uint32_t>(places_.size());
    for (std::uint32_t i = 0; i < others; ++i) {
        auto& victim = places_[(mine.looks_at + i) % others];
        if (&victim == &mine || !steal_from(victim, mine, ready)) continue;
        mine.looks_at = (mine.looks_at + i) % others; // there may be more
        return true;
    }
    mine.looks_at = (mine.looks_at + 1) % others;
    return take_injected(mine, ready);
}

bool stealing::steal_from(place& victim, place& mine, ready_levels& ready) noexcept {
    std::array<continuation*, offer_queue::size_max / 2> taken;
    auto const count = victim.open.offers.take(taken, offer_queue::half);
    if (count == 0) return steal_computation(victim.open.lane, mine.open.lane);
    ready.push(*taken[0], resume_as::callback);
    for (auto* const each : std::span(taken).first(count).subspan(1)) lay_open(mine, *each);
    return true;
}

bool stealing::steal_computation(fork_lane& of, fork_lane& mine) noexcept {
    if (auto* const part = of.take_open()) {
        part->was_stolen();
        mine.go_on_with(*part);
        return true;
    }
    auto* const whole = of.take_waiting();
    if (whole != nullptr) mine.go_on_with(whole->entrance());
    return whole != nullptr;
}

bool stealing::is_open() const noexcept {
    return injected_.size() != 0 ||
           std::ranges::any_of(places_, [](place const& each) { return each.open.is_there(); });
}

bool stealing::find_or_fall_asleep(std::uint32_t const number, ready_levels& ready) noexcept {
    if (take(number, ready)) return true;
    bool const searches = idle_.begin_search();
    if (searches && steal(number, ready)) {
        end_search();
        return true;
    }
    take_the_watch(number);
    if (!idle_.fall_asleep(number, searches) || !is_open()) return false;
    if (idle_.rise(number) || idle_.begin_search()) {
        (void)steal(number, ready);
        end_search();
    }
    return true;
}

void stealing::rise(std::uint32_t const number, ready_levels& ready, bool const has_work) noexcept {
    bool searches = idle_.rise(number);
    if (keeps_watch(number)) {
        end_the_watch();
        if (!searches && is_open()) {
            searches = !has_work && idle_.begin_search();
            if (!searches) wake_one();
        }
    }
    if (!searches) return;
    if (!has_work) (void)steal(number, ready);
    end_search();
}

void stealing::end_search() noexcept {
    if (idle_.end_search() && is_open()) wake_one();
}

} // namespace pitsaw::inline v0
