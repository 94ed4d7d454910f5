#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/io/event.hpp>
#include <pitsaw/io/operation.hpp>

#include <optional>

namespace pitsaw::inline v0 {

/// Lets a harness decide what only a simulated driver can decide.
///
/// A harness that asks for a stop while an operation is in flight makes the stop win with `cancel_takes` zero
/// and the completion with a longer time. Both in the same turn need no help: cancel between `poll` and
/// `on_event`.
/// Lifetime: outlives the driver. Threads: the driver's worker. It is no user code: law 5 is about users.
class sim_observer {
  public:
    virtual ~sim_observer() = default;

    /// How long a cancel of `op` takes: zero ends it at once, before anything else happens; otherwise what
    /// completes meanwhile has completed. Empty: by the seed.
    virtual auto cancel_takes(operation const& op) noexcept -> std::optional<duration> = 0;

    /// Nothing can happen any more without a wake. May call any member but `poll` and `drain`, `wake` among
    /// them; if that changes nothing, the driver waits for a wake, or fails a check if its options say so.
    virtual void stuck() noexcept = 0;

    /// Somebody has called `wake`. On that thread.
    virtual void woken() noexcept {}

    /// `what` is about to leave `poll`.
    virtual void delivered(event const&) noexcept {}
};

} // namespace pitsaw::inline v0
