#pragma once
#include <pitsaw/base/check.hpp>
#include <pitsaw/base/clock.hpp>
#include <pitsaw/time/sleep.hpp>

#include <chrono>
#include <coroutine>
#include <cstdint>

namespace pitsaw::inline v0 {

/// What an interval does with ticks that nobody was waiting for.
enum class missed_ticks : std::uint8_t {
    burst, ///< delivers each at once, until it has caught up
    skip,  ///< delivers the first late, drops the others, and keeps to the grid
    delay, ///< delivers the first late, drops the others, and starts a new grid there
};

/// Ticks at a fixed period; the first one period after the first await.
///
/// ```cpp
/// ps::interval every(1s, ps::missed_ticks::skip);
/// for (;;) { auto at = co_await every.tick(); report(at); }
/// ```
/// Lifetime: it must outlive the tick that is awaited; one at a time, which is checked. Threads: the worker
/// of the task that awaits; there is no reset, so nothing for another thread to race with. Errors: a period
/// of zero or less is a checked error. Stopping: a leaf; no tick is lost by it, the next await waits for the
/// same one.
class interval {
  public:
    using bound_to_worker = void; ///< see `transferable`

    template <class Rep, class Period>
    explicit interval(std::chrono::duration<Rep, Period> const period,
                      missed_ticks const policy = missed_ticks::burst)
        : period_(to_duration(period)), policy_(policy) {
        check(period_ > duration::zero(), "interval: the period must be longer than nothing");
    }

    interval(interval&&) = default; // before its first tick; a copy would not know who awaits one

    class [[nodiscard]] tick_awaiter : sleep_awaiter {
      public:
        explicit tick_awaiter(interval& of) noexcept : sleep_awaiter(never), of_(of) {}
        tick_awaiter(tick_awaiter&&) = delete;
        ~tick_awaiter() {
            if (of_.awaited_ == this) of_.awaited_ = nullptr;
        }

        [[nodiscard]] std::coroutine_handle<> start(promise_header& header) noexcept;

        /// The moment the tick was due.
        [[nodiscard]] time_point await_resume() const noexcept;

      private:
        interval& of_;
        promise_header* header_ = nullptr;
    };

    [[nodiscard]] tick_awaiter tick() noexcept { return tick_awaiter(*this); }

  private:
    /// The tick that was due at `next_` is delivered now.
    [[nodiscard]] time_point deliver(time_point now) noexcept;

    duration period_;
    missed_ticks policy_;
    bool has_begun_ = false;
    tick_awaiter const* awaited_ = nullptr; ///< the tick that somebody waits for
    time_point next_ = never;
};

} // namespace pitsaw::inline v0
