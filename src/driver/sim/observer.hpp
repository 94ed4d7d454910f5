#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/io/event.hpp>
#include <pitsaw/io/operation.hpp>

#include <optional>
#include <span>

namespace pitsaw::inline v0 {

/// Lets a harness act at the few moments of a simulated driver at which the order of things is decided.
///
/// A stop wins: request it in `polling`, while the operation is in flight, and let `cancel_takes` return
/// zero. The completion wins: the same with a longer time. Both in the same turn: request it in `delivering`,
/// when the final event is in the span and its `on_event` has not run. Lifetime: outlives the driver.
/// Threads: the driver's worker. It is no user code: law 5 is about users.
class sim_observer {
  public:
    virtual ~sim_observer() = default;

    /// `op` has just become the driver's. Only look: its owner is still inside `submit`.
    virtual void submitted(operation const& op) noexcept { (void)op; }

    /// A call of `poll` begins and has looked at nothing. May call any member of the driver but `poll` and
    /// `drain`.
    virtual void polling() noexcept {}

    /// `poll` is about to return these; none has run. May call any member of the driver but `poll` and
    /// `drain`.
    virtual void delivering(std::span<event const> events) noexcept { (void)events; }

    /// How long a cancel of `op` takes: zero ends it at once, before anything else happens; otherwise what
    /// completes meanwhile has completed. Empty: by the seed.
    virtual auto cancel_takes(operation const& op) noexcept -> std::optional<duration> {
        (void)op;
        return {};
    }

    /// Nothing can happen any more without a wake. May call any member but `poll` and `drain`; if that
    /// changes nothing, the driver waits for `wake`, or fails a check if its options say so.
    virtual void stuck() noexcept {}
};

} // namespace pitsaw::inline v0
