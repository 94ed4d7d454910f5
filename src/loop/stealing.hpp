#pragma once
#include "loop/fork_lane.hpp"
#include "loop/idle_workers.hpp"
#include "loop/injection_queue.hpp"
#include "loop/offer_queue.hpp"

#include <pitsaw/base/atomic.hpp>
#include <pitsaw/base/clock.hpp>
#include <pitsaw/executor/continuation.hpp>
#include <pitsaw/executor/ready_levels.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>

namespace pitsaw::inline v0 {

/// A worker as those see it who lay something open.
struct sleeper {
    virtual void wake_to_search() noexcept = 0; ///< from any worker
    [[nodiscard]] virtual fork_lane& lane() noexcept = 0;

  protected:
    ~sleeper() = default;
};

/// What a worker lays open: whatever stands in here may be run by any other of its runtime.
struct open_work {
    offer_queue offers;
    fork_lane& lane; ///< parts of computations, and whole ones that have not begun

    open_work(std::size_t offers_max, fork_lane& its) : offers(offers_max), lane(its) {}

    /// As `offer_queue::empty`.
    [[nodiscard]] bool is_there() const noexcept { return !offers.empty() || lane.is_open(); }
};

/// How the workers of a runtime share what may run anywhere (docs/design/0018).
///
/// Its own worker takes from its ring while its ready queue is empty, and an offer of its ring and one of
/// the injection queue at each poll, so that nothing that runs on can starve either. Each 61st take begins
/// with the injection queue, for what overflowed a ring is older than what is in it. A worker with nothing
/// to do takes half of somebody else's ring, or goes on with a part of the computation that runs there.
///
/// A lone offer of a worker that will come by it next wakes nobody: it would be gone when the other comes,
/// and each small task would have cost two threads their sleep. That worker may be held up before, so one
/// of those who sleep keeps watch, and looks round each `watch`, as long as offers are made; where nobody
/// keeps watch, an offer wakes one, who keeps it then. The offer and the look at `watchman_` behind it, and
/// the end of a watch and the last look behind that, are sequentially consistent, as with `idle_workers`.
///
/// Lifetime: the crew's: made before its workers run, destroyed after they have ended. Threads: `number`
/// names the calling worker, everywhere. Errors: none.
class stealing {
  public:
    /// `offers_max`: how many each worker holds, a power of two.
    explicit stealing(std::size_t offers_max = offer_queue::size_max) : offers_max_(offers_max) {}
    stealing(stealing&&) = delete;

    /// In the order of their numbers, before any of them runs.
    void enlist(sleeper& next);

    /// `is_next`: its worker has nothing else to do, and takes it when it comes back to its loop. Then
    /// nobody is woken for it, if somebody keeps watch who will see when that takes too long.
    void offer(std::uint32_t number, continuation& child, bool is_next = false) noexcept;

    /// Something was laid open: wakes one that sleeps, if nobody searches.
    void wake_one() noexcept;

    /// For a worker with nothing ready: puts the oldest that is its own, or everybody's, into `ready`.
    /// False: there is none.
    [[nodiscard]] bool take(std::uint32_t number, ready_levels& ready) noexcept;
    /// For a worker that has something ready and polls all the same.
    void take_with_the_poll(std::uint32_t number, ready_levels& ready) noexcept;

    /// For a worker that would sleep. False: it counts as sleeping from here on, polls, and calls `rise`.
    /// True: there is something ready, or there may be soon: it polls without sleeping, and asks again. So
    /// a worker falls asleep once for each poll at most, and is woken no more often than that.
    [[nodiscard]] bool find_or_fall_asleep(std::uint32_t number, ready_levels& ready) noexcept;
    /// Whether it sleeps for `watch` at most: while there are offers, one of those who sleep looks round.
    [[nodiscard]] bool keeps_watch(std::uint32_t number) const noexcept {
        return watchman_.load(std::memory_order_relaxed) == number; // it says so itself
    }
    static constexpr duration watch = std::chrono::milliseconds(4);
    /// After the sleep. One that was woken to search, and has work of its own by now, leaves it to the
    /// next.
    void rise(std::uint32_t number, ready_levels& ready, bool has_work) noexcept;

    /// For one that never sleeps, since it is driven step by step.
    [[nodiscard]] bool steal(std::uint32_t number, ready_levels& ready) noexcept;

    /// Whether anything is open, anywhere.
    [[nodiscard]] bool is_open() const noexcept;
    /// Of that: what belongs to no worker.
    [[nodiscard]] bool has_overflowed() const noexcept { return injected_.size() != 0; }
    [[nodiscard]] bool is_open_at(std::uint32_t number) const noexcept {
        return places_[number].open.is_there();
    }

  private:
    struct place {
        sleeper* owner;
        open_work open;
        std::uint32_t takes = 0;    ///< its worker only
        std::uint32_t looks_at = 0; ///< the same: whom a search begins with

        place(sleeper& of, std::size_t offers_max) : owner(&of), open(offers_max, of.lane()) {}
    };

    [[nodiscard]] bool steal_from(place& victim, place& mine, ready_levels& ready) noexcept;
    [[nodiscard]] static bool steal_computation(fork_lane& of, fork_lane& mine) noexcept;
    [[nodiscard]] bool take_injected(place& mine, ready_levels& ready) noexcept;
    void lay_open(place& mine, continuation& child) noexcept;
    void end_search() noexcept;
    void take_the_watch(std::uint32_t number) noexcept;
    void end_the_watch() noexcept;
    [[nodiscard]] std::uint64_t offers_made() const noexcept;

    static constexpr std::uint32_t nobody = UINT32_MAX;

    std::size_t const offers_max_;
    std::deque<place> places_; ///< set before anything runs
    injection_queue injected_;
    idle_workers idle_;
    detail::atomic<std::uint32_t> watchman_ = nobody; ///< set and cleared by whom it names
    detail::guarded<std::uint64_t> offers_seen_ = 0;  ///< the watchman's: at the watch before
};

} // namespace pitsaw::inline v0
