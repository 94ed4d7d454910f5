#pragma once
#include <pitsaw/base/clock.hpp>
#include <pitsaw/sim/faults.hpp>

#include <cstddef>
#include <cstdint>

namespace pitsaw::inline v0 {

/// How a simulated driver behaves. The same options and the same calls give the same events, always.
///
/// `sim_driver_options{.seed = n}` takes the liberties a kernel takes; `calm()` takes none: everything
/// completes at once, whole and in the order of submission. A chance is in percent; a maximum of time is
/// drawn from 0 to it.
struct sim_driver_options {
    std::uint64_t seed = 0;
    bool shuffle = true;               // completions due at the same time come in any order
    unsigned inline_percent = 50;      // an attempt that could succeed does
    unsigned short_percent = 25;       // a transfer moves fewer bytes than it could
    unsigned late_percent = 25;        // what has taken place is reported later: the bytes have moved already
    unsigned cancel_late_percent = 25; // a cancel takes time, and what completes meanwhile has completed
    unsigned multishot_ends_percent = 10;   // a multishot operation ends with a result, without being asked
    duration start_max{2'000};              // between being able to take place and taking place
    duration late_max{50'000};              // see late_percent
    duration cancel_late_max{20'000};       // see cancel_late_percent
    std::size_t stream_capacity = 64 << 10; // bytes in each direction
    sim::faults faults = {};
    bool check_loans = true;        // law 2, actively: costs a pass over each buffer at both ends
    bool deadlock_is_error = false; // nothing can happen any more: a failed check instead of waiting for wake

    [[nodiscard]] static constexpr auto calm() noexcept -> sim_driver_options {
        sim_driver_options quiet;
        quiet.shuffle = false;
        quiet.inline_percent = 100;
        quiet.short_percent = quiet.late_percent = quiet.cancel_late_percent = quiet.multishot_ends_percent =
            0;
        quiet.start_max = quiet.late_max = quiet.cancel_late_max = duration::zero();
        return quiet;
    }
};

} // namespace pitsaw::inline v0
