#pragma once
#include <pitsaw/base/atomic.hpp>

#include <cstdint>

namespace pitsaw::inline v0 {

/// How other threads keep a worker from sleeping, or end its sleep, with a call of the system only where it
/// sleeps: the sticky wake of law 14.
///
/// | state     | set by                         | meaning                                                   |
/// |-----------|--------------------------------|-----------------------------------------------------------|
/// | `running` | the worker                     | it will look at the word before it sleeps                 |
/// | `asleep`  | the worker, in `fall_asleep`   | it is, or is about to be, in a call that `wake` must end  |
/// | `woken`   | any thread, in `wake`          | there is something to see; the worker may not sleep       |
///
/// Lifetime: its driver's. Threads: `wake` any, the rest the worker. tests/model/wake_test.cpp explores it.
class wake_word {
  public:
    /// False: a wake has come since the last `take`, and the worker does not sleep.
    [[nodiscard]] bool fall_asleep() noexcept {
        std::uint32_t expected = running;
        // relaxed: publishes nothing; a failure is followed by take()'s acquire.
        return word_.compare_exchange_strong(expected, asleep, std::memory_order_relaxed);
    }

    /// The call has ended, for whatever reason. A wake meanwhile stays for `take` to find.
    void rise() noexcept {
        std::uint32_t expected = asleep;
        word_.compare_exchange_strong(expected, running, std::memory_order_relaxed); // as above
    }

    /// Whether there was a wake since the last time; what the waker had written is then to be seen.
    [[nodiscard]] bool take() noexcept {
        // The load first: a turn that nobody wakes should not pay for a read-modify-write. acquire: pairs
        // with the release in wake().
        return word_.load(std::memory_order_relaxed) == woken &&
               word_.exchange(running, std::memory_order_acquire) == woken;
    }

    /// True: the worker sleeps, and the caller has to end that.
    [[nodiscard]] bool wake() noexcept {
        // release: with take(). An exchange continues an earlier wake's release sequence.
        return word_.exchange(woken, std::memory_order_release) == asleep;
    }

  private:
    enum : std::uint32_t { running, asleep, woken };
    detail::atomic<std::uint32_t> word_ = running; // any thread
};

} // namespace pitsaw::inline v0
